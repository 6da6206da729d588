"""Whether a job runs, restarts, has succeeded or has failed: each kind's rule, in v1's words.

The role that leads decides where there is one, else the workers do. A success that stands is not undone by
a failure seen in the same moment.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ...api.legacy import LegacyJob, Role
from .conditions import FAILED, RESTARTING, RUNNING, SUCCEEDED
from .pods import FAILED as POD_FAILED
from .pods import SUCCEEDED as POD_SUCCEEDED
from .pods import Count, Place, PodState, is_retried

Pods = Mapping[Place, PodState]
Counts = Mapping[str, Count]
EVICTED = "Evicted"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the pods say of the job."""

    type: str
    message: str
    reason: str = ""
    """what follows the kind in the reason; empty: the type"""
    job_reason: str = ""
    """the whole reason, where it is the one of a Job"""


@dataclass(frozen=True, slots=True)
class Failure:
    """The pods of one role that failed."""

    role: Role
    final: tuple[PodState, ...]
    retried: tuple[PodState, ...]


def outcome(job: LegacyJob, pods: Pods, counts: Counts) -> Outcome | None:
    """Say what the pods mean for the job; None while they do not run yet."""
    failures = list(_failures(job, pods))
    if (failure := _by_exit_code(job, failures)) is not None:
        return failure
    if _succeeded(job, pods, counts):
        who = _who(job)
        told = f"{who} successfully completed." if "/" in who else f"{who} is successfully completed."
        return Outcome(SUCCEEDED, f"{job.kind.name} {told}")
    return _after_failures(job, failures, counts) or _running(job, counts)


def lead(job: LegacyJob) -> Role | None:
    """The role that decides alone, where the job has one."""
    found = job.role("Chief", "Master", "Launcher", "Scheduler")
    return found if found is not None and found.replicas else None


def _deciding(job: LegacyJob) -> list[Role]:
    """The roles of which all must succeed: the lead, else the workers, else whoever is there."""
    first = lead(job) or job.role("Worker")
    return [first] if first is not None else list(job.roles)


def _succeeded(job: LegacyJob, pods: Pods, counts: Counts) -> bool:
    deciding = _deciding(job)
    if all(counts[role.name].succeeded >= role.replicas for role in deciding):
        return True
    if lead(job) is not None or deciding[0].name != "Worker":
        return False
    if job.kind.name == "TFJob" and not job.spec.get("successPolicy"):
        first = pods.get(("Worker", 0))
        return first is not None and first.phase == POD_SUCCEEDED and first.exit_code in (0, None)
    elastic = job.kind.name == "PyTorchJob" and job.spec.get("elasticPolicy") is not None
    return elastic and counts["Worker"].succeeded > 0


def _failures(job: LegacyJob, pods: Pods) -> Iterator[Failure]:
    for role in sorted(job.roles, key=lambda role: role.name):
        failed = [pod for pod in pods.values() if pod.role == role.name and pod.phase == POD_FAILED]
        if failed:
            final = tuple(pod for pod in failed if not is_retried(job, role, pod))
            yield Failure(role, final, tuple(pod for pod in failed if pod not in final))


def _is_dispensable(job: LegacyJob, failure: Failure) -> bool:
    """Dynamic workers come and go."""
    return failure.role.name == "Worker" and bool(job.spec.get("enableDynamicWorker"))


def _by_exit_code(job: LegacyJob, failures: list[Failure]) -> Outcome | None:
    """A permanent exit code ends the job whatever else has happened."""
    for each in failures:
        if each.final and each.role.restart_policy == "ExitCode" and job.kind.name != "MPIJob":
            return Outcome(
                FAILED, f'job "{job.name}" is failing because "{each.role.name}" replica(s) failed.'
            )
    return None


def _after_failures(job: LegacyJob, failures: list[Failure], counts: Counts) -> Outcome | None:
    failures = [each for each in failures if not _is_dispensable(job, each)]
    restarting = next((each for each in failures if each.retried), None)
    if restarting is not None and job.kind.name == "TFJob":
        return _restarting(job, restarting, counts)
    for each in failures:
        if each.final:
            return _failed(job, each, counts[each.role.name].failed)
    return None if restarting is None else _restarting(job, restarting, counts)


def _restarting(job: LegacyJob, failure: Failure, counts: Counts) -> Outcome:
    """In v1 two rules speak of it; the second one is heard where the job runs in the same moment."""
    role = failure.role.name
    own = job.kind.name in ("MPIJob", "XGBoostJob") or (job.kind.name != "TFJob" and _runs(job, counts))
    if not own:
        return Outcome(RESTARTING, f"job {job.name} is restarting because {role} replica(s) failed.")
    because = f"because {counts[role].failed} {role} replica(s) failed."
    return Outcome(RESTARTING, f"{job.kind.name} {job.name} is restarting {because}")


def _failed(job: LegacyJob, failure: Failure, number: int) -> Outcome:
    role = failure.role
    evicted = [pod for pod in failure.final if pod.evicted]
    if job.kind.name == "MPIJob" and evicted:
        told = f"{len(evicted)}/{role.replicas} {role.lower}s are evicted"
        return Outcome(FAILED, f"MPIJob {job.name} is failed because {told}.", EVICTED)
    because = f"because {number} {role.name} replica(s) failed."
    if job.kind.name == "TFJob":
        return Outcome(FAILED, f"TFJob {job.namespace}/{job.name} has failed {because}")
    return Outcome(FAILED, f"{job.kind.name} {job.name} is failed {because}")


def _running(job: LegacyJob, counts: Counts) -> Outcome | None:
    if _runs(job, counts):
        return Outcome(RUNNING, f"{job.kind.name} {_who(job)} is running.")
    return None


def _runs(job: LegacyJob, counts: Counts) -> bool:
    return any(counts[role.name].active for role in _deciding(job))


def _who(job: LegacyJob) -> str:
    """The name as the kind's messages have it: with the namespace for TFJobs, and where nobody leads."""
    short = job.kind.name != "TFJob" and lead(job) is not None
    return job.name if short else f"{job.namespace}/{job.name}"
