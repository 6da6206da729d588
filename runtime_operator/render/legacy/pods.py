"""The pod template of one part: the user's own, with v1's labels, restart policy and environment.

All replicas of a part share it. The number of a replica is a label that a shared template cannot hold, so the
controller writes it on each pod (`replica_labels`).
"""

from __future__ import annotations

from typing import Any

from ...api.legacy import LegacyJob, Role
from ...api.legacy.mpi import read_mpi
from ...api.legacy.names import INDEX_LABEL, JOB_LABEL, JOB_ROLE_LABEL, MASTER, OPERATOR_LABEL, ROLE_LABEL
from ...api.shapes import at, items
from ..overlay import Object
from .frameworks import environment
from .gang import gang_marks
from .installation import Installation
from .mpi import with_mpi
from .mpi_ssh import with_ssh
from .parts import Layout, Part, leads
from .values import merged

POD_POLICIES = {"ExitCode": "Never", "Always": "OnFailure"}
"""restart policies of a role that a pod calls otherwise"""


def pod_template(layout: Layout, part: Part, installation: Installation) -> Object:
    """The template of all pods of a part."""
    job, role = layout.job, part.role
    spec: dict[str, Any] = {**role.pod, "restartPolicy": _pod_policy(role)}
    env = environment(layout, part, installation)
    spec["containers"] = [_container(job, each, env) for each in items(spec.get("containers"))]
    if installation.init_tries and role.name == "Worker" and _follows_master(job):
        spec["initContainers"] = [*items(spec.get("initContainers")), _wait_for_master(layout, installation)]
    if job.kind.uses_ssh:
        spec = with_ssh(spec, layout, role)
    elif job.kind.uses_kubectl:
        spec = with_mpi(spec, job, role, installation)
    labels = {**at(role.template, "metadata", "labels"), **role_labels(job, role)}
    labels.pop(INDEX_LABEL, None)  # no number is that of all
    if part.count == 1:
        labels |= replica_labels(job, role, part.first)
    elif all(leads(job, role, index) for index in part.indices):
        labels[JOB_ROLE_LABEL] = MASTER
    metadata = {**at(role.template, "metadata"), "labels": labels}
    return gang_marks({"metadata": metadata, "spec": spec}, job, role, installation)


def role_labels(job: LegacyJob, role: Role) -> dict[str, str]:
    """The labels that all replicas of a role have."""
    labels = {OPERATOR_LABEL: job.kind.operator, JOB_LABEL: job.name, ROLE_LABEL: role.lower}
    return {**labels, JOB_ROLE_LABEL: role.lower} if job.kind.uses_ssh else labels


def replica_labels(job: LegacyJob, role: Role, index: int) -> dict[str, str]:
    """The labels that one replica alone has; a launcher that is no host has no number."""
    if job.kind.uses_ssh:
        return _host_labels(job, role, index)
    labels = {} if role.name == "Launcher" else {INDEX_LABEL: str(index)}
    return {**labels, JOB_ROLE_LABEL: MASTER} if leads(job, role, index) else labels


def _host_labels(job: LegacyJob, role: Role, index: int) -> dict[str, str]:
    """A launcher that is a host comes before all workers."""
    computes = read_mpi(job).launcher_computes
    if role.name == "Launcher":
        return {INDEX_LABEL: "0"} if computes else {}
    return {INDEX_LABEL: str(index + computes)}


def _follows_master(job: LegacyJob) -> bool:
    return job.kind.name == "PyTorchJob" and job.role("Master") is not None


def _pod_policy(role: Role) -> str:
    return POD_POLICIES.get(role.restart_policy, role.restart_policy)


def _container(job: LegacyJob, container: Object, env: list[Object]) -> Object:
    """TensorFlow's variable goes to its own container alone; the other kinds tell every container."""
    if not env or (job.kind.name == "TFJob" and container.get("name") != job.kind.container):
        return container
    return {**container, "env": merged(items(container.get("env")), env)}


def _wait_for_master(layout: Layout, installation: Installation) -> Object:
    master = layout.job.role("Master")
    assert master is not None
    host = layout.host(master)
    script = (
        f"err=1;for i in $(seq {installation.init_tries}); do if nslookup {host}; then err=0 && break; fi;"
        "echo waiting for master; sleep 2; done; exit $err"
    )
    return {
        "name": "init-pytorch",
        "image": installation.init_image,
        "command": ["sh", "-c", script],
        "resources": {
            "limits": {"cpu": "100m", "memory": "20Mi"},
            "requests": {"cpu": "50m", "memory": "10Mi"},
        },
    }
