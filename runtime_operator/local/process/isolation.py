"""How much of a view of its own this machine lets us give a pod; found out by trying.

namespaces        root may make mount, process and UTS namespaces
user namespaces   anybody may, inside a user namespace of his own
rewriting         neither: names, ports and paths are rewritten in the text that a pod is given
"""

from __future__ import annotations

import os
import sys
from enum import Enum
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from .attempt import Attempt
from .identity import Identity
from .launcher import kernel
from .launching import spawn

_OWN_VIEW = kernel.CLONE_NEWNS | kernel.CLONE_NEWUTS | kernel.CLONE_NEWPID


class Isolation(Enum):
    """One of the ways, best first; the value is what a person reads."""

    NAMESPACES = "namespaces"
    USER_NAMESPACES = "user namespaces"
    REWRITING = "rewriting"

    @property
    def flags(self) -> int:
        """Return the namespaces a container gets, as the kernel counts them."""
        return {
            Isolation.NAMESPACES: _OWN_VIEW,
            Isolation.USER_NAMESPACES: _OWN_VIEW | kernel.CLONE_NEWUSER,
            Isolation.REWRITING: 0,
        }[self]

    @property
    def own_view(self) -> bool:
        """Tell whether a pod has its own paths and names."""
        return self is not Isolation.REWRITING

    @property
    def shortcomings(self) -> tuple[str, ...]:
        """Say what a pod does not get."""
        if self.own_view:
            return ()
        return (
            "mount paths, host names and ports are rewritten in env, commands, arguments and "
            "generated files; what a program has in its own code is not",
            "read-only mounts can be written to",
            "gethostname returns this machine's name; HOSTNAME is set",
        )


@lru_cache(maxsize=1)
def detect() -> Isolation:
    """Return the best way that works on this machine."""
    if sys.platform == "linux":
        for way in (Isolation.NAMESPACES, Isolation.USER_NAMESPACES):
            if works(way):
                return way
    return Isolation.REWRITING


def works(way: Isolation) -> bool:
    """Tell whether a command runs this way, with a mount at a path that is not there."""
    with TemporaryDirectory() as folder:
        attempt = Attempt(Path(folder) / "0")
        attempt.make(wait=None)
        config = launch_config(
            attempt,
            argv=["/bin/true"],
            env={},
            cwd="/kfp-trainer",
            way=way,
            mounts=[(folder, "/kfp-trainer", True)],
        )
        process, ready = spawn(attempt, config, title="trial")
        os.close(ready)
        os.waitpid(process, 0)
        return attempt.record().get("status") == 0


def launch_config(
    attempt: Attempt,
    *,
    argv: list[str],
    env: dict[str, str],
    cwd: str,
    way: Isolation,
    mounts: list[tuple[str, str, bool]],
    hostname: str = "localhost",
    network: str = "",
    identity: Identity | None = None,
) -> dict[str, Any]:
    """Return what a launcher is told."""
    return {
        "argv": argv,
        "env": env,
        "cwd": cwd,
        "mounts": mounts,
        "hostname": hostname,
        "network": network,
        "identity": (identity or Identity()).document(),
        "namespaces": way.flags,
        "scratch": str(attempt.folder / "root"),
        "record": str(attempt.folder / "record"),
        "log": str(attempt.log),
    }
