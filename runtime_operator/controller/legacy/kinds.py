"""The kinds that serving the older kinds takes: themselves, and what their jobs become."""

from __future__ import annotations

from ...api.legacy import LegacyKind
from ...api.legacy.names import API_VERSION, GROUP
from ...kube.resource import CONFIG_MAPS, Resource
from ...render.legacy.gang import VOLCANO_VERSION
from ...render.legacy.installation import Installation
from ...render.plugins.coscheduling import VERSION as COSCHEDULING_VERSION
from ..kinds import JOBSETS

OlderKey = tuple[str, str, str]
"""kind, namespace and name of a job"""

RBAC = "rbac.authorization.k8s.io"
SERVICES = Resource("", "v1", "services", "Service")
SERVICE_ACCOUNTS = Resource("", "v1", "serviceaccounts", "ServiceAccount")
ROLES = Resource(RBAC, "v1", "roles", "Role")
ROLE_BINDINGS = Resource(RBAC, "v1", "rolebindings", "RoleBinding")
AUTOSCALERS = Resource("autoscaling", "v2", "horizontalpodautoscalers", "HorizontalPodAutoscaler")
OF_MPI = (CONFIG_MAPS, SERVICE_ACCOUNTS, ROLES, ROLE_BINDINGS)
OF_ELASTIC = (AUTOSCALERS,)
ELASTIC = frozenset({"PyTorchJob", "PaddleJob"})


def resource_of_kind(kind: LegacyKind) -> Resource:
    """Where the jobs of a kind lie."""
    return Resource(GROUP, API_VERSION.rpartition("/")[2], kind.plural, kind.name)


def resources_for(kind: str) -> tuple[Resource, ...]:
    """What jobs of this kind become, beside a JobSet, as every cluster has it."""
    if kind == "MPIJob":
        return OF_MPI
    return (SERVICES, *OF_ELASTIC) if kind in ELASTIC else (SERVICES,)


def pod_groups(installation: Installation) -> Resource | None:
    """The scheduler's PodGroups, where jobs are gangs."""
    if not installation.gang_scheduler:
        return None
    version = VOLCANO_VERSION if installation.is_volcano else COSCHEDULING_VERSION
    group, _, version = version.rpartition("/")
    return Resource(group, version, "podgroups", "PodGroup")


OWNED = {(each.api_version, each.kind): each for each in (JOBSETS, SERVICES, AUTOSCALERS, *OF_MPI)}
"""where each object of a plan is written, but for PodGroups"""
