"""What a webhook says about a job of an older kind, once the schema has let it pass.

Texts are v1's, so that scripts that read them still do. What v1 admits although nothing good can come of it
is refused as well (docs/deviations.md, Older kinds), in our own words.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ...api.legacy import LegacyKind, kind_of
from ...api.legacy.job import folded
from ...api.legacy.kinds import managers_of
from ...api.legacy.names import CLEAN_POLICIES, OUR_STAMP, RESTART_POLICIES
from ...api.paths import FORBIDDEN, REQUIRED, invalid, not_supported
from ...api.shapes import at, items, mapping
from ...errors import FieldError
from ..admission import Verdict
from ..dns import label_faults
from .admission_mpi import mpi_errors

Json = Mapping[str, Any]
Errors = Iterator[FieldError]

DEPRECATED = "spec.elasticPolicy.nProcPerNode is deprecated, use spec.nprocPerNode instead"
MANAGED_BY = "spec.runPolicy.managedBy"
WORDS = ("auto", "cpu", "gpu")
"""what torchrun takes for a number of processes"""
SUCCESS_POLICIES = ("AllWorkers",)


def admit_legacy(job: Json, old: Json | None = None) -> Verdict:
    """Say whether a stored job may be, and what is odd about it."""
    kind = kind_of(job)
    assert kind is not None
    if kind.uses_ssh:
        errors = [*mpi_errors(kind, job), *_run_policy(kind, job, old)]
    else:
        errors = [
            *_name(job),
            *_elastic(kind, job),
            *_run_policy(kind, job, old),
            *_replicas(kind, job),
            *_words(kind, job),
        ]
    older = at(job, "spec", "elasticPolicy").get("nProcPerNode") is not None
    return Verdict(tuple(errors), (DEPRECATED,) if older and not errors else ())


def _name(job: Json) -> Errors:
    if faults := label_faults(str(job["metadata"].get("name", ""))):
        yield invalid("metadata.name", f"should match: {','.join(faults)}")


def _elastic(kind: LegacyKind, job: Json) -> Errors:
    elastic = at(job, "spec").get("elasticPolicy")
    if elastic is None or kind.name != "PyTorchJob":
        return
    path = f"spec.{kind.field}[Worker]"
    roles = at(job, "spec", kind.field)
    if "Worker" not in roles:
        yield FieldError(path, "must be configured if elastic policy is used", REQUIRED)
    if elastic.get("nProcPerNode") is not None and at(job, "spec").get("nprocPerNode") is not None:
        yield FieldError(
            "spec.elasticPolicy.nProcPerNode", "must not be used with spec.nprocPerNode", FORBIDDEN
        )


def _run_policy(kind: LegacyKind, job: Json, old: Json | None) -> Errors:
    policy = at(job, "spec", "runPolicy")
    manager, known = policy.get("managedBy"), managers_of(kind)
    if manager is not None and manager not in (*known, OUR_STAMP):
        yield not_supported(MANAGED_BY, known)
    if old is not None and at(old, "spec", "runPolicy").get("managedBy") != manager:
        yield invalid(MANAGED_BY, "field is immutable")
    clean = policy.get("cleanPodPolicy")
    if clean and clean not in CLEAN_POLICIES:
        yield not_supported("spec.runPolicy.cleanPodPolicy", CLEAN_POLICIES)


def _replicas(kind: LegacyKind, job: Json) -> Errors:
    path = f"spec.{kind.field}"
    roles = at(job, "spec", kind.field)
    for name in sorted(roles):
        yield from _role(kind, name, mapping(roles[name]), f"{path}[{name}]")
    if kind.name == "TFJob" and {folded(kind, name) for name in roles} >= {"Chief", "Master"}:
        yield FieldError(path, "must not have more than 1 Chief or Master role", FORBIDDEN)
    if kind.name == "XGBoostJob" and "Master" not in roles:
        yield FieldError(f"{path}[Master]", "must be present", REQUIRED)
    elif kind.name == "MPIJob" and "Launcher" not in roles:
        yield FieldError(
            f"{path}[Launcher]", "must be present: it starts the program on the workers", REQUIRED
        )
    elif not roles:
        yield FieldError(path, "needs at least one role, or nothing would run", REQUIRED)


def _role(kind: LegacyKind, name: str, role: Json, path: str) -> Errors:
    where = f"{path}.template.spec.containers"
    containers = items(at(role, "template", "spec").get("containers"))
    if not containers:
        yield FieldError(where, "must be specified", REQUIRED)
    if folded(kind, name) not in kind.roles or (folded(kind, name) != name and kind.name != "TFJob"):
        yield not_supported(path, kind.roles)
    for index, container in enumerate(containers):
        if not container.get("image"):
            yield FieldError(f"{where}[{index}].image", "must be required", REQUIRED)
    if kind.name != "MPIJob" and all(each.get("name") != kind.container for each in containers):
        called = f'"{kind.container}"' if kind.name == "PaddleJob" else kind.container
        yield FieldError(where, f"must have at least one container with name {called}", REQUIRED)
    yield from _count(kind, name, role, f"{path}.replicas")


def _count(kind: LegacyKind, name: str, role: Json, path: str) -> Errors:
    replicas = role.get("replicas")
    single = (kind.name, name) in (("PyTorchJob", "Master"), ("XGBoostJob", "Master"), ("MPIJob", "Launcher"))
    if replicas is None:
        return
    if single and replicas != 1:
        yield FieldError(path, "must be 1", FORBIDDEN)
    elif kind.name == "PyTorchJob" and replicas < 1:
        yield FieldError(path, "must be at least 1", FORBIDDEN)
    elif replicas < 0:
        yield invalid(path, "must not be negative; 0 means no replicas")


def _words(kind: LegacyKind, job: Json) -> Errors:
    """Words that v1 takes and nobody understands."""
    spec = at(job, "spec")
    for name, role in sorted(at(spec, kind.field).items()):
        policy = mapping(role).get("restartPolicy")
        if policy and policy not in RESTART_POLICIES:
            yield not_supported(f"spec.{kind.field}[{name}].restartPolicy", RESTART_POLICIES)
    success = spec.get("successPolicy")
    if kind.name == "TFJob" and success and success not in SUCCESS_POLICIES:
        yield not_supported("spec.successPolicy", ("", *SUCCESS_POLICIES))
    processes = spec.get("nprocPerNode")
    if processes and processes not in WORDS and not (processes.isdecimal() and int(processes)):
        yield invalid("spec.nprocPerNode", f"must be {', '.join(WORDS)} or a number of processes from 1 on")
