"""Turns this process into the user that a container runs as: a number in a user namespace of its own.

Outside, the process stays who it was, so that it can read what its starter can; inside it is nobody special
and has no capabilities.
"""

from __future__ import annotations

import os
import signal

from . import kernel

TYPE_CHECKING = False
if TYPE_CHECKING:  # at run time typing would take as long as Python itself
    from collections.abc import Mapping


def become_person(identity: Mapping[str, int]) -> None:
    """Be the user and group of an identity; user 0 changes nothing."""
    if identity["user"]:
        user, group = os.geteuid(), os.getegid()
        kernel.unshare(kernel.CLONE_NEWUSER)
        map_user(identity["user"], user, identity["group"], group)
        kernel.die_with_parent(signal.SIGKILL)
    if identity["no_new_privileges"]:
        kernel.gain_no_privileges()


def map_user(inside_user: int, user: int, inside_group: int, group: int) -> None:
    """Say who this process is in the user namespace that it has just made."""
    _write("/proc/self/setgroups", "deny")
    _write("/proc/self/uid_map", f"{inside_user} {user} 1")
    _write("/proc/self/gid_map", f"{inside_group} {group} 1")


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="ascii") as file:
        file.write(text)
