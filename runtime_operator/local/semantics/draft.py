"""The JobSet's status while one pass works on it.

A pass changes the status in several places and writes it once, at its end; each change of a condition
is an event too. Rules that return early thus lose nothing.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from .actions import Action, Event, WriteStatus
from .conditions import with_condition
from .model import Condition, State


class Draft:
    """A status in the making, with the events that go with it."""

    def __init__(self, state: State, now: float) -> None:
        self._before = state.status
        self._name = state.name
        self._now = now
        self._events: list[Event] = []
        self.status = state.status

    def change(self, **fields: Any) -> None:
        """Change some fields."""
        self.status = replace(self.status, **fields)

    def set(self, kind: str, status: str, reason: str, message: str, *, warning: bool = False) -> None:
        """Set a condition; nothing happens if it says so already, or is false and was never true."""
        new = Condition(kind, status, reason, message, self._now)
        conditions = with_condition(self.status.conditions, new)
        if conditions is not self.status.conditions:
            self.change(conditions=conditions)
            self.tell(reason, message, warning=warning)

    def tell(self, reason: str, message: str, *, warning: bool = False) -> None:
        """Add an event about the JobSet."""
        self._events.append(Event("JobSet", self._name, reason, message, warning))

    def written(self) -> tuple[Action, ...]:
        """The write, if anything has changed, and the events."""
        write: tuple[Action, ...] = ()
        if self.status != self._before:
            write = (WriteStatus(self.status),)
        return (*write, *self._events)
