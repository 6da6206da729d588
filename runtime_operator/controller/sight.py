"""What the pods of a job, and the answers of the API server, tell of its trouble now."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from ..kube.cache import Key
from ..render.plan import Object
from .apply_rules import Existing
from .counts import not_running
from .pod_book import PodBook
from .refusals import Refusal, standing
from .trouble import trouble_of


def trouble_in(
    book: PodBook, told: Iterable[Refusal], existing: Existing, key: Key, *, now: datetime
) -> str | None:
    """Say what keeps the pods of the JobSet from running; None where there is none, or all run."""
    jobset = existing.get(("JobSet", key[1]))
    if jobset is None or jobset["spec"].get("suspend"):
        return None
    gang: Object | None = existing.get(("PodGroup", key[1]))
    if not not_running(jobset, gang):
        return None
    pods = book.pods(key, jobset["metadata"].get("uid", ""))
    return trouble_of(pods, standing(jobset, told, pods, now=now))
