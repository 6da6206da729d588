"""successPolicy: Any needs one complete Job of the targets, All needs every one of them."""

from __future__ import annotations

from .draft import Draft
from .labels import replicas_of
from .model import State
from .owned import Owned, parent

MESSAGE = "jobset completed successfully"


def is_met(state: State, owned: Owned) -> bool:
    """Whether enough Jobs of the targets are complete."""
    policy = state.spec.get("successPolicy") or {}
    targets = policy.get("targetReplicatedJobs") or [each["name"] for each in state.replicated_jobs]
    complete = sum(parent(job) in targets for job in owned.successful)
    if policy.get("operator", "All") == "Any":
        return complete >= 1
    return complete >= sum(replicas_of(each) for each in state.replicated_jobs if each["name"] in targets)


def complete(draft: Draft) -> None:
    """The JobSet has succeeded."""
    draft.set("Completed", "True", "AllJobsCompleted", MESSAGE)
    draft.set("RestartingJobSet", "False", "JobSetCompleted", MESSAGE)
    draft.change(terminal_state="Completed")
