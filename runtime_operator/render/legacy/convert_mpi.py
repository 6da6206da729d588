"""From an MPIJob of either version to the nodes and the launcher of a runtime, which meet over ssh.

Workers of v1 slept and were reached by kubectl, which a TrainJob does not know. So they run sshd here, as the
images of mpirun's community have it; those of v2beta1 keep what they run.
"""

from __future__ import annotations

from typing import Any

from ...api.legacy import LegacyJob, Role
from ...api.legacy.mpi import read_mpi
from ...api.names import ANCESTOR_LABEL, LAUNCHER, NODE, TRAINER_STEP
from ...api.shapes import items
from ..overlay import Object
from .mpi import launcher_computes
from .mpi_ssh import SSHD as MPI_SSHD

SSH_HOME = "/home/mpiuser"
"""where the images of mpirun's community keep the settings and the keys of ssh"""
SSHD: Object = {
    "command": ["/usr/sbin/sshd"],
    "args": ["-De", "-f", f"{SSH_HOME}/.sshd_config"],
    "readinessProbe": {"tcpSocket": {"port": 2222}, "initialDelaySeconds": 5},
}


def mpi_parts(job: LegacyJob) -> tuple[Object, list[Object], Object]:
    """Return the policy, the nodes with the launcher that starts once they are ready, and how it ends."""
    worker, launcher, policy = job.role("Worker"), job.role("Launcher"), _policy(job)
    nodes = (worker.replicas if worker else 0) + policy["runLauncherAsNode"]
    jobs: list[Object] = []
    if worker is not None and worker.replicas:
        jobs.append({"name": NODE, "template": {"spec": {"template": _pod(worker, _daemon(job, worker))}}})
    if launcher is not None:
        template = {
            "metadata": {"labels": {ANCESTOR_LABEL: TRAINER_STEP}},
            "spec": {"template": _pod(launcher, {})},
        }
        starts: dict[str, Any] = {"name": LAUNCHER, "template": template}
        jobs.append({**starts, "dependsOn": [{"name": NODE, "status": "Ready"}]} if jobs else starts)
    done = {"successPolicy": {"operator": "All", "targetReplicatedJobs": [LAUNCHER]}}
    return {"numNodes": max(nodes, 1), "mpi": policy}, jobs, done


def _policy(job: LegacyJob) -> dict[str, Any]:
    if job.kind.uses_ssh:
        mpi = read_mpi(job)
        slots, implementation, keys = mpi.slots, mpi.implementation, mpi.keys_path
        computes = mpi.launcher_computes
    else:
        slots, implementation = int(job.spec.get("slotsPerWorker") or 1), "OpenMPI"
        keys, computes = f"{SSH_HOME}/.ssh", launcher_computes(job)
    return {
        "numProcPerNode": slots,
        "mpiImplementation": implementation,
        "runLauncherAsNode": computes,
        "sshAuthMountPath": keys,
    }


def _daemon(job: LegacyJob, worker: Role) -> Object:
    """What a worker runs: sshd, in the place of what v1 needed there; in v2beta1 what it says itself."""
    first = items(worker.pod.get("containers"))[0]
    if not job.kind.uses_ssh:
        return SSHD
    return {} if first.get("command") or first.get("args") else {"command": list(MPI_SSHD)}


def _pod(role: Role, daemon: Object) -> Object:
    first, *others = items(role.pod.get("containers"))
    main = {**first, "name": NODE, **daemon}
    return role.template_with({**role.pod, "containers": [main, *others]})
