"""What a person is told of a plan: its pods, their host names, what was decided and what to know."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from ...api.legacy import Role
from ...api.names import TRAINER_STEP
from ..plan import Gang, PodSet, RawDecision
from ..pod_requests import pod_requests
from .installation import Installation
from .parts import Layout

CUT = "%s and its pods get this name, since v1's would be longer than 63 characters; labels keep the job's"

NOBODY = "no role has replicas, so the job succeeds at once without a pod"
NO_GANG = (
    "spec.runPolicy.schedulingPolicy: has no effect without a gang scheduler, which the installation names"
)


@dataclass(slots=True)
class Story:
    """Everything around the objects of a plan."""

    layout: Layout
    gang: Gang | None
    warnings: list[str] = field(default_factory=list)
    decisions: list[RawDecision] = field(default_factory=list)

    def pod_sets(self) -> tuple[PodSet, ...]:
        """The pods: one set a replicated job, all at the same time."""
        return tuple(
            PodSet(part.name, _step(part.role), part.count, pod_requests(part.role.pod), 0)
            for part in self.layout.parts
            if not part.added
        )

    def endpoints(self) -> Mapping[str, tuple[str, ...]]:
        """The host names, by pod set."""
        found = {
            part.name: tuple(self.layout.host(part.role, index) for index in part.indices)
            for part in self.layout.parts
        }
        return {} if self.layout.job.kind.uses_kubectl else found


def _step(role: Role) -> str:
    """Servers, schedulers and evaluators train nothing themselves."""
    return TRAINER_STEP if role.name in ("Chief", "Master", "Worker") else ""


def tell(layout: Layout, gang: Gang | None, installation: Installation) -> Story:
    """Write down what was decided for a job."""
    job, story = layout.job, Story(layout, gang)
    for role in job.roles:
        path = f"spec.{job.kind.field}[{role.name}]"
        story.warnings += [f"{path}{warning}" for warning in _warnings(role, installation)]
    if not job.replicas:
        story.warnings.append(f"spec.{job.kind.field}: {NOBODY}")
    if job.spec.get("runPolicy", {}).get("schedulingPolicy") and gang is None:
        story.warnings.append(NO_GANG)
    if layout.stem != job.name:
        story.decisions.append(("JobSet", layout.stem, CUT, ("the JobSet",)))
    if gang is not None:
        reason = "%s places the pods of %s all at once"
        names = " and ".join(gang.pod_sets)
        story.decisions.append(("gang", gang.min_member, reason, (gang.scheduler, names)))
    return story


def _warnings(role: Role, installation: Installation) -> Iterator[str]:
    policy, scheduler = role.restart_policy, role.pod.get("schedulerName")
    if role.pod.get("restartPolicy"):
        yield f".template.spec.restartPolicy: is overwritten by the role's restartPolicy {policy}; remove it"
    if policy == "Always":
        yield ".restartPolicy: Always restarts after a failure alone, as Jobs know no other; write OnFailure"
    if installation.gang_scheduler and scheduler not in (None, "", installation.scheduler_name):
        gang = installation.gang_scheduler
        yield f".template.spec.schedulerName: {scheduler} does not know the gang of {gang}; remove it"
