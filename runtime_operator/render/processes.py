"""How many processes torchrun starts on one node, and where that number comes from.

The job's own number goes first. Without it: accelerators of the job's resources, then the runtime's number
(an older spelling), accelerators of the runtime, CPUs, one. `auto` stays the word where the devices are
GPUs, because torchrun counts those itself; devices of other kinds are counted here, whoever made them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .accelerators import accelerator_names
from .resources import accelerator_count, cpu_count, resolved

if TYPE_CHECKING:
    from .info import Info
    from .pods import Pods

AUTO = "auto"
Processes = int | str
"""a number, or `auto`"""


def processes(info: Info, pods: Pods | None) -> Processes:
    """Decide the processes of one node."""
    trainer = info.job.spec.trainer
    if trainer is not None and trainer.numProcPerNode is not None:
        info.decide("numProcPerNode", trainer.numProcPerNode, "spec.trainer.numProcPerNode of the job")
        return trainer.numProcPerNode
    devices = accelerator_count(info, pods)
    if info.upstream:
        return AUTO if devices else max(1, cpu_count(info, pods))
    wanted = _of_the_runtime(info)
    if wanted is not None and not _job_asks_for_devices(info, devices):
        return _older_spelling(info, pods, wanted, devices)
    if not devices:
        return _from_cpus(info, pods)
    names = accelerator_names(resolved(info, pods))
    if wanted is None and all("gpu" in name.lower() for name in names):
        return _decide(info, AUTO, "torchrun counts them itself: %s of %s", devices, ", ".join(names))
    return _decide(info, devices, "one for each of %s", ", ".join(names))


def _of_the_runtime(info: Info) -> Processes | None:
    policy = info.runtime.spec.mlPolicy
    torch = policy.torch if policy is not None else None
    return torch.numProcPerNode if torch is not None else None


def _job_asks_for_devices(info: Info, devices: int) -> bool:
    trainer = info.job.spec.trainer
    return bool(devices and trainer is not None and accelerator_names(trainer.resourcesPerNode or {}))


def _older_spelling(info: Info, pods: Pods | None, wanted: Processes, devices: int) -> Processes:
    if wanted == "cpu" or (wanted in (AUTO, "gpu") and not devices):
        return _from_cpus(info, pods)
    if wanted in (AUTO, "gpu"):
        return _decide(
            info, devices, "torch.numProcPerNode of the runtime is %s: one for each device", wanted
        )
    number = int(wanted)
    if 0 < devices < number:
        info.warn(
            f"spec.mlPolicy.torch.numProcPerNode: {number} processes share {devices} devices of a node: "
            "write as many processes as there are devices"
        )
    return _decide(info, number, "torch.numProcPerNode of the runtime")


def _from_cpus(info: Info, pods: Pods | None) -> Processes:
    cpus = cpu_count(info, pods)
    reason = "no accelerator: one for each CPU" if cpus else "neither accelerators nor CPUs are asked for"
    return _decide(info, max(1, cpus), reason)


def _decide(info: Info, value: Processes, reason: str, *args: object) -> Processes:
    info.decide("numProcPerNode", value, reason, *args)
    return value
