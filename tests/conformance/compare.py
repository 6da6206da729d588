"""Whether two answers mean the same to a cluster, and if not, on which paths they differ.

Kubernetes does not tell a missing field from an empty one, a list with keys from a map, or `1` from
`1000m`; nor do we. A path is the kind of the object and the keys down to the field, as in
`JobSet.spec.replicatedJobs.node.template.spec.template.spec.containers.node.env.PET_NNODES.value`.
A case lists globs over such paths on which a deviation is meant (`mayDiffer`); all others count.
"""

from __future__ import annotations

import fnmatch
import itertools
import re
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

import yaml

from tests.recorded_cases import Difference

KEY_FIELDS = {
    "volumeMounts": "mountPath",
    "ports": "containerPort",
    "conditions": "type",
    "targets": "jobName",
}
ORDER_COUNTS = frozenset({"containers", "initContainers", "replicatedJobs"})
GIVEN_BY_THE_SERVER = frozenset(
    {"resourceVersion", "uid", "creationTimestamp", "managedFields", "generation"}
)
HOLDS_QUANTITIES = re.compile(r"\.(limits|requests|minResources|overhead|capacity)\.|\.(sizeLimit|divisor)$")
QUANTITY = re.compile(r"([+-]?[\d.]+(?:[eE][+-]?\d+)?)([a-zA-Z]*)")
DECIMAL = {
    suffix: Fraction(1000) ** power for power, suffix in enumerate(["n", "u", "m", "", *"kMGTPE"], start=-3)
}
BINARY = {f"{letter}i": Fraction(1024) ** power for power, letter in enumerate("KMGTPE", start=1)}
FACTORS = DECIMAL | BINARY


def compare(case: Mapping[str, Any], answer: Any) -> list[Difference]:
    """List every path on which the answer to a case differs from what upstream said."""
    got = answer if isinstance(answer, dict) else {"objects": answer}
    want = case["expect"]
    found = [*_errors(want, got)]
    if "status" in want:
        told = ({key: side.get(key) for key in ("status", "jobSetExists")} for side in (want, got))
        return [*found, *_differ(*told, "TrainJob")]
    return [*found, *_objects(want, got)]


def faults(case: Mapping[str, Any], answer: Any) -> list[Difference]:
    """List the differences that the case does not allow."""
    meant = case.get("mayDiffer", [])
    return [d for d in compare(case, answer) if not any(fnmatch.fnmatchcase(d.path, glob) for glob in meant)]


def _errors(want: Mapping[str, Any], got: Mapping[str, Any]) -> Iterator[Difference]:
    wants, gots = (
        {(error.get("field") or "", error.get("detail") or "") for error in side.get("errors") or []}
        for side in (want, got)
    )
    yield from (Difference(f"errors.{field}", detail, None) for field, detail in sorted(wants - gots))
    yield from (Difference(f"errors.{field}", None, detail) for field, detail in sorted(gots - wants))


def _objects(want: Mapping[str, Any], got: Mapping[str, Any]) -> Iterator[Difference]:
    wants, gots = ({_identity(each): each for each in side.get("objects") or []} for side in (want, got))
    for identity in sorted(wants.keys() | gots.keys()):
        kind, name = identity[1], identity[3]
        if identity in wants and identity in gots:
            yield from _differ(_comparable(wants[identity]), _comparable(gots[identity]), kind)
        else:
            yield Difference(
                kind, *(f"an object {name}" if identity in side else None for side in (wants, gots))
            )


def _identity(document: Mapping[str, Any]) -> tuple[str, str, str, str]:
    metadata = document.get("metadata", {})
    return (
        document.get("apiVersion", ""),
        document.get("kind", ""),
        metadata.get("namespace", ""),
        metadata.get("name", ""),
    )


def _comparable(document: Mapping[str, Any]) -> dict[str, Any]:
    """A Secret by the names of its keys, since their values are random; anything else as it is."""
    if document.get("kind") != "Secret":
        return dict(document)
    keys = sorted((document.get("data") or {}).keys() | (document.get("stringData") or {}).keys())
    return {**{k: v for k, v in document.items() if k != "stringData"}, "data": keys}


def _differ(want: Any, got: Any, path: str) -> Iterator[Difference]:
    if _is_empty(want) and _is_empty(got):
        return
    if isinstance(want, str) and want.startswith("<any"):
        if _is_empty(got):
            yield Difference(path, "something", got)
    elif isinstance(want, dict) and "<contains>" in want:
        missing = (part for part in want["<contains>"] if part not in str(got))
        yield from (Difference(path, f"text with {part!r}", "text without it") for part in missing)
    elif isinstance(want, dict) and isinstance(got, dict):
        yield from _differ_in_fields(want, got, path)
    elif isinstance(want, list) and isinstance(got, list):
        yield from _differ_in_items(want, got, path)
    elif not _same_value(want, got, path):
        yield from _differ_in_text(want, got, path)


