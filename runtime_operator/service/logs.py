"""One line a decision: JSON for a collector of logs, words for a person at a terminal.

What a line is about (namespace, object, why) is passed as `extra` and stands in fields of its own, so that it
can be searched for and is never cut out of a sentence.
"""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime
from typing import TextIO

_KNOWN = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}
_PACKAGE = "kfp_trainer.runtime_operator."


def fields_of(record: logging.LogRecord) -> dict[str, object]:
    """What was passed as `extra`, in its order."""
    return {key: value for key, value in vars(record).items() if key not in _KNOWN}


class JsonLines(logging.Formatter):
    """A JSON object a line."""

    def format(self, record: logging.LogRecord) -> str:
        """Write one record."""
        line: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "part": record.name.removeprefix(_PACKAGE),
            "message": record.getMessage(),
            **fields_of(record),
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line, default=str, ensure_ascii=False)


class Words(logging.Formatter):
    """The same for a person."""

    def format(self, record: logging.LogRecord) -> str:
        """Write one record."""
        time = datetime.fromtimestamp(record.created).strftime("%H:%M:%S")
        level = "" if record.levelno == logging.INFO else f"{record.levelname.lower()}: "
        told = "".join(f"  {key}={value}" for key, value in fields_of(record).items())
        text = f"{time}  {level}{record.getMessage()}{told}"
        return text if not record.exc_info else f"{text}\n{self.formatException(record.exc_info)}"


def set_up_logs(level: str = "info", stream: TextIO | None = None) -> None:
    """Write the log of this process, to stderr if not elsewhere, in the form that suits who reads it."""
    stream = stream or sys.stderr
    handler = logging.StreamHandler(stream)
    handler.setFormatter(Words() if stream.isatty() else JsonLines())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    logging.getLogger("aiohttp.access").setLevel(logging.WARNING)  # a line a probe says nothing
