"""The plug-ins of render: what they are asked, in which order, and what they may do.

A plug-in is one file under `plugins/` with one subclass of `Plugin`. It has no state: everything it knows
stands in the `Info` it is given. Which hooks there are and when they are called:

  startup         watch_extension           the kinds a controller has to watch for this plug-in
                                            (`registry.watches` lists those of all)
                  complete_template         what a runtime may leave out of its template; once per runtime
  pre-execution   custom_validation         at admission: what is wrong with this job on this runtime
  build           enforce_ml_policy         counts, env, ports, volumes, commands of the pods
                  enforce_pod_group_policy  the pods' labels and annotations for a gang scheduler
                  slice_data                which part of the data each pod sees (no built-in plug-in does)
                  build_components          objects of its own; Secrets and ConfigMaps before PodGroups,
                                            and the JobSet last, whatever the order of the plug-ins
  post-execution  terminal_condition        the end that the cluster's objects tell of
                                            (`registry.end_of` asks all)

Within a hook the order is fixed: that of `plugins.BUILTIN`, then plug-ins of other packages in the order
of their names, each moved behind those it names in `after`. Upstream's order is random; this one is the
order of env entries upstream's answers agree on:

  plain        counts                                    plugins/plain.py
  jax          before the job's own env, which wins      plugins/jax.py
  xgboost      before the job's own env                  plugins/xgboost.py
  mpi          before the job's own env                  plugins/mpi.py
  trainer      image, command, args, env of the job      plugins/trainer.py
  torch        after the job's own env, and wins         plugins/torch.py
  torchtune    the command, once processes are known     plugins/torchtune.py
  flux         wraps the final command                   plugins/flux.py
  initializers, progress                                 plugins/initializers.py, plugins/progress.py
  volcano, coscheduling                                  once all counts and resources stand
  jobset       builds the JobSet from what all left      plugins/jobset.py

What a plug-in may rely on in `enforce_ml_policy` (see `info.Info`, `pods.Pods`, `overlay.Container`):
the runtime's patches are merged; `info.pods` are the replicated jobs in order with their steps; resources
of the job are merged into `Pods.main` (ask `resources.accelerator_count(info, pods)` for devices).
It edits with `Container.add_env/add_mounts/add_port/put`, `Pods.add_volumes`, `Pods.count`,
`Pods.put` (a field of the pods' spec), `Pods.labels`, `Pods.annotations`, and tells why with `info.decide`.
`info.upstream` asks for Trainer 2.3's very output, faults included; `info.upstream_pods` (also true for
a job that Kueue manages) only for its job names, order, counts and requests.
A rule that the user broke is raised as `errors.SpecError` when nothing can be built.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from ..api.runtime import ClusterTrainingRuntime, TrainingRuntime
from ..errors import FieldError, SetupError
from .info import Info
from .overlay import Object

if TYPE_CHECKING:
    from ..api.trainjob import TrainJob
    from .facts import Facts

Runtime = TrainingRuntime | ClusterTrainingRuntime


@dataclass(frozen=True, slots=True)
class Watch:
    """A kind that makes a job worth another look when one of its objects changes."""

    api_version: str
    kind: str
    owned: bool = True
    """the object names the job as its owner; otherwise it concerns every suspended job of its namespace"""


@dataclass(frozen=True, slots=True)
class Proposal:
    """A TrainJob that asks to be admitted."""

    job: TrainJob
    old: TrainJob | None
    runtime: Runtime
    facts: Facts
    upstream: bool


@dataclass(frozen=True, slots=True)
class Terminal:
    """How a job ended, as a condition of its status."""

    type: str
    reason: str
    message: str
    last_transition_time: str | None = None


class Plugin:
    """Does nothing in every hook; a plug-in overrides those it has something to say in."""

    name: ClassVar[str]
    after: ClassVar[tuple[str, ...]] = ()
    """plug-ins whose work in the same hook this one builds on"""

    def serves(self, runtime: Runtime) -> bool:
        """Whether a job of this runtime needs the plug-in at all; asked once per runtime."""
        return True

    def complete_template(self, runtime: Runtime, spec: Object) -> Object:
        """The JobSet spec of a runtime with what the framework lets people leave out; once per runtime."""
        return spec

    def watch_extension(self) -> Sequence[Watch]:
        """Kinds to watch beside TrainJobs and runtimes."""
        return ()

    def custom_validation(self, proposal: Proposal) -> Iterable[FieldError]:
        """Mistakes of the job that its schema cannot see."""
        return ()

    def enforce_ml_policy(self, info: Info) -> None:
        """Prepare the pods for the framework that the runtime names."""

    def enforce_pod_group_policy(self, info: Info) -> None:
        """Prepare the pods for a gang scheduler."""

    def slice_data(self, info: Info) -> None:
        """Give each pod its part of the data: mounts by index, env, an init container that cuts it."""

    def build_components(self, info: Info) -> Iterable[Object]:
        """Objects that the job needs."""
        return ()

    def terminal_condition(self, job: Object, child: Object) -> Terminal | None:
        """The end of the (stored) job, if this object, which the job owns, tells of it."""
        return None


class PluginOrderError(SetupError):
    """Plug-ins name each other in a circle, or one that is not there, or the same name twice."""


def ordered(plugins: Sequence[Plugin]) -> tuple[Plugin, ...]:
    """The plug-ins, each behind those it needs; otherwise the order stays."""
    by_name = {each.name: each for each in plugins}
    if len(by_name) < len(plugins):
        raise PluginOrderError(f"two plug-ins have one name: {sorted(each.name for each in plugins)}")
    done: dict[str, Plugin] = {}
    pending: list[str] = []

    def place(name: str) -> None:
        if name in done:
            return
        if name in pending or name not in by_name:
            raise PluginOrderError(f"plug-in {pending[-1]!r} needs {name!r}, which can't stand before it")
        pending.append(name)
        for needed in by_name[name].after:
            place(needed)
        done[pending.pop()] = by_name[name]

    for each in plugins:
        place(each.name)
    return tuple(done.values())


def overriding(plugins: Iterable[Plugin], hook: str) -> tuple[Callable[..., Any], ...]:
    """The hook of those plug-ins that have something to say in it."""
    return tuple(
        getattr(each, hook) for each in plugins if getattr(type(each), hook) is not getattr(Plugin, hook)
    )
