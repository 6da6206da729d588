"""What can run, but may not do what its author thinks: said, never refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .info import Info


def warn_of_host_paths(info: Info) -> None:
    """A folder of the node is another folder on every node, and many namespaces forbid it."""
    for pods in info.pods:
        if not pods.doubtful and pods.own is None:
            continue
        for volume in pods.get("volumes") or ():
            if "hostPath" in volume:
                path = (volume["hostPath"] or {}).get("path", "")
                info.warn(
                    f"volume {volume['name']!r} of job {pods.name!r} is the folder {path!r} of whatever node "
                    "a pod lands on: keep the same data there on every node, or use a claim"
                )
