"""Reading a pod document: its containers by their kind, and the defaults an API server would have written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

Object = Mapping[str, Any]
"""a document or a part of one, as an API server serves it"""

Kind = Literal["init", "sidecar", "main"]

TERMINATION_LOG = "/dev/termination-log"
GRACE = 30.0
"""seconds between SIGTERM and SIGKILL where a pod does not say"""


@dataclass(frozen=True, slots=True)
class Container:
    """One container of a pod and the part it plays."""

    spec: Object
    kind: Kind
    path: str
    """where it stands in the pod document, as in `spec.initContainers[0]`"""

    @property
    def name(self) -> str:
        """The container's name."""
        return str(self.spec["name"])


def containers(pod: Object) -> tuple[Container, ...]:
    """List the containers in the order of the document, the init containers first."""
    spec = pod["spec"]
    first = [
        Container(
            one, "sidecar" if one.get("restartPolicy") == "Always" else "init", f"spec.initContainers[{n}]"
        )
        for n, one in enumerate(spec.get("initContainers") or ())
    ]
    return (
        *first,
        *(Container(one, "main", f"spec.containers[{n}]") for n, one in enumerate(spec["containers"])),
    )


def name_of(pod: Object) -> str:
    """Return the pod's name."""
    return str(pod["metadata"]["name"])


def namespace_of(pod: Object) -> str:
    """Return the pod's namespace."""
    return str(pod["metadata"].get("namespace") or "default")


def hostname_of(pod: Object) -> str:
    """Return the short host name that the pod's processes see."""
    return str(pod["spec"].get("hostname") or name_of(pod))[:63]


def restart_policy(pod: Object) -> str:
    """Return Always, OnFailure or Never."""
    return str(pod["spec"].get("restartPolicy") or "Always")


def grace_of(pod: Object) -> float:
    """Return the seconds between SIGTERM and SIGKILL."""
    seconds = pod["spec"].get("terminationGracePeriodSeconds")
    return GRACE if seconds is None else float(seconds)
