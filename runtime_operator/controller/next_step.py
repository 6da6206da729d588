"""What happens next to a TrainJob: one decision from what is there, without doing anything.

The controller looks (the job, what exists, the time), asks here, and does what the answer says: apply,
delete, write the status, come back later. Asking again about an unchanged world gives the same answer,
so that whatever was not done the first time is done the next: a deadline's deletion above all.

    being deleted, or another's to run        nothing
    has ended                                 nothing is built again; what it held is let go; TTL
    was cancelled                             Failed, and the JobSet goes
    its time is over                          Failed, and the JobSet goes
    a namesake's objects are in the way       wait until they are gone
    cannot be built yet                       tried again: no runtime yet, no certificate of the operator yet
    cannot be built                           Failed if it never ran; told in an event if it runs
    else                                      apply, and come back at the next deadline
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from ..api.names import (
    EVENT_CREATION_FAILED,
    FAILED,
    REASON_CANCELLED,
    REASON_DEADLINE,
    REASON_RUNTIME_INVALID,
    REASON_START_DEADLINE,
)
from ..conditions import find, is_finished
from ..errors import KfpTrainerError, Retryable, SetupError, SpecError
from ..render import snapshot
from ..render.framework import Terminal
from ..render.plan import Object, Plan
from ..render.registry import end_of
from . import deadlines
from .apply_rules import Existing, existing_like, to_apply
from .ownership import is_cancelled, is_left_over, is_managed_elsewhere, is_ours, is_owned, is_suspended
from .seen import NOTHING, Seen
from .status import fail, observe
from .waiting import why, with_why

ENDED_BY_US = (REASON_CANCELLED, REASON_DEADLINE, REASON_START_DEADLINE)
CANCELLED = "cancelled by a person"
LONGEST_EVENT = 1024  # an API server takes no more
NAMESAKE = "waits until a deleted TrainJob of the same name is gone"
SETUP_AGAIN_AFTER = 30.0  # seconds; until then somebody may have mended the installation
NAMESAKE_GONE_AFTER = 5.0  # seconds; garbage collection takes about as long


@dataclass(frozen=True, slots=True)
class Event:
    """One line for `kubectl describe`."""

    reason: str
    message: str
    type: str = "Warning"


@dataclass(frozen=True, slots=True)
class NextStep:
    """What to do now. A status of None is not ours to write."""

    apply: tuple[Object, ...] = ()
    delete: tuple[Object, ...] = ()
    status: Object | None = None
    requeue_after: float | None = None
    events: tuple[Event, ...] = ()


def next_step(
    job: Object, existing: Existing, build: Callable[[], Plan], *, now: datetime, seen: Seen = NOTHING
) -> NextStep:
    """Decide what to do about a job; `build` is asked for its plan only where one is needed."""
    if job["metadata"].get("deletionTimestamp") or is_managed_elsewhere(job):
        return NextStep()
    jobset, gang = _own("JobSet", job, existing), _own("PodGroup", job, existing)
    children = [each for each in existing.values() if each is jobset or is_owned(each, job)]
    status = observe(job, jobset, gang, _explained(end_of(job, children), seen), now=now)
    if is_finished(status.get("conditions", ())):
        return _after_the_end(job, existing, with_why(status, None), now=now)
    waits = why(job, jobset, gang, seen)
    if is_cancelled(job):
        failed = fail(status, reason=REASON_CANCELLED, message=CANCELLED, now=now)
        return _after_the_end(job, existing, with_why(failed, None), now=now)
    due = deadlines.deadlines(job, status)
    if due and due[0].at <= now:
        return _after_the_end(job, existing, _out_of_time(status, due[0], waits, now=now), now=now)
    status = with_why(status, waits)
    wait = (due[0].at - now).total_seconds() if due else None
    return _go_on(job, existing, build, status, wait, now=now)


def _explained(end: Terminal | None, seen: Seen) -> Terminal | None:
    """A bad end, with what the first pod died of."""
    if end is None or end.type != FAILED or not seen.cause:
        return end
    return replace(end, message=f"{end.message}: {seen.cause}")


def _out_of_time(status: Object, due: deadlines.Deadline, waits: str | None, *, now: datetime) -> Object:
    """Failed; a job that never got its pods says what it waited for."""
    reason = f": {waits}" if waits and due.reason == REASON_START_DEADLINE else ""
    return with_why(fail(status, reason=due.reason, message=due.message + reason, now=now), None)


def _own(kind: str, job: Object, existing: Existing) -> Object | None:
    found = existing.get((kind, job["metadata"]["name"]))
    return found if found is not None and is_ours(found, job) else None


def _after_the_end(job: Object, existing: Existing, status: Object, *, now: datetime) -> NextStep:
    """A gang reserves nothing any more, a job that we have ended stops, and a TTL counts down."""
    delete = _let_go("PodGroup", job, existing)
    failed = find(status["conditions"], FAILED)
    if failed is not None and failed["reason"] in ENDED_BY_US:
        delete += _let_go("JobSet", job, existing)
    cleared_at = deadlines.cleared_at(job, status)
    if cleared_at is None:
        return NextStep(delete=delete, status=status)
    if cleared_at <= now:
        return NextStep(delete=(*delete, job), status=status)
    return NextStep(delete=delete, status=status, requeue_after=(cleared_at - now).total_seconds())


def _go_on(
    job: Object,
    existing: Existing,
    build: Callable[[], Plan],
    status: Object,
    wait: float | None,
    *,
    now: datetime,
) -> NextStep:
    gang = _let_go("PodGroup", job, existing)
    in_the_way = [each for each in _in_its_place(job, existing) if not is_ours(each, job)]
    if in_the_way:
        said = _blocked_by(in_the_way, job)
        event = Event("WaitingForNamesake", said, "Normal")
        again = _sooner(wait, NAMESAKE_GONE_AFTER)
        return NextStep(delete=gang, status=with_why(status, said), requeue_after=again, events=(event,))
    resting = gang if is_suspended(job) else ()
    try:
        plan = build()
    except (Retryable, SetupError) as error:
        again = _sooner(wait, getattr(error, "after", SETUP_AGAIN_AFTER))
        status = with_why(status, f"cannot be built yet: {_in_one_line(error)}")
        return NextStep(delete=resting, status=status, requeue_after=again, events=(_event(error),))
    except SpecError as error:
        if _own("JobSet", job, existing) is None:
            failed = fail(status, reason=REASON_RUNTIME_INVALID, message=_in_one_line(error), now=now)
            status = with_why(failed, None)
        else:
            status = with_why(status, f"stays as it is, since it cannot be built: {_in_one_line(error)}")
        return NextStep(delete=resting, status=status, requeue_after=wait, events=(_event(error),))
    return NextStep(
        apply=to_apply(plan.objects, job, existing),
        delete=_unwanted_gang(plan, job, existing),
        status=status,
        requeue_after=wait,
    )


def _in_its_place(job: Object, existing: Existing) -> tuple[Object, ...]:
    """What stands where the job's JobSet and snapshot belong."""
    name = job["metadata"]["name"]
    places = (("JobSet", name), ("ConfigMap", name + snapshot.SUFFIX))
    return tuple(existing[place] for place in places if place in existing)


