"""Where a pod runs: its folder, its names and addresses, what it may use of this machine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Place:
    """What is decided for a pod before it starts; it is kept on disk with the pod."""

    folder: Path
    """of this pod alone; its state, logs and volumes lie in it"""
    node_name: str = "localhost"
    host_ip: str = "127.0.0.1"
    pod_ip: str = "127.0.0.1"
    hosts: Mapping[str, str] = field(default_factory=dict)
    """address by host name, of every name that the pod's processes must be able to resolve"""
    ports: Mapping[int, int] = field(default_factory=dict)
    """free port by the port that documents name; empty where the pod has a network of its own"""
    network: str = ""
    """path of a network namespace to enter; empty for the machine's network"""
    resolv_conf: str = ""
    """text for /etc/resolv.conf, where the pod has a view of its own; empty for the machine's"""
    gpus: tuple[str, ...] | None = None
    """devices for CUDA_VISIBLE_DEVICES, handed to the containers as they ask; None leaves all visible"""
    env: Mapping[str, str] = field(default_factory=dict)
    """variables that every container gets unless it sets them itself"""

    def document(self) -> dict[str, Any]:
        """Return the form kept on disk."""
        return asdict(self) | {"folder": str(self.folder)}

    @staticmethod
    def of(document: Mapping[str, Any]) -> Place:
        """Read the form kept on disk."""
        gpus = document["gpus"]
        return Place(
            **{
                **document,
                "folder": Path(document["folder"]),
                "ports": {int(port): free for port, free in document["ports"].items()},
                "gpus": None if gpus is None else tuple(gpus),
            }
        )
