"""Who a container is and what it may change: its security context, as far as processes are held to it.

A user is a number inside a user namespace: the container sees itself as that user, has no capabilities, and
owns what its runner owns. Kept to are runAsUser, runAsGroup, runAsNonRoot, allowPrivilegeEscalation and
readOnlyRootFilesystem; capabilities, seccomp and the other profiles are not.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from .failures import ConfigError
from .pod import Container, Object

_BY_POD = ("runAsUser", "runAsGroup", "runAsNonRoot")


@dataclass(frozen=True, slots=True)
class Identity:
    """What a launcher does about it."""

    user: int = 0
    """0 is the user of the runner"""
    group: int = 0
    no_new_privileges: bool = False
    read_only_root: bool = False

    def document(self) -> dict[str, Any]:
        """Return the form a launcher is told."""
        return asdict(self)


def identity_of(container: Container, pod: Object, *, user: int) -> Identity:
    """Return who a container is, in an image of this user; ConfigError if it must not be root and is."""
    whole = pod["spec"].get("securityContext") or {}
    asked = {name: whole[name] for name in _BY_POD if whole.get(name) is not None}
    asked |= {
        name: value
        for name, value in (container.spec.get("securityContext") or {}).items()
        if value is not None
    }
    runs_as = int(asked.get("runAsUser", user))
    if asked.get("runAsNonRoot") and runs_as == 0:
        image = container.spec.get("image")
        raise ConfigError(
            f"{container.path}.securityContext: runAsNonRoot, and image {image} runs as root; set runAsUser"
        )
    return Identity(
        runs_as,
        int(asked.get("runAsGroup", runs_as)),
        asked.get("allowPrivilegeEscalation") is False,
        bool(asked.get("readOnlyRootFilesystem")),
    )
