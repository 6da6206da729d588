"""Which pods of a job are placed all at once, as runPolicy.schedulingPolicy says.

The installation names the scheduler, for all jobs: Volcano, or one with the scheduler-plugins. What a gang
asks for is summed over as many pods as must be there, those of the most important roles first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ...api.legacy import LegacyJob, Role
from ...api.legacy.mpi import read_mpi
from ...api.shapes import at, items
from ..facts import Facts
from ..overlay import Object
from ..plan import Gang
from ..plugins.coscheduling import VERSION as COSCHEDULING_VERSION
from ..pods import GANG_LABEL
from ..quantity import total
from .installation import Installation

VOLCANO_VERSION = "scheduling.volcano.sh/v1beta1"
VOLCANO_GROUP = "scheduling.k8s.io/group-name"
VOLCANO_TASK = "volcano.sh/task-spec"
VOLCANO_QUEUE = "scheduling.volcano.sh/queue-name"
NOT_PLACED = ("", "Pending")
"""phases of Volcano's PodGroup before which no pod is made"""


def gang_marks(template: dict[str, Any], job: LegacyJob, role: Role, installation: Installation) -> Object:
    """The template with what its scheduler finds the gang by."""
    if not installation.gang_scheduler:
        return template
    metadata, spec = dict(template["metadata"]), dict(template["spec"])
    if installation.is_volcano:
        marks = {VOLCANO_GROUP: job.name, VOLCANO_TASK: role.lower}
        metadata["annotations"] = {**(metadata.get("annotations") or {}), **marks}
    else:
        metadata["labels"] = {**metadata["labels"], GANG_LABEL: job.name}
    named = "" if job.kind.uses_ssh else spec.get("schedulerName")
    spec["schedulerName"] = named or installation.scheduler_name
    return {"metadata": metadata, "spec": spec}


def plan_gang(job: LegacyJob, installation: Installation, facts: Facts) -> Gang | None:
    """Decide who is in the gang and what it asks for."""
    if not installation.gang_scheduler:
        return None
    policy = job.policy.scheduling
    roles = _at_once(job)
    least = policy.min_available
    if least is None:
        least = sum(role.replicas for role in roles)
    wanted = policy.min_resources
    resources = _summed(roles, least, facts) if wanted is None else {k: str(v) for k, v in wanted.items()}
    names = tuple(role.lower for role in roles if role.replicas)
    return Gang("volcano" if installation.is_volcano else "coscheduling", names, least, resources)


def pod_group_spec(job: LegacyJob, gang: Gang, installation: Installation) -> tuple[str, Object]:
    """The version and the spec of the PodGroup; each scheduler knows some fields only."""
    policy = job.policy.scheduling
    spec: dict[str, Any] = {"minMember": gang.min_member, "minResources": dict(gang.min_resources)}
    if installation.is_volcano:
        spec["queue"] = policy.queue or _annotated_queue(job) or "default"
        if priority := policy.priority_class or _priority_of_roles(job):
            spec["priorityClassName"] = priority
        return VOLCANO_VERSION, spec
    if policy.timeout_seconds is not None:
        spec["scheduleTimeoutSeconds"] = policy.timeout_seconds
    return COSCHEDULING_VERSION, spec


def _at_once(job: LegacyJob) -> Sequence[Role]:
    """All roles, but for a launcher that is only made when its workers are there."""
    waits = job.kind.uses_ssh and read_mpi(job).launcher_waits and job.role("Worker") is not None
    return [role for role in job.roles if role.name != "Launcher"] if waits else job.roles


def _annotated_queue(job: LegacyJob) -> str:
    return str(at(job.metadata, "annotations").get(VOLCANO_QUEUE, "")) if job.kind.uses_ssh else ""


def _priority_of_roles(job: LegacyJob) -> str:
    """The MPI Operator takes that of the pods, the launcher's first, where the policy names none."""
    named = (str(role.pod.get("priorityClassName") or "") for role in job.roles)
    return next(filter(None, named), "") if job.kind.uses_ssh else ""


def may_have_pods(group: Object | None, installation: Installation) -> bool:
    """Tell whether pods may be made, from the PodGroup there is: Volcano lets a gang into its queue first."""
    phase = str(at(group, "status").get("phase") or "")
    return not installation.is_volcano or phase not in NOT_PLACED


def _summed(roles: Sequence[Role], least: int, facts: Facts) -> dict[str, str]:
    left = least
    parts = []
    for role in sorted(roles, key=lambda role: -_priority(role, facts)):
        count = min(role.replicas, left)
        left -= count
        parts += [(asked, count) for asked in _asked(role)]
    return total((asked, count) for asked, count in parts if count)


def _asked(role: Role) -> Iterator[Object]:
    """What each container asks for: its requests, or its limits where it has none."""
    for container in items(role.pod.get("containers")):
        resources = at(container, "resources")
        yield resources.get("requests") or resources.get("limits") or {}


def _priority(role: Role, facts: Facts) -> int:
    found = facts.existing.get(("PriorityClass", str(role.pod.get("priorityClassName") or ""))) or {}
    return int(found.get("value") or 0)
