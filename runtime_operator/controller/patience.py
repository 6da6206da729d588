"""Good news waits while there is work: of a thousand jobs at once, each would cost a write more.

What is wrong is told at once, whatever else is to do.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from ..render.plan import Object
from .decisions import Recorder

MOST = 10_000  # events that wait; the oldest are dropped


class PatientRecorder:
    """A recorder in front of another."""

    def __init__(self, recorder: Recorder, is_busy: Callable[[], bool]) -> None:
        self._recorder, self._is_busy = recorder, is_busy
        self._waiting: deque[tuple[Object, str, str]] = deque(maxlen=MOST)

    def record(self, about: Object, reason: str, message: str, *, type_: str = "Normal") -> None:
        """Tell it, or keep it until `tell` is called."""
        if type_ == "Normal" and self._is_busy():
            self._waiting.append((_named(about), reason, message))
        else:
            self._recorder.record(about, reason, message, type_=type_)

    def tell(self) -> None:
        """Tell what has waited, unless there is still work."""
        while self._waiting and not self._is_busy():
            about, reason, message = self._waiting.popleft()
            self._recorder.record(about, reason, message)


def _named(about: Object) -> Object:
    """As much of an object as an event needs."""
    metadata = {
        key: about["metadata"].get(key, "") for key in ("name", "namespace", "uid", "resourceVersion")
    }
    return {"apiVersion": about.get("apiVersion", ""), "kind": about.get("kind", ""), "metadata": metadata}
