"""MPI: the launcher runs mpirun, which reaches the nodes by ssh; DeepSpeed and MLX ride on it.

Counts the nodes and their slots, mounts the keys into launcher and nodes, and gives the launcher a hostfile
and the environment its implementation reads. With `runLauncherAsNode` the launcher is one of the nodes, so
one node is the launcher alone; upstream builds two hosts then. Slots follow the accelerators of the nodes,
and a number of nodes that the runtime gives counts nodes, never launchers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from ...api.names import LAUNCHER, NODE
from ...api.paths import REQUIRED
from ...errors import FieldError, SpecError
from ..framework import Plugin, Proposal, Runtime, Watch
from ..info import Info
from ..merged import merged_jobs
from ..overlay import Container, Object
from ..pods import Pods
from ..resources import accelerator_count
from . import mpi_template
from .mpi_files import (
    DEEPSPEED_MOUNT,
    HOSTFILE_MOUNT,
    IMPLEMENTATIONS,
    KEYS_VOLUME,
    hostfile_object,
    hostfile_volume,
    keys_volume,
    launcher_env,
    reserved_env,
    secret_object,
)
from .plain import told_by

if TYPE_CHECKING:
    from ...api.runtime import MPIPolicy


class MPI(Plugin):
    """Serves runtimes with an MPI policy."""

    name = "mpi"

    def serves(self, runtime: Runtime) -> bool:
        """Only where the runtime asks for it."""
        return _policy(runtime) is not None

    def complete_template(self, runtime: Runtime, spec: Object) -> Object:
        """Add launcher and nodes to a runtime without them, and put the nodes first."""
        return mpi_template.completed(spec, gang=runtime.spec.podGroupPolicy is not None)

    def watch_extension(self) -> tuple[Watch, ...]:
        """Watch the hostfile and the keys."""
        return (Watch("v1", "ConfigMap"), Watch("v1", "Secret"))

    def custom_validation(self, proposal: Proposal) -> Iterator[FieldError]:
        """Check that there is a launcher for several nodes, and that env leaves MPI its own."""
        policy, trainer = _policy(proposal.runtime), proposal.job.spec.trainer
        if policy is None or trainer is None:
            return
        jobs = merged_jobs(proposal)
        names = {job["name"] for job in jobs} if jobs or proposal.upstream else {LAUNCHER, NODE}
        if policy.runLauncherAsNode and (trainer.numNodes or 1) >= 2 and not {LAUNCHER, NODE} <= names:
            yield FieldError(
                "spec.trainer.numNodes",
                "must have 1 when MPI trainingRuntime with enabled runLauncherAsNode "
                "does not have either launcher and node",
            )
        reserved = reserved_env(policy, upstream=proposal.upstream)
        taken = sorted({each["name"] for each in trainer.env or () if each["name"] in reserved})
        if taken:
            listed = " ".join(taken)
            yield FieldError(
                "spec.trainer.env", f"must not have reserved envs, invalid envs configured: [{listed}]"
            )

    def enforce_ml_policy(self, info: Info) -> None:
        """Count nodes and slots; give launcher and nodes keys, hostfile and environment."""
        policy = _policy(info.runtime)
        if policy is None:
            return
        if policy.mpiImplementation not in IMPLEMENTATIONS:
            _refuse_implementation(info, policy)
        _explain_template(info)
        _count(info, policy)
        slots, told = _slots(info, policy)
        info.decide("slots", slots, told)
        for pods in info.pods:
            if pods.name in (NODE, LAUNCHER):
                _equip(info, pods, policy, slots)

    def build_components(self, info: Info) -> Iterable[Object]:
        """Build the keys and the hostfile."""
        policy = _policy(info.runtime)
        if policy is None:
            return ()
        hostfile = hostfile_object(info, policy, _slots(info, policy)[0], _hosts(info, policy))
        return (secret_object(info), hostfile)


def _policy(runtime: Runtime) -> MPIPolicy | None:
    policy = runtime.spec.mlPolicy
    return policy.mpi if policy is not None else None


def _refuse_implementation(info: Info, policy: MPIPolicy) -> None:
    known = ", ".join(IMPLEMENTATIONS)
    raise SpecError(
        [
            FieldError(
                "spec.runtimeRef",
                f"the runtime {info.runtime.name!r} names the MPI implementation "
                f"{policy.mpiImplementation!r}, which nobody can start: write one of {known}",
            )
        ]
    )


def _explain_template(info: Info) -> None:
    """Say what `complete_template` did, and stop where nobody says which image to run."""
    template = info.runtime.spec.template
    jobs = ((template and template.spec) or {}).get("replicatedJobs") or ()
    if info.upstream_pods or not mpi_template.is_incomplete(jobs):
        return
    trainer = info.job.spec.trainer
    if not jobs and (trainer is None or trainer.image is None):
        text = f"must be set, because the runtime {info.runtime.name!r} has no template and so no image"
        raise SpecError([FieldError("spec.trainer.image", text, REQUIRED)])
    done = "the nodes first" if jobs else "nodes and launcher"
    info.decide("replicatedJobs", done, "a launcher can only wait for nodes that stand before it")


def _count(info: Info, policy: MPIPolicy) -> None:
    """Share the number of nodes between launcher and nodes."""
    node, launcher = info.pod_set(NODE), info.pod_set(LAUNCHER)
    wanted = info.job.spec.trainer.numNodes if info.job.spec.trainer is not None else None
    if info.upstream_pods:
        if node is not None and wanted is not None:
            node.count = max(wanted - 1, 1) if policy.runLauncherAsNode else wanted
        return
    ml = info.runtime.spec.mlPolicy
    nodes = wanted or (ml.numNodes if ml is not None else None) or 1
    told = "spec.trainer.numNodes of the job" if wanted else told_by(info)
    with_launcher = ", the launcher is one of them" if policy.runLauncherAsNode else ""
    info.decide("numNodes", nodes, told + with_launcher)
    if launcher is None:
        info.warn(
            "spec.mlPolicy.mpi: the runtime has no job 'launcher', so each node runs the command: add one"
        )
    else:
        launcher.count = 1
    if node is None:
        return
    apart = launcher is None or not policy.runLauncherAsNode
    node.count = nodes if apart else nodes - 1
    if node.count == 0:
        info.decide("node", "left out", "one node, and the launcher is that node")
        _leave_out(info, node)


def _leave_out(info: Info, pods: Pods) -> None:
    """Take a job out of the JobSet, and out of the policies that speak of it."""
    info.pods = [each for each in info.pods if each is not pods]
    spec = dict(info.spec)
    policy = spec.get("successPolicy") or {}
    if pods.name in (policy.get("targetReplicatedJobs") or ()):
        targets = [name for name in policy["targetReplicatedJobs"] if name != pods.name]
        spec["successPolicy"] = {**policy, "targetReplicatedJobs": targets}
    if (spec.get("coordinator") or {}).get("replicatedJob") == pods.name:
        spec["coordinator"] = {"replicatedJob": LAUNCHER}
    info.spec = spec


def _slots(info: Info, policy: MPIPolicy) -> tuple[int, str]:
    """Say how many processes run on a node, and who says so: the job, its runtime, else the accelerators."""
    trainer = info.job.spec.trainer
    if trainer is not None and trainer.numProcPerNode is not None:
        return trainer.numProcPerNode, "spec.trainer.numProcPerNode of the job"
    if policy.numProcPerNode != 1:
        return policy.numProcPerNode, "mpi.numProcPerNode of the runtime"
    devices = accelerator_count(info, info.pod_set(NODE) or info.pod_set(LAUNCHER))
    return max(devices, 1), "one for each accelerator of a node" if devices else "nobody asks for more"


def _hosts(info: Info, policy: MPIPolicy) -> Iterator[str]:
    for pods in info.pods:
        if pods.name == NODE or (pods.name == LAUNCHER and policy.runLauncherAsNode):
            yield from info.hosts(pods)


def _equip(info: Info, pods: Pods, policy: MPIPolicy, slots: int) -> None:
    pods.add_volumes(keys_volume(info))
    main = pods.main
    if main is not None:
        main.add_mounts(({"name": KEYS_VOLUME, "mountPath": policy.sshAuthMountPath},))
    if pods.name == LAUNCHER:
        pods.add_volumes(hostfile_volume(info))
        if main is not None:
            _equip_launcher(info, main, policy, slots)


def _equip_launcher(info: Info, main: Container, policy: MPIPolicy, slots: int) -> None:
    main.add_mounts((HOSTFILE_MOUNT,))
    if not info.upstream and policy.mpiImplementation == "OpenMPI":
        main.add_mounts((DEEPSPEED_MOUNT,))
    main.add_env(launcher_env(policy, slots))
