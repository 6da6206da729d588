"""What stands for a container image on this machine: an environment, a command, or words before a command.

The table is small and explicit. An image that it does not name runs in the environment of this interpreter,
and that is said once.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Image:
    """What an image gives a container."""

    environment: Path = Path(sys.prefix)
    """a virtual environment or any folder with a bin; its bin comes first in PATH"""
    entrypoint: tuple[str, ...] = ()
    """what runs when the container names no command"""
    prefix: tuple[str, ...] = ()
    """words before every command, as in `conda run -n lab`"""
    env: Mapping[str, str] = field(default_factory=dict)
    user: int = 0
    """who its containers are where security contexts are kept to; 0 is root"""


@dataclass(frozen=True, slots=True)
class Images:
    """The table, by name; a name without tag or digest stands for all of them."""

    table: Mapping[str, Image] = field(default_factory=dict)
    default: Image = field(default_factory=lambda: Image(env={"PYTHONUNBUFFERED": "1"}))
    """Python prints a line when it is printed, so that it can be followed and is not lost when killed"""

    def find(self, name: str) -> tuple[Image, bool]:
        """Return what stands for an image, and whether the table names it."""
        for key in (name, repository(name)):
            if key in self.table:
                return self.table[key], True
        return self.default, False


def repository(name: str) -> str:
    """Return an image's name without its tag and digest."""
    plain = name.partition("@")[0]
    head, slash, last = plain.rpartition("/")
    return head + slash + last.partition(":")[0]


def image_env(image: Image, base: Mapping[str, str]) -> dict[str, str]:
    """Return the environment that an image gives on top of the machine's."""
    path = os.pathsep.join(
        part for part in (str(image.environment / "bin"), base.get("PATH", os.defpath)) if part
    )
    env = {**base, "PATH": path}
    if (image.environment / "pyvenv.cfg").exists():
        env["VIRTUAL_ENV"] = str(image.environment)
    return {**env, **image.env}


def command_line(image: Image, container: Mapping[str, object]) -> list[str]:
    """Return the words that start a container; empty when neither it nor its image names a command."""
    command, args = _words(container, "command"), _words(container, "args")
    start = command or list(image.entrypoint)
    return [*image.prefix, *start, *args] if start else []


def _words(container: Mapping[str, object], name: str) -> list[str]:
    words = container.get(name) or ()
    assert isinstance(words, list | tuple)
    return [str(word) for word in words]
