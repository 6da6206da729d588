"""How a container ended: exit code, reason and last words, from the launcher's record."""

from __future__ import annotations

import errno
import os
import signal
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .failures import NO_SPACE
from .logs import tail_bytes
from .pod import Object
from .state import NEVER, Terminated

_FILE_LIMIT = 4096
_LOG_LIMIT, _LOG_LINES = 2048, 80
START_ERROR = 128


def exit_code(status: int) -> tuple[int, int]:
    """Return (exit code as a shell counts, signal or 0) of a wait status."""
    code = os.waitstatus_to_exitcode(status)
    return (code, 0) if code >= 0 else (128 - code, -code)


def classify(record: Mapping[str, Any], *, killed_by_us: bool, now: float, container_id: str) -> Terminated:
    """Say how a container ended; a record without an end was left by a launcher that was killed."""
    started = record.get("started", 0) / 1e9 or NEVER
    if "ended" not in record:
        lost = "nobody saw how the container ended: its launcher was killed or the machine went down"
        return Terminated(
            137, "ContainerStatusUnknown", started, now, message=lost, container_id=container_id
        )
    code, number = exit_code(record["status"])
    reason = "Completed" if code == 0 else "Error"
    message = ""
    if number == signal.SIGKILL and record["kills"] and not killed_by_us:
        reason, message = (
            "OOMKilled",
            "the kernel killed it for lack of memory; give it more memory or make it use less",
        )
    elif code and record["kills"]:
        message = (
            f"while it ran the kernel killed {record['kills']} process(es) of this machine for lack of memory"
        )
    if record.get("log_errno") == errno.ENOSPC:
        message = f"{message}; " * bool(message) + f"lines of its log are lost: {NO_SPACE}"
    return Terminated(code, reason, started, record["ended"] / 1e9, number, message, container_id)


def last_words(container: Object, path: Path, log: Path, *, failed: bool) -> str:
    """Return the termination message: the file's, or the log's end where the container asks for it."""
    try:
        with open(path, "rb") as file:
            text = file.read(_FILE_LIMIT)
    except OSError:
        text = b""
    if not text and failed and container.get("terminationMessagePolicy") == "FallbackToLogsOnError":
        text = tail_bytes(log, lines=_LOG_LINES)[-_LOG_LIMIT:]
    return text.decode(errors="replace")
