"""An event for each decision, so that `kubectl describe trainjob` tells what was done and why.

The same event about the same job is said once, until something else is said under its reason.
"""

from __future__ import annotations

from typing import Protocol

from ..api.names import COMPLETE, FAILED, SUSPENDED
from ..conditions import find, is_true
from ..render.plan import Object
from .memory import Memory

LONGEST = 1024  # an API server takes no more
WITHOUT_A_WORD = ("ConfigMap", "Secret")


class Recorder(Protocol):
    """Whoever brings events to the API server."""

    def record(self, about: Object, reason: str, message: str, *, type_: str = "Normal") -> None:
        """Note an event about an object; never blocks, never fails."""


class Decisions:
    """Says what was decided about one job at a time."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder

    def say(self, job: Object, memory: Memory, reason: str, message: str, *, type_: str = "Normal") -> None:
        """Record an event, unless it is the last one of its reason."""
        message = message[:LONGEST]
        if memory.told.get(reason) == message:
            return
        memory.told[reason] = message
        self._recorder.record(job, reason, message, type_=type_)

    def applied(self, job: Object, memory: Memory, child: Object, *, is_new: bool) -> None:
        """A child was made or changed; ConfigMaps and Secrets are no decisions, they come with the JobSet."""
        kind, name = child["kind"], child["metadata"]["name"]
        if is_new and kind not in WITHOUT_A_WORD:
            self.say(job, memory, f"{kind}Created", f"created {kind} {name}")
        elif kind == "JobSet":
            word = "suspended" if child["spec"].get("suspend") else "resumed"
            memory.told.pop("JobSetUpdated", None)
            self.say(job, memory, "JobSetUpdated", f"updated JobSet {name}: it is {word}")

    def deleted(self, job: Object, memory: Memory, child: Object) -> None:
        """Something was let go."""
        kind, name = child.get("kind", "TrainJob"), child["metadata"]["name"]
        why = {
            "PodGroup": "the gang reserves no room any more",
            "JobSet": "the job is over",
            "TrainJob": "ttlSecondsAfterFinished is over",
        }
        self.say(job, memory, f"{kind}Deleted", f"deleted {kind} {name}: {why.get(kind, 'nobody wants it')}")

    def reported(self, job: Object, memory: Memory, status: Object) -> None:
        """A status was written: tell what is new in it."""
        before, after = (each.get("conditions") or () for each in (job.get("status") or {}, status))
        for type_ in (SUSPENDED, COMPLETE, FAILED):
            if is_true(before, type_) != is_true(after, type_):
                said = find(after, type_) or {}
                memory.told.pop(said.get("reason", ""), None)
                level = "Warning" if type_ == FAILED else "Normal"
                self.say(job, memory, said.get("reason", type_), said.get("message", ""), type_=level)
        if memory.trouble is not None and status.get("why") != (job.get("status") or {}).get("why"):
            self.say(job, memory, "PodsWait", memory.trouble, type_="Warning")
        if "startTime" in status and "startTime" not in (job.get("status") or {}):
            self.say(job, memory, "Running", "all its pods run")
