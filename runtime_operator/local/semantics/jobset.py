"""One pass over the JobSet, in the order of the JobSet controller.

Finished: what still runs goes, then the JobSet by its ttl. Else: remove earlier attempts; a failed Job
decides before a successful one does; make what is missing; suspend or resume. The status is written
once, with all that the pass has changed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from . import failure_policy, restarts, startup_policy, success_policy, suspend
from .actions import Action, CreateJob, CreateService, Decision, DeleteJob, DeleteJobSet
from .draft import Draft
from .labels import has_hostnames, subdomain
from .model import ReplicatedJobStatus, State
from .owned import Owned, all_ready, count, owned_jobs
from .ttl import expires

CONTROLLER = "jobset.sigs.k8s.io/jobset-controller"


def reconcile_jobset(state: State, now: float) -> Decision:
    """What the JobSet does now."""
    if state.gone or state.deleted is not None or is_managed_elsewhere(state):
        return Decision()
    owned, draft = owned_jobs(state), Draft(state, now)
    counts = count(state, owned)
    draft.change(replicated_jobs=counts)
    if state.status.ended:
        return _after_the_end(state, owned, draft, now)
    actions: list[Action] = [*restarts.delete_previous(owned)]
    if not state.suspended and all_ready(state, counts):
        draft.set("RestartingJobSet", "False", "JobsReady", "all jobs are ready")
    if owned.failed:
        failure_policy.execute(state, owned.failed, draft)
    elif owned.successful and success_policy.is_met(state, owned):
        success_policy.complete(draft)
    else:
        actions += _work(state, owned, {each.name: each for each in counts}, draft)
    return Decision((*actions, *draft.written()))


def is_managed_elsewhere(state: State) -> bool:
    """Whether somebody else is to run it, so that nothing happens here."""
    return (state.spec.get("managedBy") or CONTROLLER) != CONTROLLER


def _after_the_end(state: State, owned: Owned, draft: Draft, now: float) -> Decision:
    """Stop what still runs; delete the JobSet when its time has come."""
    stops = tuple(DeleteJob(job.uid) for job in owned.active if job.deleted is None)
    due = expires(state)
    if due is not None and due <= now:
        return Decision((*stops, *draft.written(), DeleteJobSet()))
    return Decision((*stops, *draft.written()), due)


def _work(
    state: State, owned: Owned, counts: Mapping[str, ReplicatedJobStatus], draft: Draft
) -> Iterator[Action]:
    """Names, Jobs, suspension: what a JobSet that has not ended needs."""
    if has_hostnames(state) and subdomain(state) not in state.services:
        yield CreateService(subdomain(state))
    yield from _create_jobs(state, owned, counts, draft)
    if state.suspended:
        yield from suspend.suspend(owned, draft)
    else:
        yield from suspend.resume(state, owned, counts, draft)


def _create_jobs(
    state: State, owned: Owned, counts: Mapping[str, ReplicatedJobStatus], draft: Draft
) -> Iterator[Action]:
    """The Jobs that are missing, as far as dependsOn and startupPolicy allow."""
    in_order = startup_policy.is_in_order(state) and not state.suspended
    for replicated_job in startup_policy.whose_turn(state, counts, in_order=in_order):
        for manifest in restarts.missing_jobs(state, replicated_job, owned):
            yield CreateJob(manifest)
        if in_order:
            startup_policy.say_in_progress(draft)
            return
    if in_order:
        startup_policy.say_completed(draft)
