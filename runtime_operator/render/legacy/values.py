"""Environment variables of one part, whose replicas share one template.

What differs between replicas comes from labels that JobSet gives each pod. A variable within a longer text
needs one of our own that holds the number; it bears a name of its own, so that it hides none of the user's.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..overlay import Object
from .parts import Layout, Part

INDEX_VARIABLE = "KFP_TRAINER_REPLICA_INDEX"
"""holds the number of a replica where another variable has it within its text"""


def text(name: str, value: object) -> Object:
    """A variable with a value."""
    return {"name": name, "value": str(value)}


def field(name: str, path: str) -> Object:
    """A variable with what a field of the pod says."""
    return {"name": name, "valueFrom": {"fieldRef": {"fieldPath": path}}}


def index_within(layout: Layout, part: Part) -> tuple[str, list[Object]]:
    """How a text names a replica's number, and the variable it needs before it."""
    if part.count == 1:
        return str(part.first), []
    return f"$({INDEX_VARIABLE})", [field(INDEX_VARIABLE, layout.index_field)]


def own_index(name: str, layout: Layout, part: Part) -> Object:
    """A variable with a replica's number within its role."""
    return text(name, part.first) if part.added else field(name, layout.index_field)


def own_rank(name: str, layout: Layout, part: Part) -> Object:
    """A variable with a replica's number within the job."""
    return text(name, layout.rank(part)) if part.added else field(name, layout.rank_field)


def literal(value: str) -> str:
    """A text in which nothing is expanded."""
    return value.replace("$(", "$$(")


def merged(own: Iterable[Object], added: Sequence[Object]) -> list[Object]:
    """The variables that a container sees: of one name the last, as in v1, where ours were appended."""
    names = {each["name"] for each in added}
    return [*(each for each in own if each.get("name") not in names), *added]
