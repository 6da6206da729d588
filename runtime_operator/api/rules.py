"""Every CEL rule of our CRDs beside the Python that decides the same.

An API server evaluates the CEL text; offline, and in admission, the predicate stands in for it, since no
CEL library is needed to run us. Texts and messages of upstream's rules are upstream's, those of JobSet's
are JobSet's; a test evaluates each text and each predicate on the same values. A predicate gets the value
and the old value; a KeyError means what "no such key" means in CEL.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from .names import MULTIKUEUE, OUR_CONTROLLER
from .wire import IMMUTABLE, Rule

Predicate = Callable[[Any, Any], bool]

NAME_FORMAT = Rule(
    "self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",
    "metadata.name must match RFC 1035 DNS label format",
)
NAME_LENGTH = Rule("size(self.metadata.name) <= 63", "metadata.name must be no more than 63 characters")
URI_FORMAT = Rule(
    "self == '' || self.matches('^[A-Za-z][A-Za-z0-9+.-]*://.+$')",
    "storageUri may be empty, or it must be a valid URI (scheme://...)",
)
MANAGED_BY = Rule(
    f"self in ['{OUR_CONTROLLER}', '{MULTIKUEUE}']",
    f"ManagedBy must be {OUR_CONTROLLER} or {MULTIKUEUE} if set",
)
STATUS_TIME = Rule("has(self.lastUpdatedTime)", "lastUpdatedTime is required when trainerStatus is present")
AT_LEAST_ONE = "self >= 1"
PROCESSES = Rule(AT_LEAST_ONE, "numProcPerNode must be greater than or equal to 1")
MPI_PROCESSES = Rule(AT_LEAST_ONE, "NumProcPerNode in mpiPolicy must be >= 1")
FLUX_PROCESSES = Rule(AT_LEAST_ONE, "NumProcPerNode in fluxPolicy must be >= 1")
TORCH_PROCESSES = Rule(
    "type(self) == int ? self >= 1 : self in ['auto', 'cpu', 'gpu']",
    "NumProcPerNode must be equal to auto, cpu, gpu, or int value",
)
ONE_POLICY = Rule(
    "[has(self.torch), has(self.mpi), has(self.jax), has(self.xgboost),has(self.flux)]"
    ".filter(x, x).size() <= 1",
    "Only one of the policy can be configured",
)
NODES_OR_ELASTIC = Rule(
    "!(has(self.numNodes) && has(self.torch) && has(self.torch.elasticPolicy))",
    "numNodes should not be set if torch.elasticPolicy is configured",
)
ELASTIC_ORDER = Rule(
    "!has(self.minNodes) || !has(self.maxNodes) || self.minNodes <= self.maxNodes",
    "minNodes is greater than maxNodes: lower minNodes or raise maxNodes",
)
ONE_GANG = Rule(
    "!(has(self.coscheduling) && has(self.volcano))",
    "coscheduling and volcano are both set and only one can schedule a job: remove one of them",
)
NOT_NODE = Rule(
    "!self.exists(c, c == 'node')",
    "containerNames must not include the main node container because PET_* envs are always injected into it",
)

OPTIONAL_AND_FIXED = ("initializer", "trainer", "activeDeadlineSeconds", "startDeadlineSeconds")
"""Fields of a TrainJob's spec that are neither changed nor added nor removed later."""
FIXED = tuple(
    Rule(f"has(self.{name}) == has(oldSelf.{name})", IMMUTABLE.message, f".{name}")
    for name in OPTIONAL_AND_FIXED
)


def _fixed(name: str) -> Predicate:
    return lambda self, old: (name in self) == (name in old)


def _torch_processes(self: Any, _: Any) -> bool:
    return self >= 1 if isinstance(self, int) else self in ("auto", "cpu", "gpu")


def _one_policy(self: Any, _: Any) -> bool:
    return sum(name in self for name in ("torch", "mpi", "jax", "xgboost", "flux")) <= 1


def _elastic_order(self: Any, _: Any) -> bool:
    return "minNodes" not in self or "maxNodes" not in self or self["minNodes"] <= self["maxNodes"]


def _no_startup_policy(self: Any, _: Any) -> bool:
    in_order = "startupPolicy" in self and self["startupPolicy"]["startupPolicyOrder"] == "InOrder"
    return not (in_order and any("dependsOn" in job for job in self["replicatedJobs"]))


def _no_namespace(self: Any, _: Any) -> bool:
    return all(not template["metadata"].get("namespace") for template in self["templates"])


NAME = re.compile(r"^[a-z]([-a-z0-9]*[a-z0-9])?\Z")
URI = re.compile(r"^[A-Za-z][A-Za-z0-9+.-]*://.+\Z")

PREDICATES: Mapping[str, Predicate] = {
    AT_LEAST_ONE: lambda self, _: bool(self >= 1),
    ELASTIC_ORDER.cel: _elastic_order,
    IMMUTABLE.cel: lambda self, old: bool(self == old),
    MANAGED_BY.cel: lambda self, _: self in (OUR_CONTROLLER, MULTIKUEUE),
    NAME_FORMAT.cel: lambda self, _: NAME.search(self["metadata"]["name"]) is not None,
    NAME_LENGTH.cel: lambda self, _: len(self["metadata"]["name"]) <= 63,
    NODES_OR_ELASTIC.cel: lambda self, _: (
        not ("numNodes" in self and "elasticPolicy" in self.get("torch", ()))
    ),
    NOT_NODE.cel: lambda self, _: "node" not in self,
    ONE_GANG.cel: lambda self, _: not ("coscheduling" in self and "volcano" in self),
    ONE_POLICY.cel: _one_policy,
    STATUS_TIME.cel: lambda self, _: "lastUpdatedTime" in self,
    TORCH_PROCESSES.cel: _torch_processes,
    URI_FORMAT.cel: lambda self, _: self == "" or URI.search(self) is not None,
    # JobSet's own, which stand in the schema of a runtime's template.
    "!(has(self.startupPolicy) && self.startupPolicy.startupPolicyOrder == 'InOrder'"
    " && self.replicatedJobs.exists(x, has(x.dependsOn)))": _no_startup_policy,
    "self.templates.all(t, !has(t.metadata.namespace) || size(t.metadata.namespace) == 0)": _no_namespace,
} | {rule.cel: _fixed(name) for rule, name in zip(FIXED, OPTIONAL_AND_FIXED, strict=True)}
"""What decides each rule, by its CEL text."""
