"""Tells a TrainJob how far it is, where its pod is given an address for that.

The address, the file of the token and the certificate come in KUBEFLOW_TRAINER_SERVER_*; without an address
nobody asks. At most every five seconds, and never a reason for a run to fail.
"""

from __future__ import annotations

import json
import ssl
import time
import urllib.request
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path

from ..progress import StepEvent

PREFIX = "KUBEFLOW_TRAINER_SERVER_"
BETWEEN = 5.0
PATIENCE = 5.0


class Endpoint:
    """Posts the newest step."""

    def __init__(
        self, environment: Mapping[str, str], *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._url = environment.get(f"{PREFIX}URL", "")
        self._token = environment.get(f"{PREFIX}TOKEN")
        self._certificate = environment.get(f"{PREFIX}CA_CERT")
        self._clock = clock
        self._next = 0.0

    def tell(self, event: StepEvent) -> None:
        """Post a step if it is time, or the last one."""
        last = event.step >= event.of
        if self._url and (last or self._clock() >= self._next):
            self._next = self._clock() + BETWEEN
            self._post(status_of(event))

    def _post(self, status: Mapping[str, object]) -> None:
        headers = {"Content-Type": "application/json"}
        try:
            if self._token:
                headers["Authorization"] = f"Bearer {Path(self._token).read_text(encoding='utf-8').strip()}"
            trusted = ssl.create_default_context(cafile=self._certificate) if self._certificate else None
            body = json.dumps({"trainerStatus": status}).encode()
            request = urllib.request.Request(self._url, body, headers, method="POST")
            urllib.request.urlopen(request, timeout=PATIENCE, context=trusted).close()
        except (OSError, ValueError):  # the next step tells again
            return


def status_of(event: StepEvent) -> dict[str, object]:
    """A step as a TrainJob's status has it."""
    metrics = {"loss": event.loss, "learning_rate": event.learning_rate, "epoch": event.epoch}
    return {
        "lastUpdatedTime": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "progressPercentage": min(100, 100 * event.step // max(1, event.of)),
        "estimatedRemainingSeconds": max(0, int(event.remaining_seconds)),
        "metrics": [{"name": name, "value": str(value)} for name, value in metrics.items()],
    }
