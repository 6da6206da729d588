"""What a webhook says about an MPIJob of v2beta1: the MPI Operator's checks, which it tells in an event only.

Its texts are kept. What it lets pass although nothing good can come of it is refused as for the other kinds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ...api.legacy import LegacyKind
from ...api.legacy.schema import legacy_node
from ...api.paths import REQUIRED, invalid, not_supported
from ...api.shapes import at, items, mapping
from ...errors import FieldError
from ..dns import label_faults

Json = Mapping[str, Any]
Errors = Iterator[FieldError]

RESTART_POLICIES = ("Never", "OnFailure")
LEAST = "must be greater than or equal to %d"
LIMITS = ("ttlSecondsAfterFinished", "activeDeadlineSeconds", "backoffLimit")


def mpi_errors(kind: LegacyKind, job: Json) -> Errors:
    """Tell everything for which a stored job may not be."""
    spec, roles = at(job, "spec"), at(job, "spec", kind.field)
    yield from _name(str(job["metadata"].get("name", "")), mapping(roles.get("Worker")))
    path = f"spec.{kind.field}"
    if "Launcher" not in roles:
        yield FieldError(f"{path}[Launcher]", "must have Launcher replica spec", REQUIRED)
    for name in sorted(roles):
        yield from _role(kind, name, mapping(roles[name]), f"{path}[{name}]")
    yield from _not_negative(spec, "spec", ("slotsPerWorker",))
    yield from _not_negative(at(spec, "runPolicy"), "spec.runPolicy", LIMITS)


def _name(name: str, worker: Json) -> Errors:
    last = f"{name}-worker-{max(worker.get('replicas') or 1, 1) - 1}"
    if faults := label_faults(last):
        why = f'will not able to create pod and service with invalid DNS label "{last}": {", ".join(faults)}'
        yield invalid("metadata.name", why)


def _role(kind: LegacyKind, name: str, role: Json, path: str) -> Errors:
    if name not in kind.roles:
        yield not_supported(path, kind.roles)
    policy, replicas = role.get("restartPolicy"), role.get("replicas")
    if policy and policy not in RESTART_POLICIES:
        yield not_supported(f"{path}.restartPolicy", RESTART_POLICIES)
    if name == "Launcher" and replicas not in (None, 1):
        yield invalid(f"{path}.replicas", "must be 1")
    if name == "Worker" and (replicas or 0) < 1:
        yield invalid(f"{path}.replicas", LEAST % 1)
    where = f"{path}.template.spec.containers"
    containers = items(at(role, "template", "spec").get("containers"))
    if not containers:
        yield FieldError(where, "must define at least one container", REQUIRED)
    for index, container in enumerate(containers):
        if not container.get("image"):
            yield FieldError(f"{where}[{index}].image", "must be required", REQUIRED)


def _not_negative(values: Json, path: str, names: tuple[str, ...]) -> Errors:
    for name in names:
        if (values.get(name) or 0) < 0:
            yield invalid(f"{path}.{name}", LEAST % 0)


def fields_of_others(kind: LegacyKind, job: Json) -> Iterator[str]:
    """Warn of fields that the other version has: an API server lets them pass, since it stores both alike."""
    known = legacy_node(kind).properties["spec"].properties
    for name in at(job, "spec"):
        if name not in known:
            yield f"spec.{name}: {kind.api_version} has no such field, so it has no effect; remove it"
