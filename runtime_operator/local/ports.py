"""Which ports a job uses, and which of this machine's it gets for them.

Pods of several jobs, and of several people, share one machine's ports, and a port that nobody listens on now
may be another job's in a moment. So every job gets ports of its own, drawn from those that neither services
nor the kernel use, in every place where the rules of `process.rewriting` know a port.
"""

from __future__ import annotations

import secrets
import socket
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .process.pod import Object, containers
from .process.rewriting import Rules

HANDLERS = ("httpGet", "tcpSocket")
RANGE = range(20_000, 32_000)
"""above the services, below what Linux and macOS give to outgoing connections"""
FIRST_FREE = 1024
"""the first port that everybody may listen on"""
PROBES = ("livenessProbe", "readinessProbe", "startupProbe")


class _Heard(dict[int, int]):
    """Hears which ports are looked up."""

    def get(self, key: int, default: Any = None) -> Any:
        self[key] = key
        return default


def named_ports(pods: Sequence[Object], texts: Sequence[str], names: Mapping[str, str]) -> list[int]:
    """The ports that pods and files name, in ascending order.

    A small number behind a host in a file is none: a hostfile of MPICH counts processes there.
    """
    in_files, heard = _Heard(), _Heard()
    for text in texts:
        Rules(names=names, ports=in_files).text(text)
    heard.update({port: port for port in in_files if port >= FIRST_FREE})
    rules = Rules(names=names, ports=heard)
    for pod in pods:
        for container in containers(pod):
            spec = container.spec
            rules.env({each["name"]: str(each.get("value") or "") for each in spec.get("env") or ()})
            rules.words([str(word) for word in (*(spec.get("command") or ()), *(spec.get("args") or ()))])
            heard.update({port: port for port in _declared(spec)})
    return sorted(port for port in heard if 0 < port < 65536)


def _declared(spec: Object) -> Iterator[int]:
    for port in spec.get("ports") or ():
        yield int(port["containerPort"])
    for probe in PROBES:
        for handler in HANDLERS:
            port = ((spec.get(probe) or {}).get(handler) or {}).get("port")
            if isinstance(port, int):
                yield port


def choose_ports(wanted: Sequence[int], taken: set[int]) -> dict[int, int]:
    """The port of this machine for each port, none of those that are taken."""
    chosen: dict[int, int] = {}
    for port in wanted:
        chosen[port] = free_port({*taken, *chosen.values()})
    return chosen


def free_port(taken: set[int]) -> int:
    """A port that nobody has and nothing listens on."""
    while True:
        port = secrets.choice(RANGE)
        if port not in taken and can_listen(port):
            return port


def can_listen(port: int) -> bool:
    """Whether nothing listens on a port of this machine."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("", port))
        except OSError:
            return False
    return True
