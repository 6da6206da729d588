"""Which ports a job uses, and which of this machine's it gets for them.

Pods of several jobs share one machine's ports. A port stays as it is unless another job has it or something
listens on it; then a free one stands in, in every place where the rules of `process.rewriting` know a port.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from .process.pod import Object, containers
from .process.rewriting import Rules

HANDLERS = ("httpGet", "tcpSocket")
PROBES = ("livenessProbe", "readinessProbe", "startupProbe")


class _Heard(dict[int, int]):
    """Hears which ports are looked up."""

    def get(self, key: int, default: Any = None) -> Any:
        self[key] = key
        return default


def named_ports(pods: Sequence[Object], texts: Sequence[str], names: Mapping[str, str]) -> list[int]:
    """The ports that pods and files name, in ascending order."""
    heard = _Heard()
    rules = Rules(names=names, ports=heard)
    for text in texts:
        rules.text(text)
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


def choose_ports(
    wanted: list[int], taken: set[int], is_free: Callable[[int], bool] | None = None
) -> dict[int, int]:
    """The port of this machine for each port; those that nobody has stay as they are."""
    is_free = is_free or can_listen
    chosen: dict[int, int] = {}
    for port in wanted:
        mine = port
        while mine in taken or not is_free(mine):
            mine = any_free_port()
        taken = taken | {mine}
        chosen[port] = mine
    return chosen


def can_listen(port: int) -> bool:
    """Whether nothing listens on a port of this machine."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("", port))
        except OSError:
            return False
    return True


def any_free_port() -> int:
    """A port that is free now."""
    with socket.socket() as probe:
        probe.bind(("", 0))
        return int(probe.getsockname()[1])
