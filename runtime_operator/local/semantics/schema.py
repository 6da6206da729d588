"""The schema of a JobSet's spec, as JobSet 0.12 gives it to an API server.

It is the one that our runtimes embed; here a JobSet stands alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from ...api.check import BLOCKING, UNCHECKED
from ...api.conform import conform
from ...api.duplicates import duplicates
from ...api.invariants import invariants
from ...api.metadata import metadata_errors
from ...api.node import Node, kind_node
from ...api.paths import invalid
from ...api.runtime import TrainingRuntime
from ...api.store import store
from ...errors import FieldError

API_VERSION, KIND = "jobset.x-k8s.io/v1alpha2", "JobSet"


@cache
def _spec_node() -> Node:
    """The spec of a JobSet, found inside a runtime."""
    node = kind_node(TrainingRuntime, compat="upstream")
    for step in ("spec", "template", "spec"):
        node = node.properties[step]
    return node


def stored(spec: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The spec as it is stored, with the schema's defaults, and the paths of what it does not know."""
    kept, unknown = store(_spec_node(), spec)
    return kept, tuple(f"spec.{path}" for path in unknown)


def faults(jobset: Mapping[str, Any], old: Mapping[str, Any] | None = None) -> tuple[FieldError, ...]:
    """What the schema refuses, in a new JobSet or in a change of an old one."""
    spec, before = jobset["spec"], None if old is None else old["spec"]
    found = [*metadata_errors(jobset), *conform(_spec_node(), spec, before, path="spec")]
    found += duplicates(_spec_node(), spec, path="spec")
    if any(error.type in BLOCKING for error in found):
        return (*found, invalid("", UNCHECKED))
    return (*found, *invariants(_spec_node(), spec, before, path="spec"))
