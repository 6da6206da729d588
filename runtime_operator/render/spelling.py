"""What somebody may have meant who wrote a field that no schema knows, or a runtime that is not there.

A misspelt field is near one that is known at the same place; a misplaced one stands somewhere else under
its right name, mostly a level up or down. Anything less near is not guessed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from itertools import islice

from ..api.legacy import LEGACY_KINDS
from ..api.names import TRAIN_JOB
from ..api.node import Node, kind_node
from ..api.read import MODELS
from .plan import Object

UNKNOWN = "unknown field: correct its spelling, or remove it"
NEAR = 0.7
EVERYWHERE = ("labels", "annotations", "name", "env")
"""fields that many objects have: where one of them belongs cannot be told"""
KUBEFLOW = re.compile(r"(trainer\.)?kubeflow\.org/")
JOBS = (TRAIN_JOB, *LEGACY_KINDS)
APART = ("template", "status", "metadata", "runtimePatches")
"""what Kubernetes' own schemas fill, too wide to guess in"""


def unknown_field(kind: str, path: str) -> str:
    """Say that a field is unknown, and which one may be meant."""
    return unknown_in(kind_node(MODELS[kind]), path)


def unknown_in(root: Node, path: str) -> str:
    """Say that a field is unknown to a schema, and which one may be meant."""
    *parents, name = _steps(path) or [""]
    known = _known(root, parents)
    meant = get_close_matches(name, known, n=1, cutoff=NEAR)
    if meant and name not in known:
        return f"unknown field: did you mean {meant[0]!r}?"
    places = [] if name in EVERYWHERE else list(islice(_places(root, name), 3))
    return f"unknown field here: {name!r} belongs to {' or '.join(places)}" if places else UNKNOWN


def knows(root: Node, path: str) -> bool:
    """Whether a schema has a field at a path."""
    *parents, name = _steps(path) or [""]
    return name in _known(root, parents)


def no_job(documents: Iterable[Object], *, wanted: str = "job") -> str:
    """Say that there is no job among documents, and which kind may be meant."""
    documents = list(documents)
    kinds = dict.fromkeys(each["kind"] for each in documents)
    ours = dict.fromkeys(each["kind"] for each in documents if KUBEFLOW.match(str(each.get("apiVersion"))))
    near = [name for kind in ours for name in get_close_matches(kind, JOBS, n=1, cutoff=NEAR)]
    found = f", but {', '.join(kinds)}" if kinds else ""
    hint = f"did you mean {near[0]}?" if near else "add one, or name another file"
    return f"no {wanted} in it{found}; {hint}"


def meant_runtime(job: Object, runtimes: Iterable[Object]) -> Iterator[str]:
    """Name the runtime that a (stored) job may mean, which refers to none of these."""
    reference = job["spec"]["runtimeRef"]
    by_name = {each["metadata"]["name"]: each for each in runtimes}
    for name in get_close_matches(reference["name"], by_name, n=1, cutoff=NEAR):
        metadata = by_name[name]["metadata"]
        place = f" of namespace {metadata['namespace']!r}" if metadata.get("namespace") else ""
        yield f"spec.runtimeRef: did you mean {by_name[name]['kind']} {name!r}{place}?"


def _steps(path: str) -> list[str]:
    """`spec.jobs[0].name` in its steps; a step into a list is empty."""
    return [step or "" for step in re.findall(r"([^.\[\]]+)(?=\.|\[|$)|\[\d+\]", path)]


def _known(root: Node, parents: list[str]) -> list[str]:
    node: Node | None = root
    for step in parents:
        if node is None:
            return []
        node = node.items if step == "" else node.properties.get(step, node.extra)
    return [] if node is None else list(node.properties)


def _places(node: Node, name: str, path: str = "") -> Iterator[str]:
    """The objects of our own part of the schema that have a field of that name, nearest to the root first."""
    level = [(node, path)]
    while level:
        for each, where in level:
            if name in each.properties and where:
                yield where
        level = [
            (below, f"{where}.{key}" if where else key)
            for each, where in level
            for key, below in each.properties.items()
            if key not in APART
        ]
