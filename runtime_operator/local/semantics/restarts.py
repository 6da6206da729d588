"""A restart: every Job of the attempt that failed goes, and the next attempt makes all of them again.

Recreate makes a Job as soon as its own predecessor is gone; BlockingRecreate waits for all of them, so
that no pod of the new attempt ever meets one of the old.
"""

from __future__ import annotations

from collections.abc import Iterator

from .actions import DeleteJob
from .build_job import build_job
from .draft import Draft
from .labels import job_name, replicas_of
from .model import Json, State
from .owned import Owned


def restart(draft: Draft, cause: str, message: str, *, action: str, counts: bool) -> None:
    """Begin the next attempt; Jobs with a lower attempt are then previous ones."""
    status = draft.status
    draft.change(restarts=status.restarts + 1, restarts_towards_max=status.restarts_towards_max + int(counts))
    draft.set("RestartingJobSet", "True", cause, message, warning=True)
    draft.tell(f"{action}FailurePolicyAction", message, warning=True)


def delete_previous(owned: Owned) -> tuple[DeleteJob, ...]:
    """Remove what is left of earlier attempts."""
    return tuple(DeleteJob(job.uid) for job in owned.previous if job.deleted is None)


def missing_jobs(state: State, replicated_job: Json, owned: Owned) -> Iterator[Json]:
    """Manifests of the Jobs of one replicated Job that are to be made now."""
    strategy = (state.spec.get("failurePolicy") or {}).get("restartStrategy")
    if owned.previous and strategy == "BlockingRecreate":
        return
    for index in range(replicas_of(replicated_job)):
        if job_name(state.name, replicated_job["name"], index) not in owned.names:
            yield build_job(state, replicated_job, index)
