"""The status of a pod as it changes: computed anew, kept on disk, and told."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from .events import Listener, PodEvent
from .files import write_json
from .phase import Phase, pod_phase
from .place import Place
from .pod import Object, restart_policy
from .state import ContainerState
from .status import status_document


class Report:
    """What is said of one pod."""

    def __init__(self, pod: Object, listener: Listener, *, begun: float) -> None:
        self.phase: Phase = "Pending"
        self.status: dict[str, Any] = {}
        self.begun = begun
        self.reason = self.message = ""
        """why the pod was ended, where that makes it Failed"""
        self._pod = pod
        self._listener = listener

    def update(
        self, states: Sequence[ContainerState], place: Place, *, over: bool, event: PodEvent | None = None
    ) -> None:
        """Take in a change; a listener finds the new status, and hears of a new phase after its cause."""
        self._compute(states, place, over=over)
        if event is not None:
            self._listener(event)
        phase = self.status["phase"]
        if phase != self.phase:
            self.phase = phase
            self._listener(PodEvent("phase", reason=phase, message=self.message))

    def _compute(self, states: Sequence[ContainerState], place: Place, *, over: bool) -> None:
        phase = pod_phase(states, policy=restart_policy(self._pod), stopped=over)
        fresh = status_document(
            self._pod,
            place,
            states,
            phase="Failed" if over and self.reason else phase,
            before=self.status,
            begun=self.begun,
            now=time.time(),
            reason=self.reason,
            message=self.message,
        )
        if fresh != self.status:
            self.status = fresh
            with suppress(OSError):  # a full disk must not end the pod; the runs tell all that is needed
                write_json(place.folder / "status.json", fresh)
