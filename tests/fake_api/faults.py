"""What may go wrong at the fake API server, which calls it meets and how often."""

from dataclasses import dataclass, field
from typing import Literal

from kfp_trainer.runtime_operator.kube.errors import ApiError
from kfp_trainer.runtime_operator.kube.resource import Resource

# fmt: off
Kind = Literal[
    "refuse", "lose", "hang", "crash", "crash-after",
    "stale", "gone",
    "cut", "silent", "drop", "double", "swap",
]
# fmt: on
"""refuse       the error is raised, nothing is done
lose         it is done, and the answer is lost
hang         nothing is done, and no answer comes until the client gives up
crash        the process dies before the call (Crash is raised), crash-after after it was done
stale        a list is of `behind` versions ago
cut          a watch ends with an error when its next event comes
gone         a watch is told that its version is too old
silent       a watch stays open and says nothing more until the client gives up
drop         an event is not sent
double       an event is sent twice
swap         an event is sent after the next one"""

WRITES = ("create", "apply", "patch", "delete")
ONLY = {"stale": ("list",), "gone": ("watch",)} | dict.fromkeys(
    ("cut", "silent", "drop", "double", "swap"), ("event",)
)


class Crash(Exception):
    """The process that made the call is dead."""


@dataclass
class Fault:
    """One way to go wrong; `verb` is a method of Transport, or "write" for all that write, or "event"."""

    kind: Kind
    verb: str = ""
    resource: Resource | None = None
    name: str = ""
    skip: int = 0
    """so many calls pass before"""
    times: int = 1
    """how often, -1 for ever"""
    error: ApiError | None = None
    behind: int = 1
    hits: int = 0

    def meets(self, verb: str, resource: Resource | None, name: str) -> bool:
        """Whether it is about such a call, which it then counts."""
        calls = (verb,) if verb != "event" else ()
        verbs = ONLY.get(self.kind) or {"write": WRITES, "": calls}.get(self.verb, (self.verb,))
        if verb not in verbs or self.resource not in (None, resource) or self.name not in ("", name):
            return False
        if self.skip:
            self.skip -= 1
            return False
        return self.times != 0


@dataclass
class Faults:
    """The faults of one server; what was added first counts first."""

    faults: list[Fault] = field(default_factory=list)

    def add(self, fault: Fault) -> Fault:
        """Go wrong from now on."""
        self.faults.append(fault)
        return fault

    def clear(self) -> None:
        """Let nothing go wrong any more."""
        self.faults.clear()

    def take(self, verb: str, resource: Resource | None = None, name: str = "") -> Fault | None:
        """Return the fault that meets a call, if there is one; it is counted."""
        for fault in self.faults:
            if fault.meets(verb, resource, name):
                fault.times -= 1
                fault.hits += 1
                return fault
        return None
