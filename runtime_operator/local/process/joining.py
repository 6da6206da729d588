"""Runs a command inside a living container: exec probes, exec hooks, `exec`."""

from __future__ import annotations

import asyncio
import marshal
from collections.abc import Mapping, Sequence
from contextlib import suppress
from subprocess import PIPE, STDOUT

from .isolation import Isolation
from .launcher.kernel import CLONE_NEWNET
from .launching import launcher_command

_LAST_WORDS = 4096


async def run_inside(
    first: int,
    argv: Sequence[str],
    *,
    env: Mapping[str, str],
    cwd: str,
    way: Isolation,
    network: bool,
    limit: float | None,
) -> tuple[int, str]:
    """Return (exit code, output) of a command; TimeoutError when it takes longer than the limit.

    `first` is the container's process 1 as this machine counts.
    """
    config = {
        "argv": list(argv),
        "env": dict(env),
        "cwd": cwd,
        "first": first,
        "namespaces": way.flags | (CLONE_NEWNET if network else 0),
    }
    command = launcher_command("join", f"in {first}")
    process = await asyncio.create_subprocess_exec(
        *command, stdin=PIPE, stdout=PIPE, stderr=STDOUT, start_new_session=True, env={}
    )
    try:
        output, _ = await asyncio.wait_for(process.communicate(marshal.dumps(config)), limit)
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                process.terminate()
            await process.wait()
    assert process.returncode is not None
    return process.returncode, output[-_LAST_WORDS:].decode(errors="replace")
