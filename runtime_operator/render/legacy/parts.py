"""The replicated jobs that the roles of a job become, and the names of what they hold.

A role is one replicated job with a Job a replica, so that each replica restarts on its own and
`kubectl logs job/NAME-worker-1` finds it. The first replica of a PaddleJob knows its own address instead of
another's, and that of a trial of Katib bears a label from the start, so these stand apart. The stem of all
names is the job's own; where that would be too long for a pod or a Service it is cut and ends in a digest,
since v1 took such names.

A JobSet cannot change its size. So replicas that are added to a running job get JobSets of their own, and the
Jobs of those that are taken away stay without pods.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256

from ...api.legacy import LegacyJob, Role
from ..dns import LABEL_LENGTH

POD_ENDING = "-0-abcde"
"""what a Job appends to its own name for a pod's"""
DIGEST_LENGTH = 8
MANY = "-9999"
"""room for numbers of replicas, so that names stay while a job grows"""
ADDED = "r"
"""the replicated job of a replica that was added"""
TRIAL = ("Trial", "kubeflow.org/v1beta1")
NOTHING: Mapping[str, int] = {}
JOB_INDEX = "metadata.labels['jobset.sigs.k8s.io/job-index']"
GLOBAL_INDEX = "metadata.labels['jobset.sigs.k8s.io/job-global-index']"


@dataclass(frozen=True, slots=True)
class Part:
    """One replicated job: some replicas of one role, from a number on."""

    role: Role
    name: str
    first: int
    count: int
    added: bool = False
    """it came after the JobSet was made, and has one of its own"""

    @property
    def indices(self) -> range:
        """The numbers of its replicas within the role."""
        return range(self.first, self.first + self.count)


@dataclass(frozen=True)
class Layout:
    """All parts of one job, in the order in which JobSet counts them."""

    job: LegacyJob
    parts: tuple[Part, ...]
    index_field: str = JOB_INDEX
    """where a pod finds its number within its part"""
    rank_field: str = GLOBAL_INDEX
    """where it finds its number within the job"""

    @cached_property
    def stem(self) -> str:
        """What every name begins with, the JobSet's above all."""
        return stem_of(self.job)

    @cached_property
    def host_stem(self) -> str:
        """What host names begin with: the job's own name wherever a Service may be called so."""
        endings = [len(f"-{role.lower}-{role.replicas - 1}") for role in self.job.roles]
        return short_name(self.job.name, max(endings, default=0))

    def host(self, role: Role, index: int = 0) -> str:
        """The name under which the other replicas find this one, within the namespace."""
        if role.name == "Launcher":
            return f"{self.host_stem}-{role.lower}"
        return f"{self.host_stem}-{role.lower}-{index}"

    def address(self, role: Role, index: str) -> str:
        """The name with the namespace, for a number that may be a text yet to be expanded."""
        return f"{self.host_stem}-{role.lower}-{index}.{self.job.namespace}.svc"

    def hosts(self, role: Role) -> list[str]:
        """The host names of all replicas of a role."""
        return [self.host(role, index) for index in range(role.replicas)]

    def places(self) -> Iterator[tuple[Part, int]]:
        """Every replica: its part, and its number within the role."""
        for part in self.parts:
            for index in part.indices:
                if index < part.role.replicas:
                    yield part, index

    def idle(self) -> Iterator[str]:
        """The Jobs of replicas that were taken away."""
        for part in self.parts:
            yield from (self.job_name(part, index) for index in part.indices if index >= part.role.replicas)

    def jobset_name(self, part: Part) -> str:
        """The JobSet that a part belongs to."""
        if not part.added:
            return self.stem
        return short_name(f"{self.stem}-{part.role.lower}-{part.first}", len(f"-{ADDED}-0{POD_ENDING}"))

    def rank(self, part: Part) -> int:
        """The number within the job of a part's first replica."""
        roles = self.job.roles
        return sum(role.replicas for role in roles[: roles.index(part.role)]) + part.first

    def job_name(self, part: Part, index: int) -> str:
        """The name of the Job that runs a replica."""
        return f"{self.jobset_name(part)}-{part.name}-{index - part.first}"


def lay_out(job: LegacyJob, made: Mapping[str, int] = NOTHING) -> Layout:
    """Split a job into parts; `made` are the replicas that its JobSet has, by part, if it has been made."""
    roles = list(job.roles)
    if job.kind.name == "MPIJob":
        roles.reverse()  # workers first: a launcher that starts before them has nobody to reach
    parts = [part for role in roles for part in (_kept(job, role, made) if made else _parts(job, role))]
    return Layout(job, tuple(parts))


def stem_of(job: LegacyJob) -> str:
    """The name of a job's JobSet."""
    names = [part.name for role in job.roles for part in _parts(job, role)]
    return short_name(job.name, max((len(f"-{name}{MANY}{POD_ENDING}") for name in names), default=0))


def short_name(name: str, rest: int) -> str:
    """The name, or what of it fits a label before so many more characters, told apart by a digest."""
    room = LABEL_LENGTH - rest
    if len(name) <= room:
        return name
    digest = sha256(name.encode()).hexdigest()[:DIGEST_LENGTH]
    return f"{name[: room - DIGEST_LENGTH - 1].rstrip('-')}-{digest}"


def leads(job: LegacyJob, role: Role, index: int) -> bool:
    """Tell whether this replica carries the label job-role: master."""
    name = job.kind.name
    if name == "MPIJob":
        return role.name == "Launcher"
    if name == "MXJob":
        return role.name == "Scheduler"
    if name in ("XGBoostJob", "PaddleJob"):
        return role.name == "Master"
    if job.role("Chief", "Master"):
        return role.name in ("Chief", "Master")
    return role.name == "Worker" and index == 0


def _parts(job: LegacyJob, role: Role) -> Iterator[Part]:
    """The parts of a role whose JobSet is yet to be made; without replicas it has none."""
    meets = job.kind.name == "PaddleJob" and role is (job.role("Master") or role)
    speaks = _is_trial(job) and leads(job, role, 0) and not leads(job, role, 1)
    first = min(role.replicas, 1) if meets or speaks else role.replicas
    for name, start, count in ((role.lower, 0, first), (f"{role.lower}-n", first, role.replicas - first)):
        if count > 0:
            yield Part(role, name, start, count)


def _is_trial(job: LegacyJob) -> bool:
    """Tell whether Katib has made the job.

    It looks for the pod that speaks for a job when pods are created. So that one needs its label by then,
    and the others of its role must not have it.
    """
    owners = job.metadata.get("ownerReferences") or ()
    return any((each.get("kind"), each.get("apiVersion")) == TRIAL for each in owners)


def _kept(job: LegacyJob, role: Role, made: Mapping[str, int]) -> Iterator[Part]:
    """The parts of a role as its JobSet has them, and one for each replica that was added."""
    total = 0
    for name in (role.lower, f"{role.lower}-n"):
        if name in made:
            yield Part(role, name, total, made[name])
            total += made[name]
    for index in range(total, role.replicas):
        yield Part(role, ADDED, index, 1, added=True)
