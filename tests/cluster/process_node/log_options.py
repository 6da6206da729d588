"""The options of a request for a log, and the bytes they let through."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from kfp_trainer.runtime_operator.local.process.logs import Line


@dataclass(frozen=True)
class LogOptions:
    """What a client wants of a log, as the API server passes it on."""

    follow: bool = False
    previous: bool = False
    timestamps: bool = False
    tail: int | None = None
    since: str = ""
    """the first moment, as it stands in the log; empty for all"""
    limit: int | None = None
    """bytes"""
    stream: str = ""
    """stdout or stderr; empty for both"""

    @staticmethod
    def of(query: Mapping[str, str], now: datetime) -> "LogOptions":
        """Read the query of a request; ValueError if a number or a moment is none."""
        stream = query.get("stream", "All").lower()
        return LogOptions(
            follow=query.get("follow") == "true",
            previous=query.get("previous") == "true",
            timestamps=query.get("timestamps") == "true",
            tail=int(query["tailLines"]) if "tailLines" in query else None,
            since=_since(query, now),
            limit=int(query["limitBytes"]) if "limitBytes" in query else None,
            stream="" if stream == "all" else stream,
        )

    def filter(self) -> Callable[[Line], bytes]:
        """What of each line is passed on; it remembers how much that was."""
        left = self.limit
        at_start = True

        def passed(line: Line) -> bytes:
            nonlocal left, at_start
            if line.time < self.since or self.stream not in ("", line.stream):
                return b""
            head = f"{line.time} ".encode() if self.timestamps and at_start else b""
            at_start = line.full
            told = head + line.text + b"\n" * line.full
            if left is not None:
                told = told[:left]
                left -= len(told)
            return told

        return passed


def _since(query: Mapping[str, str], now: datetime) -> str:
    if "sinceSeconds" in query:
        moment = now - timedelta(seconds=int(query["sinceSeconds"]))
    elif "sinceTime" in query:
        moment = datetime.fromisoformat(query["sinceTime"])
    else:
        return ""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%f000Z")
