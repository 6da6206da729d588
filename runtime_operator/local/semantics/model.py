"""What there is: one JobSet, its Jobs, their pods, and what is known of each.

Values only. Whoever runs the pods keeps one `State`, hands it in with the time and gets the next one
back; nothing here reads a clock, a file or a process. Kubernetes' own objects stay plain dicts, since
a template may hold fields that nobody here knows; what the rules count and decide on is typed.
Times are seconds on whatever clock the caller uses.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

Json = dict[str, Any]

PENDING, RUNNING, SUCCEEDED, FAILED = "Pending", "Running", "Succeeded", "Failed"


@dataclass(frozen=True, slots=True)
class Condition:
    """One condition of a JobSet or a Job."""

    type: str
    status: str
    reason: str = ""
    message: str = ""
    since: float = 0.0
    """when its status last changed"""


@dataclass(frozen=True, slots=True)
class PodReport:
    """What the one who runs a pod says of it, as a kubelet posts a pod's status."""

    phase: str = PENDING
    ready: bool = False
    restarts: tuple[tuple[str, int], ...] = ()
    """restarts in place by container, init containers too"""
    exits: tuple[tuple[str, int], ...] = ()
    """exit codes by container, of those that have ended for good; main containers first"""
    conditions: tuple[tuple[str, str], ...] = ()
    """further conditions by type and status, as DisruptionTarget of an evicted pod"""
    finished: float | None = None
    """when the last container ended"""


@dataclass(frozen=True, slots=True)
class Pod:
    """One pod of a Job, for one attempt at one index."""

    uid: str
    name: str
    job: str
    """name of its Job"""
    job_uid: str
    index: int | None
    """completion index; None where the Job is not Indexed"""
    manifest: Json
    created: float
    report: PodReport = PodReport()
    deleted: float | None = None
    """since when it has been told to stop"""
    tracked: bool = True
    """its end is not yet in the counts of its Job"""
    failures: int = 0
    """failures at this index that counted, before this pod"""
    ignored: int = 0
    """failures at this index that a rule ignored, before this pod"""

    @property
    def ended(self) -> bool:
        """Whether all of it has ended."""
        return self.report.phase in (SUCCEEDED, FAILED)

    @property
    def active(self) -> bool:
        """Whether it runs, or is about to, and nobody has told it to stop."""
        return not self.ended and self.deleted is None

    @property
    def terminating(self) -> bool:
        """Whether it has been told to stop and has not stopped."""
        return not self.ended and self.deleted is not None


@dataclass(frozen=True, slots=True)
class JobStatus:
    """The status of a Job, as batch/v1 has it."""

    active: int = 0
    ready: int = 0
    terminating: int = 0
    succeeded: int = 0
    failed: int = 0
    completed_indexes: str = ""
    failed_indexes: str | None = None
    conditions: tuple[Condition, ...] = ()
    started: float | None = None


@dataclass(frozen=True, slots=True)
class Backoff:
    """How often pods of a Job have failed since one last succeeded, and when the last one did."""

    failures: int = 0
    last: float | None = None


@dataclass(frozen=True, slots=True)
class Job:
    """One Job of the JobSet."""

    uid: str
    name: str
    manifest: Json
    created: float
    status: JobStatus = JobStatus()
    backoff: Backoff = Backoff()
    deleted: float | None = None
    """since when it goes: its pods stop first, then it is gone"""

    @property
    def spec(self) -> Json:
        """Its spec, defaults filled in."""
        spec: Json = self.manifest["spec"]
        return spec

    @property
    def labels(self) -> dict[str, str]:
        """Its labels."""
        labels: dict[str, str] = self.manifest["metadata"]["labels"]
        return labels

    @property
    def suspended(self) -> bool:
        """Whether it is told to have no pods."""
        return bool(self.spec["suspend"])

    @property
    def ended(self) -> Condition | None:
        """The condition Complete or Failed, once it is true."""
        return true_condition(self.status.conditions, "Complete") or true_condition(
            self.status.conditions, "Failed"
        )


@dataclass(frozen=True, slots=True)
class ReplicatedJobStatus:
    """How many Jobs of one replicated Job are in which state."""

    name: str
    ready: int = 0
    succeeded: int = 0
    failed: int = 0
    active: int = 0
    suspended: int = 0


@dataclass(frozen=True, slots=True)
class JobSetStatus:
    """The status of the JobSet."""

    conditions: tuple[Condition, ...] = ()
    restarts: int = 0
    restarts_towards_max: int = 0
    terminal_state: str = ""
    replicated_jobs: tuple[ReplicatedJobStatus, ...] = ()

    @property
    def ended(self) -> Condition | None:
        """The condition Completed or Failed, once it is true."""
        return true_condition(self.conditions, "Completed") or true_condition(self.conditions, "Failed")


@dataclass(frozen=True, slots=True)
class State:
    """All there is of one JobSet."""

    jobset: Json
    """metadata and spec, after admission"""
    status: JobSetStatus = JobSetStatus()
    jobs: tuple[Job, ...] = ()
    pods: tuple[Pod, ...] = ()
    services: tuple[str, ...] = ()
    deleted: float | None = None
    """since when it goes: its Jobs first, then it is gone"""
    gone: bool = False
    serial: int = 0
    """how many Jobs and pods have been made so far; uids come from it"""

    @property
    def name(self) -> str:
        """Name of the JobSet."""
        return str(self.jobset["metadata"]["name"])

    @property
    def namespace(self) -> str:
        """Namespace of the JobSet."""
        return str(self.jobset["metadata"].get("namespace", "default"))

    @property
    def spec(self) -> Json:
        """Spec of the JobSet."""
        spec: Json = self.jobset["spec"]
        return spec

    @property
    def replicated_jobs(self) -> list[Json]:
        """The replicated Jobs, in their order."""
        return list(self.spec.get("replicatedJobs") or [])

    @property
    def suspended(self) -> bool:
        """Whether the JobSet is told to run nothing."""
        return bool(self.spec.get("suspend"))

    def pods_of(self, job: Job) -> tuple[Pod, ...]:
        """The pods of one Job, in the order in which they were made."""
        return tuple(pod for pod in self.pods if pod.job_uid == job.uid)


def true_condition(conditions: tuple[Condition, ...], kind: str) -> Condition | None:
    """The condition of that type if it is true."""
    return next((c for c in conditions if c.type == kind and c.status == "True"), None)