def _blocked_by(in_the_way: Sequence[Object], job: Object) -> str:
    """What has to go first, and whether somebody has to do it."""
    left = [f"{each['kind']} {each['metadata']['name']}" for each in in_the_way if is_left_over(each, job)]
    if not left:
        return NAMESAKE
    is_, belongs, it = ("are", "belong", "them") if len(left) > 1 else ("is", "belongs", "it")
    names = " and ".join(left)
    return f"waits until {names} of before {is_} deleted, which {belongs} to nobody: delete {it} by hand"


def _let_go(kind: str, job: Object, existing: Existing) -> tuple[Object, ...]:
    """The job's object of that kind, to be deleted, unless it is on its way out."""
    held = _own(kind, job, existing)
    return () if held is None or held["metadata"].get("deletionTimestamp") else (held,)


def _unwanted_gang(plan: Plan, job: Object, existing: Existing) -> tuple[Object, ...]:
    """The PodGroup of a job that rests, or whose plan has none: it would reserve room for nobody."""
    wanted = [existing_like(each, existing) for each in plan.objects]
    return tuple(each for each in _let_go("PodGroup", job, existing) if each not in wanted)


def _sooner(one: float | None, other: float) -> float:
    return other if one is None else min(one, other)


def _event(error: KfpTrainerError) -> Event:
    message = f"TrainJob resources reconciliation failed: {_in_one_line(error)}"
    return Event(EVENT_CREATION_FAILED, message[:LONGEST_EVENT])


def _in_one_line(error: KfpTrainerError) -> str:
    return "; ".join(str(error).splitlines())
