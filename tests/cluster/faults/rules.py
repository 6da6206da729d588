"""What may go wrong with a request: which requests, how often, and in what way."""

import re
import threading
from dataclasses import dataclass, field
from typing import Literal

Kind = Literal["cut", "hang", "status", "slow", "stale", "gone"]
"""cut    the connection is closed without an answer
hang   it stays open, and nothing comes any more: of a watch, after what had come
status an error answer of this code
slow   the answer comes after some seconds
stale  a read is answered with what the same read got before, if there was one
gone   a watch is ended with an ERROR event of code 410, as when its version is too old"""


@dataclass
class Fault:
    """One way to break requests; `times` counts down, and a negative one stays."""

    kind: Kind
    path: str = ""
    """a regular expression, sought in the path with its query"""
    method: str = ""
    times: int = -1
    code: int = 500
    retry_after: int | None = None
    seconds: float = 0.0
    hits: int = 0

    def meets(self, method: str, path: str) -> bool:
        """Whether it is about such a request."""
        return bool(self.times and re.search(self.path, path)) and self.method in ("", method)


@dataclass
class Faults:
    """The faults of one proxy, asked from its thread and set from the test's."""

    faults: list[Fault] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, fault: Fault) -> Fault:
        """Break from now on; what was added last counts first."""
        with self._lock:
            self.faults.insert(0, fault)
        return fault

    def clear(self) -> None:
        """Break nothing any more."""
        with self._lock:
            self.faults.clear()

    def take(self, method: str, path: str) -> Fault | None:
        """The fault for a request, if there is one; it is counted."""
        with self._lock:
            for fault in self.faults:
                if fault.meets(method, path):
                    fault.times -= 1
                    fault.hits += 1
                    return fault
        return None
