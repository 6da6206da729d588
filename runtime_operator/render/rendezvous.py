"""Where the pods of a job meet: the host name of node 0, its port, and a pod's own number."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..api.names import INDEX_FIELD_PATH, NODE, TRAINER_PORT
from .overlay import Container, Object

if TYPE_CHECKING:
    from .info import Info

_INDEX: Object = {"fieldRef": {"fieldPath": INDEX_FIELD_PATH}}


def variable(name: str, value: str) -> Object:
    """An environment variable."""
    return {"name": name, "value": value}


def index_variable(name: str) -> Object:
    """An environment variable that tells a pod its number among its kind."""
    return {"name": name, "valueFrom": _INDEX}


def host(info: Info) -> str:
    """The host name of node 0; upstream takes the trainer to be called `node` and knows no subdomain."""
    trainer = info.trainer
    if info.upstream or trainer is None:
        return f"{info.name}-{NODE}-0-0.{info.name}"
    return f"{info.name}-{trainer.name}-0-0.{info.subdomain}"


def open_port(info: Info, container: Container, number: int = TRAINER_PORT) -> None:
    """Open the port where node 0 waits; upstream's replaces a port that has no name either."""
    if not info.upstream:
        container.add_port(number)
        return
    ports: list[Any] = list(container.get("ports") or ())
    for place, port in enumerate(ports):
        if port.get("containerPort") == number or not port.get("name"):
            ports[place] = {"containerPort": number}
            break
    else:
        ports.append({"containerPort": number})
    container.put("ports", ports)
