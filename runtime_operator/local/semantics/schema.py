"""The schema of a JobSet's spec, as JobSet 0.12 gives it to an API server.

It is the one that our runtimes embed; here a JobSet stands alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from ...api.conform import conform
from ...api.duplicates import duplicates
from ...api.invariants import invariants
from ...api.node import Node, kind_node
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
    """The spec as it is stored, without unknown fields and with the schema's defaults, and what is unknown."""
    kept, unknown = store(_spec_node(), spec)
    return kept, tuple(f"spec.{path}" for path in unknown)


def faults(spec: Any, old: Any = None) -> Iterator[FieldError]:
    """What the schema refuses, in a new JobSet or in a change of an old one."""
    yield from conform(_spec_node(), spec, old, path="spec")
    yield from duplicates(_spec_node(), spec, path="spec")
    yield from invariants(_spec_node(), spec, old, path="spec")
