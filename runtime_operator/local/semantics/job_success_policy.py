"""A Job's successPolicy: some indexes decide, and the rest is stopped when they have succeeded."""

from __future__ import annotations

from collections.abc import Set

from .indexes import parse
from .model import Job, Json


def met(job: Job, succeeded: Set[int]) -> str | None:
    """Which rule is met, as a message."""
    if not succeeded:
        return None
    for index, rule in enumerate((job.spec.get("successPolicy") or {}).get("rules") or []):
        if _is_met(rule, succeeded, job.spec["completions"]):
            return f"Matched rules at index {index}"
    return None


def _is_met(rule: Json, succeeded: Set[int], completions: int) -> bool:
    count = rule.get("succeededCount")
    if rule.get("succeededIndexes") is None:
        return count is not None and len(succeeded) >= count
    wanted = parse(rule["succeededIndexes"], completions)
    have = len(wanted & succeeded)
    return bool(wanted) and (have == len(wanted) or (count is not None and have >= count))
