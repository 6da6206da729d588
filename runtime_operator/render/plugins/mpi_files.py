"""What MPI needs in its pods beside a command: keys, a list of hosts, and the env that points at them.

The three implementations differ in the form of a host's line and in the names of their variables. Keys are
drawn elsewhere and come in as facts; they are written once and never change.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..info import Info
from ..overlay import Object

if TYPE_CHECKING:
    from ...api.runtime import MPIPolicy

PRIVATE_KEY = "ssh-privatekey"
PUBLIC_KEY = "ssh-publickey"
KEYS_VOLUME = "mpi-ssh-auth"
HOSTFILE_VOLUME = "mpi-hostfile"
HOSTFILE = "hostfile"
HOSTFILE_DIR = "/etc/mpi"
HOSTFILE_PATH = f"{HOSTFILE_DIR}/{HOSTFILE}"
HOSTFILE_MOUNT: Object = {"name": HOSTFILE_VOLUME, "mountPath": HOSTFILE_DIR}
DEEPSPEED_MOUNT: Object = {"name": HOSTFILE_VOLUME, "mountPath": "/job/hostfile", "subPath": HOSTFILE}
"""where the deepspeed command looks unless it is told otherwise"""
DRAWN_LATER = "<drawn when the job is applied>"
_PATIENCE = "-o ConnectionAttempts=10"
"""nodes may be up before their names are known"""


@dataclass(frozen=True, slots=True)
class Implementation:
    """How one MPI writes a host, and what its launcher reads."""

    line: Callable[[str, int], str]
    env: Callable[[int], Mapping[str, str]]


IMPLEMENTATIONS: Mapping[str, Implementation] = {
    "OpenMPI": Implementation(
        lambda host, slots: f"{host} slots={slots}\n",
        lambda slots: {
            "OMPI_MCA_orte_default_hostfile": HOSTFILE_PATH,
            "OMPI_MCA_orte_keep_fqdn_hostnames": "true",
            "OMPI_MCA_orte_set_default_slots": str(slots),
            "OMPI_MCA_plm_rsh_args": _PATIENCE,
        },
    ),
    "Intel": Implementation(
        lambda host, slots: f"{host}:{slots}\n",
        lambda slots: {
            "I_MPI_HYDRA_HOST_FILE": HOSTFILE_PATH,
            "I_MPI_HYDRA_BOOTSTRAP_EXEC_EXTRA_ARGS": _PATIENCE,
            "I_MPI_PERHOST": str(slots),
        },
    ),
    "MPICH": Implementation(
        lambda host, slots: f"{host}:{slots}\n",
        lambda slots: {
            "HYDRA_HOST_FILE": HOSTFILE_PATH,
            "HYDRA_LAUNCH_EXTRA_ARGS": _PATIENCE,
            "HYDRA_LAUNCHER_EXTRA_ARGS": _PATIENCE,  # what it is called since MPICH 4
        },
    ),
}


def launcher_env(policy: MPIPolicy, slots: int) -> list[Object]:
    """Give the launcher's variables."""
    values = IMPLEMENTATIONS[policy.mpiImplementation].env(slots)
    return [{"name": name, "value": value} for name, value in values.items()]


def reserved_env(policy: MPIPolicy, *, upstream: bool) -> Iterable[str]:
    """Name the variables that a job may not set itself; upstream knows those of OpenMPI only."""
    known = IMPLEMENTATIONS.get("OpenMPI" if upstream else policy.mpiImplementation)
    return known.env(1) if known is not None else ()


def keys_volume(info: Info) -> Object:
    """Build the volume of the ssh keys, as sshd wants their rights."""
    items = [
        {"key": PRIVATE_KEY, "path": "id_rsa", "mode": 0o640},
        {"key": PUBLIC_KEY, "path": "id_rsa.pub", "mode": 0o644},
        {"key": PUBLIC_KEY, "path": "authorized_keys", "mode": 0o644},
    ]
    secret = {"secretName": _secret_name(info), "defaultMode": 0o400, "items": items}
    return {"name": KEYS_VOLUME, "secret": secret}


def hostfile_volume(info: Info) -> Object:
    """Build the volume of the hostfile."""
    items = [{"key": HOSTFILE, "path": HOSTFILE, "mode": 0o444}]
    return {"name": HOSTFILE_VOLUME, "configMap": {"name": _hostfile_name(info), "items": items}}


def hostfile_object(info: Info, policy: MPIPolicy, slots: int, hosts: Iterable[str]) -> Object:
    """Build the ConfigMap of the hostfile."""
    line = IMPLEMENTATIONS[policy.mpiImplementation].line
    text = "".join(line(host, slots) for host in hosts)
    return info.owned("v1", "ConfigMap", _hostfile_name(info), data={HOSTFILE: text})


def secret_object(info: Info) -> Object:
    """Build the Secret of the ssh keys; whoever applies it passes the keys in."""
    return info.owned("v1", "Secret", _secret_name(info), **keys_body(info.facts.keys))


def keys_body(keys: Mapping[str, str]) -> dict[str, object]:
    """What a Secret of ssh keys holds beside its name; without keys it says so."""
    body: dict[str, object] = {"type": "kubernetes.io/ssh-auth", "immutable": True}
    if PRIVATE_KEY in keys:
        body["data"] = {name: encoded(keys[name]) for name in (PRIVATE_KEY, PUBLIC_KEY)}
    else:
        body["stringData"] = dict.fromkeys((PRIVATE_KEY, PUBLIC_KEY), DRAWN_LATER)
    return body


def encoded(text: str) -> str:
    """Encode a value for `data` of a Secret."""
    return b64encode(text.encode()).decode()


def _secret_name(info: Info) -> str:
    return f"{info.name}-mpi-ssh-auth"


def _hostfile_name(info: Info) -> str:
    return f"{info.name}-mpi-hostfile"
