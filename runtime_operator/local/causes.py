"""What a job died of, in one sentence: which pod, which container, how it ended, and its last words.

The first container that ended badly is the cause; what follows it is mostly its consequence: ranks that lose
a peer, pods that are told to stop.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from .reporting import container_statuses

CONSEQUENCES = frozenset((137, 143))
"""exit codes of those that are told to stop"""
_LONGEST = 300


@dataclass(frozen=True, slots=True)
class Death:
    """A container that ended badly."""

    pod: str
    container: str
    exit_code: int
    reason: str
    finished: str
    message: str = ""

    def __str__(self) -> str:
        how = f"exit code {self.exit_code}" + (
            f" ({self.reason})" if self.reason not in ("", "Error") else ""
        )
        text = f"pod {self.pod}, container {self.container}: {how}"
        return f"{text}: {last_line(self.message)}" if self.message else text


def last_line(text: str) -> str:
    """The last line that says something, not too long for a sentence."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    line = lines[-1] if lines else ""
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]} …"


def deaths(pods: Iterable[tuple[str, Mapping[str, Any]]]) -> list[Death]:
    """The containers that ended badly, those that died by themselves first, then in the order of time."""
    found = [death for name, status in pods for death in _of_pod(name, status)]
    return sorted(
        found, key=lambda each: (each.exit_code in CONSEQUENCES and each.reason != "OOMKilled", each.finished)
    )


def _of_pod(name: str, status: Mapping[str, Any]) -> Iterator[Death]:
    for each in container_statuses(status):
        for state in (each.get("lastState") or {}, each.get("state") or {}):
            ended = state.get("terminated")
            if ended and ended["exitCode"] != 0:
                yield Death(
                    name,
                    each["name"],
                    ended["exitCode"],
                    ended.get("reason", ""),
                    ended.get("finishedAt", ""),
                    ended.get("message", ""),
                )
