"""What a trainer may post: `{"trainerStatus": …}`, held against the schema of a TrainJob's status."""

from __future__ import annotations

import json
from typing import Any

from ..api import check
from ..api.names import API_VERSION, TRAIN_JOB

Json = dict[str, Any]
_BELOW = "status.trainerStatus"


class InvalidPayload(Exception):
    """What was posted is no progress; the text says why."""


def read_payload(body: bytes, *, name: str) -> Json | None:
    """The progress in a body; None where it holds none, which is allowed."""
    try:
        document = json.loads(body)
    except ValueError:
        raise InvalidPayload("Invalid payload") from None
    if not isinstance(document, dict):
        raise InvalidPayload("Invalid payload")
    progress = document.get("trainerStatus")
    return None if progress is None else _checked(progress, name)


def _checked(progress: Any, name: str) -> Json:
    """The progress as an API server would store it: checked, unknown fields dropped."""
    checked = check(
        {
            "apiVersion": API_VERSION,
            "kind": TRAIN_JOB,
            "metadata": {"name": name},
            "spec": {"runtimeRef": {"name": "any"}},
            "status": {"trainerStatus": progress},
        }
    )
    wrong = [error for error in checked.errors if error.field.startswith(_BELOW)]
    if wrong:
        raise InvalidPayload("; ".join(error.detail for error in wrong))
    stored: Json = checked.stored["status"]["trainerStatus"]
    return stored
