"""Flux: a scheduler within the job, whose lead broker runs the command across all nodes.

An init container brings Flux along; two scripts set it up and start it. By default the command's words are
quoted, a task gets its share of the GPUs, arguments of the job replace those of the runtime, and the key is
drawn at random. Upstream joins words by blanks, gives every task all GPUs, runs both lists of arguments, and
cannot build a job without spec.trainer.numNodes.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from ...api.names import NODE
from ...errors import FieldError, SpecError
from ..framework import Plugin, Proposal, Runtime, Watch
from ..info import Info
from ..merged import merged_jobs
from ..overlay import Container, Object
from ..pods import Pods, pod_spec
from ..resources import accelerator_count
from . import flux_files as files
from .flux_scripts import Cluster, entrypoint_script, init_script

if TYPE_CHECKING:
    from ...api.runtime import FluxPolicy

INSTALLER = "flux-installer"
DEFAULTS = {
    "FLUX_VIEW_IMAGE": "ghcr.io/converged-computing/flux-view-ubuntu:tag-jammy",
    "FLUX_NETWORK_DEVICE": "eth0",
    "FLUX_QUEUE_POLICY": "fcfs",
}
"""settings that the environment of the main container may change"""


class Flux(Plugin):
    """Serves runtimes with a Flux policy."""

    name = "flux"

    def serves(self, runtime: Runtime) -> bool:
        """Only where the runtime asks for it."""
        return _policy(runtime) is not None

    def watch_extension(self) -> tuple[Watch, ...]:
        """Watch the scripts and the key."""
        return (Watch("v1", "ConfigMap"), Watch("v1", "Secret"))

    def custom_validation(self, proposal: Proposal) -> Iterator[FieldError]:
        """Check the number of tasks, and that the name of our init container is free."""
        policy, trainer = _policy(proposal.runtime), proposal.job.spec.trainer
        if policy is None:
            return
        tasks = trainer.numProcPerNode if trainer is not None else None
        if (policy.numProcPerNode if tasks is None else tasks) < 1:
            text = "must be greater than or equal to 1 for Flux TrainJob"
            yield FieldError("spec.trainer.numProcPerNode", text)
        for job in merged_jobs(proposal):
            for container in pod_spec(job).get("initContainers") or ():
                if job["name"] == NODE and container["name"] == INSTALLER:
                    yield FieldError(
                        "spec.trainer.initContainers", f"InitContainer '{INSTALLER}' is reserved"
                    )

    def enforce_ml_policy(self, info: Info) -> None:
        """Wrap the command, and give the pods Flux, its scripts and its key."""
        trainer = info.job.spec.trainer
        if info.upstream and (trainer is None or trainer.numNodes is None):
            raise SpecError("runtime error: invalid memory address or nil pointer dereference")
        nodes, image = _nodes(info), _setting(info, "FLUX_VIEW_IMAGE")
        _wrap(info)
        if nodes is None:
            return
        nodes.add_volumes(*files.volumes(info))
        if nodes.main is not None:
            nodes.main.add_mounts(files.mounts(info))
        nodes.init_containers.append(Container({"name": INSTALLER, "image": image, **files.installer(info)}))

    def build_components(self, info: Info) -> Iterable[Object]:
        """Build the scripts and the key."""
        policy = _policy(info.runtime)
        if policy is None or (_nodes(info) is None and not info.upstream):
            return ()
        cluster = _cluster(info, policy)
        scripts = {"entrypoint.sh": entrypoint_script(cluster), "init.sh": init_script(cluster)}
        config = info.owned("v1", "ConfigMap", files.config_name(info), data=scripts)
        return (config, files.secret_object(info))


def _policy(runtime: Runtime) -> FluxPolicy | None:
    policy = runtime.spec.mlPolicy
    return policy.flux if policy is not None else None


def _nodes(info: Info) -> Pods | None:
    """Find the pods that run Flux; upstream looks for the name and nothing else."""
    if info.upstream:
        return info.pod_set(NODE)
    return info.trainer if info.trainer is not None and info.trainer.main is not None else None


def _setting(info: Info, name: str) -> str:
    main = info.trainer.main if info.trainer is not None else None
    entry = main.env(name) if main is not None else None
    return str((entry or {}).get("value", DEFAULTS[name]))


def _wrap(info: Info) -> None:
    """Put our script before the command: its words become one, which the script takes apart again."""
    mains = [pods.main for pods in info.trainers if pods.main is not None]
    commands = [_theirs(info)] * len(mains) if info.upstream else [_quoted(main) for main in mains]
    for main, command in zip(mains, commands, strict=True):
        main.put("args", main.source.get("args") or [] if info.upstream else [])
        main.put("command", ["/bin/bash", f"{files.CONFIG_DIR}/entrypoint.sh", command])


def _quoted(main: Container) -> str:
    return shlex.join([*(main.get("command") or ()), *(main.get("args") or ())])


def _theirs(info: Info) -> str:
    """Upstream joins the words of the first trainer and of the job, and gives them to every trainer."""
    given, first = info.job.spec.trainer, info.trainer
    assert given is not None  # without it upstream builds nothing
    words = first.main.get("command") if first is not None and first.main is not None else None
    return " ".join([*(words or given.command or ()), *(given.args or ())]).strip()


def _cluster(info: Info, policy: FluxPolicy) -> Cluster:
    trainer, (name, count) = info.job.spec.trainer, _brokers(info)
    tasks = (
        trainer.numProcPerNode if trainer is not None and trainer.numProcPerNode else policy.numProcPerNode
    )
    gpus = accelerator_count(info, _nodes(info))
    share = gpus if info.upstream else gpus // max(tasks, 1)
    info.decide("tasks", tasks, "on each node, GPUs for each of them: %s", share)
    subdomain = info.name if info.upstream else info.subdomain
    domain = "cluster.local" if info.upstream else info.facts.cluster_domain
    return Cluster(
        prefix=f"{info.name}-{name}-0",
        nodes=count,
        tasks=tasks,
        gpus=gpus,
        gpus_per_task=share,
        domain=f"{subdomain}.{info.namespace}.svc.{domain}",
        device=_setting(info, "FLUX_NETWORK_DEVICE"),
        queue_policy=_setting(info, "FLUX_QUEUE_POLICY"),
    )


def _brokers(info: Info) -> tuple[str, int]:
    """The job they run in, and how many; upstream believes the TrainJob, whatever the pods are."""
    nodes, trainer = _nodes(info), info.job.spec.trainer
    if nodes is not None and not info.upstream:
        return nodes.name, nodes.count
    return NODE, (trainer.numNodes if trainer is not None else None) or 1
