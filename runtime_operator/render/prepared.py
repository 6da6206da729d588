"""What every job of a runtime shares, worked out once.

Which job does which step, how many pods it starts with, in which wave it runs, which plug-ins have anything
to say, and the text of the snapshot: none of it depends on the TrainJob. A runtime is a value (whoever
reads a changed one makes a new object), so what was worked out is kept beside it for as long as it lives.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..api.names import TRAINER_STEP
from .framework import Plugin, overriding
from .overlay import Object
from .snapshot import dump
from .steps import labelled_step, main_container, steps
from .template import modern_spec
from .typed import typed

if TYPE_CHECKING:
    from ..api.runtime import ClusterTrainingRuntime, MLPolicy, TrainingRuntime

    Runtime = TrainingRuntime | ClusterTrainingRuntime

Mode = tuple[bool, bool]
"""whether to build as upstream, and whether to count as upstream"""
_BUILD_HOOKS = (
    "complete_template",
    "enforce_ml_policy",
    "enforce_pod_group_policy",
    "slice_data",
    "build_components",
)


@dataclass(frozen=True, slots=True)
class Draft:
    """A replicated job of the template, before a TrainJob changes it."""

    job: Object
    step: str
    count: int
    main: str
    wave: int
    labelled: bool
    """the Job template carries the trainer's label, which is all that upstream knows"""


@dataclass(slots=True)
class Prepared:
    """A runtime, ready to be rendered many times; holding the runtime itself, it would keep it for ever."""

    spec: Object
    drafts: tuple[Draft, ...]
    subdomain: str | None
    hooks: Mapping[str, tuple[Callable[..., Any], ...]]
    _text: str | None = None

    def snapshot(self, runtime: Runtime) -> str:
        """The runtime as the text of a snapshot."""
        if self._text is None:
            self._text = dump(runtime)
        return self._text


_CACHE: dict[int, tuple[weakref.ref[Any], dict[tuple[Mode, Sequence[Plugin]], Prepared]]] = {}


def prepare(runtime: Runtime, plugins: tuple[Plugin, ...], *, upstream: bool, kueue: bool) -> Prepared:
    """Return what is the same for all jobs of a runtime."""
    key = id(runtime)
    held = _CACHE.get(key)
    if held is None or held[0]() is not runtime:
        held = _CACHE[key] = (weakref.ref(runtime, lambda _: _CACHE.pop(key, None)), {})
    mode = ((upstream, upstream or kueue), plugins)
    found = held[1].get(mode)
    if found is None:
        found = held[1][mode] = _prepare(runtime, plugins, *mode[0])
    return found


def _prepare(runtime: Runtime, plugins: tuple[Plugin, ...], upstream: bool, counts: bool) -> Prepared:
    serving = [each for each in plugins if each.serves(runtime)]
    hooks = {hook: overriding(serving, hook) for hook in _BUILD_HOOKS}
    spec: Object = (runtime.spec.template and runtime.spec.template.spec) or {}
    if upstream:
        spec = typed(spec)
    else:
        for complete in () if counts else hooks["complete_template"]:
            spec = complete(runtime, spec)
        spec = modern_spec(spec)
    jobs = spec.get("replicatedJobs") or ()
    drafts = draft_jobs(jobs, runtime.spec.mlPolicy, upstream=upstream, counts=counts)
    subdomain = (spec.get("network") or {}).get("subdomain")
    return Prepared(spec, drafts, subdomain, hooks)


def draft_jobs(
    jobs: Sequence[Object], policy: MLPolicy | None, *, upstream: bool, counts: bool
) -> tuple[Draft, ...]:
    """Say of each replicated job what it is for and how many pods it has to begin with."""
    mpi = policy is not None and policy.mpi is not None
    found = steps(jobs, mpi=mpi, upstream=upstream)
    waves: dict[str, int] = {}
    drafts = []
    for job, step in zip(jobs, found, strict=True):
        wave = 1 + max((waves.get(each["name"], -1) for each in job.get("dependsOn") or ()), default=-1)
        waves[job["name"]] = wave
        labelled = labelled_step(job) == TRAINER_STEP
        scaled = policy is not None and (labelled if counts else step == TRAINER_STEP)
        count = (policy.numNodes or 1) if scaled and policy is not None else _parallelism(job)
        main = main_container(job, step, mpi=mpi, upstream=upstream)
        drafts.append(Draft(job, step, max(count, 1), main, wave, labelled))
    return tuple(drafts)


def _parallelism(job: Object) -> int:
    spec = (job.get("template") or {}).get("spec") or {}
    return int(spec.get("parallelism") or 1)
