"""An MPIJob of v2beta1: a launcher that reaches its workers by ssh, with a pair of keys that is theirs alone.

Files, variables and labels are the MPI Operator's. Hosts are the names of Services, one for each replica, as
the other kinds have them: JOB-worker-0.NAMESPACE.svc.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ...api.legacy import LegacyJob, Role
from ...api.legacy.mpi import KEYS_PATH, MPISpec, read_mpi
from ...api.shapes import items
from ..overlay import Object
from ..plugins.mpi_files import IMPLEMENTATIONS, PRIVATE_KEY, PUBLIC_KEY
from .installation import Installation
from .mpi import CONFIG_MOUNT, DISCOVERY, HIDDEN, HOSTFILE, READABLE, RUNNABLE, config_volume
from .parts import Layout
from .values import merged, text

KEYS_VOLUME = "ssh-auth"
SSHD = ["/usr/sbin/sshd", "-De"]
OWNER_ALONE = 0o600


def keys_name(job: LegacyJob) -> str:
    """The Secret of the pair of keys."""
    return f"{job.name}-ssh"


def with_ssh(spec: dict[str, Any], layout: Layout, role: Role) -> dict[str, Any]:
    """A pod's spec with what MPI needs in it."""
    mpi, job = read_mpi(layout.job), layout.job
    launches = role.name == "Launcher"
    first, *others = items(spec.get("containers"))
    mounts = [{"name": KEYS_VOLUME, "mountPath": mpi.keys_path}, *([CONFIG_MOUNT] if launches else [])]
    main = {
        **first,
        "env": merged(items(first.get("env")), [*_variables(role, mpi)]),
        "volumeMounts": [*items(first.get("volumeMounts")), *mounts],
    }
    if not launches and not first.get("command") and not first.get("args"):
        main["command"] = SSHD
    volumes = [*items(spec.get("volumes")), _keys_volume(job, mpi)]
    made = {**spec, "containers": [main, *others], "volumes": volumes}
    if launches:
        volumes.append(config_volume(job, {HOSTFILE: READABLE, DISCOVERY: RUNNABLE}))
        made["hostname"] = layout.host(role)  # workers of Intel MPI and MPICH call back there
    if spec.get("hostNetwork"):
        made["dnsPolicy"] = "ClusterFirstWithHostNet"
    return made


def hosts_data(layout: Layout, running: Iterable[int], installation: Installation) -> dict[str, str]:
    """The contents of the ConfigMap: all hosts, and a script that tells those that run."""
    mpi, there = read_mpi(layout.job), frozenset(running)
    line = IMPLEMENTATIONS[mpi.implementation].line
    hosts = list(_hosts(layout, mpi, installation))
    found = (host for role, index, host in hosts if role.name == "Launcher" or index in there)
    return {
        HOSTFILE: "".join(line(host, mpi.slots) for _, __, host in hosts),
        DISCOVERY: "#!/bin/sh\n" + "".join(f"echo {host}\n" for host in found),
    }


def _hosts(layout: Layout, mpi: MPISpec, installation: Installation) -> Iterator[tuple[Role, int, str]]:
    """Every host: its role, its number, its address."""
    domain = f".{installation.custom_domain}" if installation.custom_domain else ""
    for role in layout.job.roles:
        if role.name == "Launcher" and not mpi.launcher_computes:
            continue
        for index in range(role.replicas):
            yield role, index, f"{layout.host(role, index)}.{layout.job.namespace}.svc{domain}"


def _variables(role: Role, mpi: MPISpec) -> Iterator[Object]:
    yield text("K_MPI_JOB_ROLE", role.lower)
    if role.name == "Launcher":
        values: Mapping[str, str] = IMPLEMENTATIONS[mpi.implementation].env(mpi.slots)
        yield from (text(name, value) for name, value in values.items())
        if not mpi.launcher_computes:
            yield from (text(name, "") for name in HIDDEN)


def _keys_volume(job: LegacyJob, mpi: MPISpec) -> Object:
    paths = ((PRIVATE_KEY, "id_rsa"), (PUBLIC_KEY, "id_rsa.pub"), (PUBLIC_KEY, "authorized_keys"))
    secret: dict[str, Any] = {"secretName": keys_name(job)}
    if mpi.keys_path == KEYS_PATH:
        secret["defaultMode"] = OWNER_ALONE
    return {
        "name": KEYS_VOLUME,
        "secret": {**secret, "items": [{"key": key, "path": path} for key, path in paths]},
    }
