"""Whose turn it is: dependsOn lets a replicated Job begin, and startupPolicy InOrder one after another.

With InOrder a replicated Job begins when all Jobs of the one before are ready.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from . import depends_on
from .draft import Draft
from .labels import replicas_of
from .model import Json, ReplicatedJobStatus, State


def is_in_order(state: State) -> bool:
    """Whether the replicated Jobs begin one after another."""
    return (state.spec.get("startupPolicy") or {}).get("startupPolicyOrder") == "InOrder"


def whose_turn(state: State, counts: Mapping[str, ReplicatedJobStatus], *, in_order: bool) -> Iterator[Json]:
    """The replicated Jobs that may begin; with InOrder only those that have not, the first of them next."""
    seen: dict[str, Json] = {}
    for replicated_job in state.replicated_jobs:
        name = replicated_job["name"]
        seen[name] = replicated_job
        waits = not depends_on.is_met(replicated_job, seen, counts)
        if waits or (in_order and has_started(replicated_job, counts[name])):
            continue
        yield replicated_job


def has_started(replicated_job: Json, count: ReplicatedJobStatus) -> bool:
    """Whether all its Jobs are ready, or have ended in whatever way."""
    return replicas_of(replicated_job) == count.failed + count.ready + count.succeeded


def say_in_progress(draft: Draft) -> None:
    """The next one waits."""
    message = "in order startup policy is in progress"
    draft.set("StartupPolicyInProgress", "True", "InOrderStartupPolicyInProgress", message)


def say_completed(draft: Draft) -> None:
    """All have begun."""
    message = "in order startup policy has completed"
    draft.set("StartupPolicyCompleted", "True", "InOrderStartupPolicyCompleted", message)