def _is_empty(value: Any) -> bool:
    return value is None or (isinstance(value, (str, list, dict)) and not value)


def _differ_in_fields(want: dict[str, Any], got: dict[str, Any], path: str) -> Iterator[Difference]:
    for key in sorted(want.keys() | got.keys(), key=str):
        if key == "protocol" and {want.get(key, "TCP"), got.get(key, "TCP")} == {"TCP"}:
            continue
        yield from _differ(want.get(key), got.get(key), f"{path}.{key}")


def _differ_in_items(want: list[Any], got: list[Any], path: str) -> Iterator[Difference]:
    want_keys, got_keys = _keys(want, path), _keys(got, path)
    if want_keys is None or got_keys is None:
        for index, (one, other) in enumerate(itertools.zip_longest(want, got)):
            yield from _differ(one, other, f"{path}.{index}")
        return
    wants, gots = dict(zip(want_keys, want, strict=True)), dict(zip(got_keys, got, strict=True))
    for key in [*want_keys, *(key for key in got_keys if key not in wants)]:
        if key in wants and key in gots:
            yield from _differ(wants[key], gots[key], f"{path}.{key}")
        else:
            yield Difference(f"{path}.{key}", wants.get(key), gots.get(key))
    yield from _differ_in_order(wants, gots, path)


def _keys(items: list[Any], path: str) -> list[Any] | None:
    """The keys by which a list is a map; None where its order is all it has."""
    if not items or not all(isinstance(item, dict) for item in items):
        return None
    field = KEY_FIELDS.get(_last(path), "name")
    keys = [item.get(field) for item in items]
    if field == "containerPort":
        keys = [f"{key}/{item.get('protocol', 'TCP')}" for key, item in zip(keys, items, strict=True)]
    return None if None in keys or len(set(keys)) < len(keys) else keys


def _last(path: str) -> str:
    return path.rsplit(".", 1)[-1]


def _differ_in_order(wants: dict[Any, Any], gots: dict[Any, Any], path: str) -> Iterator[Difference]:
    shared = [[key for key in side if key in other] for side, other in ((wants, gots), (gots, wants))]
    if _last(path) in ORDER_COUNTS and shared[0] != shared[1]:
        yield Difference(path, list(wants), list(gots))
    if _last(path) == "env":
        theirs, ours = (_references(list(side.values())) for side in (wants, gots))
        if any(ours.get(pair, before) != before for pair, before in theirs.items()):
            yield Difference(path, f"references in this order: {list(wants)}", list(gots))


def _references(env: list[dict[str, Any]]) -> dict[tuple[str, str], bool]:
    """For each variable X that the value of Y mentions as $(X): whether X stands before Y."""
    place = {variable["name"]: index for index, variable in enumerate(env)}
    return {
        (name, variable["name"]): place[name] < place[variable["name"]]
        for variable in env
        for name in re.findall(r"\$\(([^)]+)\)", str(variable.get("value", "")))
        if name in place
    }


def _same_value(want: Any, got: Any, path: str) -> bool:
    if HOLDS_QUANTITIES.search(path) and all(type(side) in (str, int, float) for side in (want, got)):
        return _amount(want) == _amount(got)
    return bool(want == got) and isinstance(want, bool) == isinstance(got, bool)


def _amount(value: str | float) -> Fraction | str | float:
    match = QUANTITY.fullmatch(str(value))
    return Fraction(match[1]) * FACTORS[match[2]] if match and match[2] in FACTORS else value


def _differ_in_text(want: Any, got: Any, path: str) -> Iterator[Difference]:
    """The snapshot of a runtime is a text that holds an object, and is compared as one."""
    if path.endswith("data.runtime") and isinstance(want, str) and isinstance(got, str):
        pair = (_snapshot(want), _snapshot(got))
        if isinstance(pair[0], dict) and isinstance(pair[1], dict):
            yield from _differ(*pair, f"{path} ")
            return
    yield Difference(path, want, got)


def _snapshot(text: str) -> Any:
    try:
        document = yaml.safe_load(text)
    except yaml.YAMLError:
        return text
    if not isinstance(document, dict) or "metadata" not in document:
        return text
    kept = {key: value for key, value in document["metadata"].items() if key not in GIVEN_BY_THE_SERVER}
    return {**document, "metadata": kept}
