"""The option `-f`, as kubectl has it: the same words in each command, what the files hold differs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])


def files_option(holds: str) -> Callable[[Command], Command]:
    """Give a command `files`: names of files that hold what is said, once or several times."""
    return click.option(
        "-f",
        "--filename",
        "files",
        multiple=True,
        required=True,
        metavar="FILE",
        help=f"{holds}; - is stdin; repeatable.",
    )
