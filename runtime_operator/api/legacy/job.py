"""A job of an older kind as it is meant: roles in their order, defaults filled in.

v1 fills defaults in when it looks at a job and never stores them, and so do we: whoever reads the document
sees what its author wrote.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ...errors import FieldError, SpecError
from ..paths import NOT_SUPPORTED
from ..shapes import at, items, mapping, named
from .kinds import LEGACY_KINDS, LegacyKind, kind_of, managers_of
from .names import OUR_MANAGER, OUR_STAMP
from .versions import not_served, versions_of

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Role:
    """The replicas that do the same."""

    name: str
    replicas: int
    restart_policy: str
    """Always, ExitCode, Never or OnFailure"""
    template: Json

    @property
    def lower(self) -> str:
        """The name as it stands in labels and host names."""
        return self.name.lower()

    @property
    def pod(self) -> Json:
        """The pod's spec."""
        return mapping(self.template.get("spec"))

    def template_with(self, pod: Json) -> dict[str, Any]:
        """Return the template with another pod's spec."""
        metadata = at(self.template, "metadata")
        return {"metadata": dict(metadata), "spec": dict(pod)} if metadata else {"spec": dict(pod)}


@dataclass(frozen=True, slots=True)
class Scheduling:
    """How the job is to be placed."""

    min_available: int | None = None
    min_resources: Json | None = None
    queue: str = ""
    priority_class: str = ""
    timeout_seconds: int | None = None


@dataclass(frozen=True, slots=True)
class RunPolicy:
    """How the job runs and ends."""

    clean: str = "None"
    ttl_seconds: int | None = None
    deadline_seconds: int | None = None
    backoff_limit: int | None = None
    suspend: bool = False
    managed_by: str = OUR_MANAGER
    scheduling: Scheduling = Scheduling()


@dataclass(frozen=True, slots=True)
class LegacyJob:
    """One job."""

    kind: LegacyKind
    metadata: Json
    spec: Json
    roles: tuple[Role, ...]
    policy: RunPolicy

    @property
    def name(self) -> str:
        """The name within its namespace."""
        return str(self.metadata["name"])

    @property
    def namespace(self) -> str:
        """The namespace; one that is left out is `default`."""
        return str(self.metadata.get("namespace") or "default")

    @property
    def replicas(self) -> int:
        """How many pods all roles have together."""
        return sum(role.replicas for role in self.roles)

    def role(self, *names: str) -> Role | None:
        """The first of these roles that the job has."""
        return next((role for name in names for role in self.roles if role.name == name), None)


def is_legacy(document: Json) -> bool:
    """Tell whether a document is of an older kind."""
    return kind_of(document) is not None


def read_legacy(document: Json) -> LegacyJob:
    """Return a stored document as it is meant; SpecError where no older kind is served under its names."""
    kind = kind_of(document)
    if kind is None:
        detail = f"must be one of {', '.join(LEGACY_KINDS)}, got {document.get('kind')!r}"
        raise SpecError([FieldError("kind", detail, NOT_SUPPORTED)])
    if document.get("apiVersion") not in versions_of(kind.name):
        raise SpecError([FieldError("apiVersion", not_served(document), NOT_SUPPORTED, kind.name)])
    spec = at(document, "spec")
    return LegacyJob(
        kind, at(document, "metadata"), spec, _roles(kind, spec), _policy(kind, at(spec, "runPolicy"), spec)
    )


def folded(kind: LegacyKind, name: str) -> str:
    """Return the name of a role as the kind spells it."""
    if not kind.folds_roles:
        return name
    return next((known for known in kind.roles if known.lower() == name.lower()), name)


def _roles(kind: LegacyKind, spec: Json) -> tuple[Role, ...]:
    found = {folded(kind, name): mapping(role) for name, role in at(spec, kind.field).items()}
    order = {name: place for place, name in enumerate(kind.roles)}
    return tuple(
        _role(kind, name, found[name])
        for name in sorted(found, key=lambda name: (order.get(name, len(order)), name))
    )


def _role(kind: LegacyKind, name: str, role: Json) -> Role:
    replicas = role.get("replicas")
    if replicas is None:
        replicas = 0 if (kind.name, name) == ("MPIJob", "Worker") else 1
    return Role(
        name,
        int(replicas),
        str(role.get("restartPolicy") or _restart_policy(kind, name)),
        _with_port(kind, mapping(role.get("template"))),
    )


def _restart_policy(kind: LegacyKind, role: str) -> str:
    """The one of a role that names none."""
    return "OnFailure" if kind.uses_ssh and role == "Launcher" else kind.restart_policy


def _with_port(kind: LegacyKind, template: Json) -> Json:
    """The template whose main container declares the port of the framework, by name or by number."""
    pod = mapping(template.get("spec"))
    containers = [mapping(each) for each in items(pod.get("containers"))]
    if not kind.port_name or not containers:
        return template
    place = named(containers, kind.container) or 0
    ports = items(containers[place].get("ports"))
    if any(_is_the(kind, mapping(each)) for each in ports):
        return template
    port = {"name": kind.port_name, "containerPort": kind.port}
    containers[place] = {**containers[place], "ports": [*ports, port]}
    return {**template, "spec": {**pod, "containers": containers}}


def _is_the(kind: LegacyKind, port: Json) -> bool:
    """A number that is declared under another name is not declared again: lists of ports hold it once."""
    number = port.get("containerPort"), port.get("protocol", "TCP")
    return port.get("name") == kind.port_name or number == (kind.port, "TCP")


def _policy(kind: LegacyKind, policy: Json, spec: Json) -> RunPolicy:
    older = spec.get("cleanPodPolicy") if kind.uses_kubectl else None
    manager = policy.get("managedBy")
    return RunPolicy(
        clean=str(policy.get("cleanPodPolicy") or older or "None"),
        ttl_seconds=policy.get("ttlSecondsAfterFinished"),
        deadline_seconds=policy.get("activeDeadlineSeconds"),
        backoff_limit=policy.get("backoffLimit"),
        suspend=bool(policy.get("suspend")),
        managed_by=OUR_MANAGER if manager in (None, managers_of(kind)[0], OUR_STAMP) else str(manager),
        scheduling=_scheduling(at(policy, "schedulingPolicy")),
    )


def _scheduling(policy: Json) -> Scheduling:
    return Scheduling(
        min_available=policy.get("minAvailable"),
        min_resources=policy.get("minResources"),
        queue=str(policy.get("queue") or ""),
        priority_class=str(policy.get("priorityClass") or ""),
        timeout_seconds=policy.get("scheduleTimeoutSeconds"),
    )
