"""Why a job does not run yet, in one sentence for a person.

Only what the job's objects tell is said: that it is held back, by whom and why, which of its pods others wait
for, what keeps these from running, what the scheduler says of the gang. A job that runs, or has ended, waits
for nothing. The sentence follows from the objects alone, so a job that has nothing new to say is not written
again.
"""

from __future__ import annotations

from ..api.names import KUEUE_QUEUE_LABEL
from ..conditions import is_true
from ..render.plan import Object
from .counts import counts, not_running, replicated_jobs
from .ownership import is_suspended
from .seen import NOTHING, Seen

LONGEST = 4096


def why(job: Object, jobset: Object | None, gang: Object | None, seen: Seen = NOTHING) -> str | None:
    """Say what the job waits for; None where it runs or nothing is known yet."""
    if is_suspended(job):
        queue = (job["metadata"].get("labels") or {}).get(KUEUE_QUEUE_LABEL)
        if queue:
            said = f": {seen.queued}" if seen.queued else ""
            return f"waits until Kueue admits it to the queue {queue}{said}"
        return "is suspended; set spec.suspend to false to run it"
    if jobset is None or not counts(jobset):
        return seen.trouble
    waiting = not_running(jobset, gang)
    if not waiting:
        return None
    unmet = {
        each["name"]: [one for one in each.get("dependsOn") or () if not _is_met(one, jobset)]
        for each in waiting
    }
    free = [name for name, needs in unmet.items() if not needs]
    if not free:
        name, (need, *_) = next(iter(unmet.items()))
        return f"{name} waits until {need['name']} is {need['status'].lower()}"
    said = f": {seen.trouble}" if seen.trouble else _of_the_gang(gang)
    return f"waits until all pods of {' and '.join(free)} run{said}"


def with_why(status: Object, sentence: str | None) -> Object:
    """The status with this reason in the place of the last one."""
    kept = {key: value for key, value in status.items() if key != "why"}
    return kept if sentence is None else {**kept, "why": sentence[:LONGEST]}


def _is_met(need: Object, jobset: Object) -> bool:
    """Whether a replicated job has come as far as another waits for it."""
    replicas = {each["name"]: each.get("replicas", 1) for each in replicated_jobs(jobset)}
    reached = ("succeeded",) if need["status"] == "Complete" else ("ready", "succeeded", "failed")
    seen = {each["name"]: sum(each[count] for count in reached) for each in counts(jobset)}
    return bool(seen.get(need["name"], -1) >= replicas.get(need["name"], 1))


def _of_the_gang(gang: Object | None) -> str:
    """What the scheduler says of the pods it has not placed."""
    status = (gang or {}).get("status") or {}
    conditions = status.get("conditions") or ()
    if is_true(conditions, "Unschedulable"):
        said = next(each for each in conditions if each["type"] == "Unschedulable")
        return f"; the scheduler says: {said.get('message') or said.get('reason') or 'unschedulable'}"
    if status.get("phase") in ("Pending", "Inqueue", "PreScheduling", "Scheduling"):
        return "; the scheduler has not placed them all"
    return ""
