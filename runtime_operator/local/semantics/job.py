"""One pass over one Job, in the order of the Job controller: look, judge, act, count, conclude.

A Job that is judged stops its pods first and says so (SuccessCriteriaMet, FailureTarget); Complete or
Failed follows only when none of its pods is left running. Each pod is counted once, when it is
`tracked` no longer; one that was removed for a suspension or with its Job is never counted.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from . import deadline, job_backoff, job_success_policy, per_index
from .actions import Action, Decision, Event, ReleasePod, StopPod, WriteJobStatus, earlier
from .build_pod import is_indexed
from .conditions import with_job_condition
from .indexes import parse, write
from .job_pods import Look, Plan, plan_pods
from .model import SUCCEEDED, Backoff, Condition, Job, JobStatus, Pod, true_condition
from .pod_failure_policy import fail_job_message, is_failed, match

BACKOFF_MESSAGE = "Job has reached the specified backoff limit"
DEADLINE_MESSAGE = "Job was active longer than specified deadline"
COMPLETE_MESSAGE = "Reached expected number of succeeded pods"


@dataclass(frozen=True, slots=True)
class Verdict:
    """How the Job ends, and why."""

    success: bool
    reason: str
    message: str


def reconcile_job(job: Job, pods: tuple[Pod, ...], now: float) -> Decision:
    """What a Job does now, given its pods."""
    if job.ended:
        return Decision()
    started = job.status.started
    if started is None and not job.suspended:
        started = now
    look = _look(job, pods)
    verdict = _verdict(job, pods, look, started=started, now=now)
    if verdict is None:
        plan = plan_pods(job, look, now)
        if _is_complete(job, look, plan):
            verdict = Verdict(True, "CompletionsReached", COMPLETE_MESSAGE)
    else:
        plan = _stop_all(look)
    counted = _counted(job, look, verdict)
    status = replace(
        job.status, active=plan.active, ready=plan.ready, terminating=plan.terminating, started=started
    )
    status = _count(job, look, status, counted, verdict)
    status, events = _conclude(job, status, verdict, now)
    due = None if verdict else deadline.deadline(job, status.started)
    written = _written(job, status, look.backoff)
    releases = tuple(ReleasePod(pod.uid) for pod in counted)
    return Decision((*plan.actions, *written, *releases, *events), earlier(due, plan.look_again))


def _look(job: Job, pods: tuple[Pod, ...]) -> Look:
    """What there is to see before anything is done."""
    valid = [pod for pod in pods if pod.tracked]
    succeeded_pods = [pod for pod in valid if pod.report.phase == SUCCEEDED]
    failed_pods = [pod for pod in valid if is_failed(job, pod)]
    succeeded = {pod.index for pod in succeeded_pods if pod.index is not None}
    count = job.status.succeeded + len(succeeded_pods)
    indexes: frozenset[int] = frozenset()
    if is_indexed(job):
        indexes = parse(job.status.completed_indexes, job.spec["completions"]) | succeeded
        count = len(indexes)
    record = job.backoff
    failed_indexes: frozenset[int] = frozenset()
    if per_index.is_per_index(job):
        failed_indexes = per_index.failed_indexes(job, pods)
    else:
        record = job_backoff.next_record(record, succeeded_pods, failed_pods)
    return Look(
        pods=pods,
        active=tuple(pod for pod in pods if pod.active),
        succeeded=count,
        succeeded_indexes=indexes,
        failed=job.status.failed + sum(match(job, pod).counts for pod in failed_pods),
        failed_indexes=failed_indexes,
        backoff=record,
    )


def _verdict(
    job: Job, pods: tuple[Pod, ...], look: Look, *, started: float | None, now: float
) -> Verdict | None:
    """How the Job ends, if anything ends it before its completions are reached."""
    earlier_one = _earlier_verdict(job)
    if earlier_one:
        return earlier_one
    message = fail_job_message(job, pods)
    if message is not None:
        return Verdict(False, "PodFailurePolicy", message)
    if job_backoff.limit_is_passed(job, pods, failed=look.failed):
        return Verdict(False, "BackoffLimitExceeded", BACKOFF_MESSAGE)
    due = deadline.deadline(job, started)
    if due is not None and now >= due:
        return Verdict(False, "DeadlineExceeded", DEADLINE_MESSAGE)
    if per_index.is_per_index(job):
        why = per_index.verdict(job, failed=look.failed_indexes, succeeded=look.succeeded_indexes)
        if why:
            return Verdict(False, *why)
    rule = job_success_policy.met(job, look.succeeded_indexes)
    return Verdict(True, "SuccessPolicy", rule) if rule else None


def _earlier_verdict(job: Job) -> Verdict | None:
    """What an earlier pass has judged already."""
    for kind in ("SuccessCriteriaMet", "FailureTarget"):
        said = true_condition(job.status.conditions, kind)
        if said:
            return Verdict(kind == "SuccessCriteriaMet", said.reason, said.message)
    return None


def _stop_all(look: Look) -> Plan:
    stops: tuple[Action, ...] = tuple(StopPod(pod.uid) for pod in look.active)
    return Plan(stops, active=0, ready=0, terminating=look.terminating + len(look.active))


def _is_complete(job: Job, look: Look, plan: Plan) -> bool:
    completions = job.spec.get("completions")
    enough = look.succeeded > 0 if completions is None else look.succeeded >= completions
    return bool(enough) and plan.active == 0


def _counted(job: Job, look: Look, verdict: Verdict | None) -> list[Pod]:
    """The pods whose end is settled by this pass."""
    everything = verdict is not None or job.deleted is not None
    waiting: list[Pod] = []
    if per_index.is_per_index(job) and not everything:
        waiting = list(look.to_replace(job).values())
    tracked = [pod for pod in look.pods if pod.tracked]
    done = [pod for pod in tracked if pod.report.phase == SUCCEEDED or is_failed(job, pod)]
    return tracked if everything else [pod for pod in done if pod not in waiting]


def _count(job: Job, look: Look, status: JobStatus, counted: list[Pod], verdict: Verdict | None) -> JobStatus:
    """The counts of the Job with the pods that are settled now."""
    ends_badly = verdict is not None and not verdict.success
    failures = [
        pod
        for pod in counted
        if pod.report.phase != SUCCEEDED and (ends_badly or is_failed(job, pod)) and match(job, pod).counts
    ]
    status = replace(status, succeeded=look.succeeded, failed=status.failed + len(failures))
    if not is_indexed(job):
        return status
    failed = write(look.failed_indexes) if per_index.is_per_index(job) else None
    return replace(status, completed_indexes=write(look.succeeded_indexes), failed_indexes=failed)


def _conclude(
    job: Job, status: JobStatus, verdict: Verdict | None, now: float
) -> tuple[JobStatus, tuple[Event, ...]]:
    """The conditions after this pass, and what is to be told about them."""
    if verdict is None:
        return _suspension(job, status, now) if job.deleted is None else (status, ())
    interim = "SuccessCriteriaMet" if verdict.success else "FailureTarget"
    final = "Complete" if verdict.success else "Failed"
    why = (verdict.reason, verdict.message, now)
    conditions = with_job_condition(status.conditions, Condition(interim, "True", *why))
    if status.terminating:
        return replace(status, conditions=conditions), ()
    conditions = with_job_condition(conditions, Condition(final, "True", *why))
    told = ("Completed", "Job completed") if verdict.success else (verdict.reason, verdict.message)
    event = Event("Job", job.name, *told, warning=not verdict.success)
    return replace(status, conditions=conditions), (event,)


def _suspension(job: Job, status: JobStatus, now: float) -> tuple[JobStatus, tuple[Event, ...]]:
    """The condition Suspended, and the start that begins anew with it."""
    if job.suspended:
        new, started = Condition("Suspended", "True", "JobSuspended", "Job suspended", now), None
    else:
        new, started = Condition("Suspended", "False", "JobResumed", "Job resumed", now), now
    conditions = with_job_condition(status.conditions, new)
    if conditions is status.conditions:
        return status, ()
    event = Event("Job", job.name, "Suspended" if job.suspended else "Resumed", new.message)
    return replace(status, conditions=conditions, started=started), (event,)


def _written(job: Job, status: JobStatus, backoff: Backoff) -> tuple[Action, ...]:
    if (status, backoff) == (job.status, job.backoff):
        return ()
    return (WriteJobStatus(job.uid, status, backoff),)
