"""An MPIJob of v1: a launcher that reaches its workers by `kubectl exec`, and what it needs for that.

Files and scripts are v1's, but for the lines by which a host's pod is found (`kubexec`): its own name ends in
random letters. The launcher may run programs in its own workers alone, so its Role follows their pods.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...api.legacy import LegacyJob, Role
from ...api.legacy.names import KUBECTL_DELIVERY, KUBECTL_VOLUME
from ...api.shapes import at, items
from ..overlay import Object
from .installation import Installation
from .kubexec import kubexec
from .parts import short_name
from .values import merged, text

CONFIG_VOLUME = "mpi-job-config"
CONFIG_DIR = "/etc/mpi"
KUBECTL_DIR = "/opt/kube"
SCRIPT = "kubexec.sh"
HOSTFILE = "hostfile"
DISCOVERY = "discover_hosts.sh"
RUNNABLE, READABLE = 0o555, 0o444
HIDDEN = ("NVIDIA_VISIBLE_DEVICES", "NVIDIA_DRIVER_CAPABILITIES")
"""empty in a launcher that does not compute, so that it takes no GPU of the node it is on"""

CONFIG_MOUNT: Object = {"name": CONFIG_VOLUME, "mountPath": CONFIG_DIR}
KUBECTL_MOUNT: Object = {"name": KUBECTL_VOLUME, "mountPath": KUBECTL_DIR}


def config_name(job: LegacyJob) -> str:
    """The ConfigMap of the script and the hosts."""
    return f"{job.name}-config"


def launcher_name(job: LegacyJob) -> str:
    """What the launcher's account, Role and RoleBinding are called, as v1's launcher was."""
    return f"{job.name}-launcher"


def with_mpi(spec: dict[str, Any], job: LegacyJob, role: Role, installation: Installation) -> dict[str, Any]:
    """A pod's spec with what MPI needs in it."""
    if role.name == "Launcher":
        return _launcher(spec, job, installation)
    return _worker(spec, job)


@dataclass(frozen=True, slots=True)
class Workers:
    """The workers' pods as they are now."""

    pods: Mapping[int, str] = field(default_factory=dict)
    """their names, by number"""
    running: frozenset[int] = frozenset()
    """those that can be reached"""


def config_data(job: LegacyJob, running: Iterable[int], installation: Installation) -> dict[str, str]:
    """The contents of the ConfigMap."""
    slots = int(job.spec.get("slotsPerWorker", 1))
    workers = _workers(job)
    launcher = [launcher_name(job)] if launcher_computes(job) else []
    found = "".join(f"\necho {workers[index]}:{slots}" for index in sorted(running) if index < len(workers))
    own = "".join(f"\necho {host}:{slots}\n" for host in launcher)
    return {
        SCRIPT: kubexec(job, hosts_are_pods=installation.judge == "jobset"),
        HOSTFILE: "".join(f"{host} slots={slots}\n" for host in (*launcher, *workers)),
        DISCOVERY: f"#!/bin/sh{own}{found}",
    }


def role_rules(worker_pods: Iterable[str]) -> list[Object]:
    """What the launcher may do: find the pods of its workers, and run programs in them."""
    rules: list[Object] = [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list", "watch"]}]
    if names := sorted(worker_pods):
        rule = {"apiGroups": [""], "resources": ["pods/exec"], "verbs": ["create"], "resourceNames": names}
        rules.append(rule)
    return rules


def account(job: LegacyJob) -> str:
    """The ServiceAccount of the launcher: the one that its template names, or one called after it."""
    launcher = job.role("Launcher")
    return str((launcher.pod.get("serviceAccountName") if launcher else "") or launcher_name(job))


def launcher_computes(job: LegacyJob) -> bool:
    """Tell whether the launcher has GPUs, and so is a host itself."""
    launcher = job.role("Launcher")
    return launcher is not None and any(
        name.endswith(".com/gpu") or "gpu" in name
        for container in items(launcher.pod.get("containers"))
        for name in at(container, "resources", "limits")
    )


def _workers(job: LegacyJob) -> Sequence[str]:
    """The hosts, called as v1's pods were."""
    role = job.role("Worker")
    return [f"{job.name}-worker-{index}" for index in range(role.replicas if role else 0)]


def _launcher(spec: dict[str, Any], job: LegacyJob, installation: Installation) -> dict[str, Any]:
    hidden = () if launcher_computes(job) else HIDDEN
    first, *others = items(spec.get("containers"))
    own = items(first.get("env"))
    env = [
        text("OMPI_MCA_plm_rsh_agent", f"{CONFIG_DIR}/{SCRIPT}"),
        text("OMPI_MCA_orte_default_hostfile", f"{CONFIG_DIR}/{HOSTFILE}"),
        *(text(name, "") for name in hidden),
    ]
    intel = {"I_MPI_HYDRA_BOOTSTRAP": "rsh", "I_MPI_HYDRA_BOOTSTRAP_EXEC": f"{CONFIG_DIR}/{SCRIPT}"}
    taken = {each.get("name") for each in own}
    env += [text(name, value) for name, value in intel.items() if name not in taken]
    mounts = [*items(first.get("volumeMounts")), KUBECTL_MOUNT, CONFIG_MOUNT]
    return {
        **spec,
        "hostname": short_name(launcher_name(job), 0),  # mpirun reaches a host of its own name without help
        "serviceAccountName": account(job),
        "containers": [{**first, "env": merged(own, env), "volumeMounts": mounts}, *others],
        "initContainers": [*items(spec.get("initContainers")), _delivery(job, installation)],
        "volumes": [
            *items(spec.get("volumes")),
            {"name": KUBECTL_VOLUME, "emptyDir": {}},
            config_volume(job, {SCRIPT: RUNNABLE, HOSTFILE: READABLE, DISCOVERY: RUNNABLE}),
        ],
    }


def _worker(spec: dict[str, Any], job: LegacyJob) -> dict[str, Any]:
    first, *others = items(spec.get("containers"))
    first = {**first, "volumeMounts": [*items(first.get("volumeMounts")), CONFIG_MOUNT]}
    if not first.get("command"):
        first |= {"command": ["sleep"], "args": ["365d"]}
    volumes = [*items(spec.get("volumes")), config_volume(job, {SCRIPT: RUNNABLE})]
    return {**spec, "containers": [first, *others], "volumes": volumes}


def _delivery(job: LegacyJob, installation: Installation) -> Object:
    amounts = {"cpu": "100m", "ephemeral-storage": "5Gi", "memory": "512Mi"}
    return {
        "name": KUBECTL_DELIVERY,
        "image": installation.kubectl_image,
        "env": [text("TARGET_DIR", KUBECTL_DIR), text("NAMESPACE", job.namespace)],
        "resources": {"limits": dict(amounts), "requests": dict(amounts)},
        "volumeMounts": [KUBECTL_MOUNT, CONFIG_MOUNT],
    }


def config_volume(job: LegacyJob, modes: dict[str, int]) -> Object:
    """The volume with the files that MPI reads."""
    listed = [{"key": key, "path": key, "mode": mode} for key, mode in modes.items()]
    return {"name": CONFIG_VOLUME, "configMap": {"name": config_name(job), "items": listed}}
