"""Where an answer differs from what a case expects, and which of that the case allows.

Missing and empty are the same. Lists whose items have a key are compared by it; of equal names of variables
the last counts, as in a container; texts of JSON are compared as JSON, quantities as numbers. A path says
step, part and keys: `steps.1.pods.worker-0.containers.pytorch.env.RANK.value`.
"""

from __future__ import annotations

import fnmatch
import itertools
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from kfp_trainer.runtime_operator.render.quantity import read
from tests.recorded_cases import Difference

EMPTY = (None, "", [], {})
KEYS: Mapping[str, tuple[str, ...]] = {
    "conditions": ("type",),
    "items": ("key",),
    "objects": ("kind", "name"),
    "pods": ("role", "index"),
    "ports": ("containerPort", "port", "protocol"),
    "tolerations": ("key", "operator", "effect"),
    "volumeMounts": ("mountPath",),
}
"""what tells the items of a list apart; others are told apart by their name"""
ORDERED = ("containers", "initContainers")
"""lists with keys whose order counts as well"""
KEPT = ("services", "podGroups", "objects")
"""absent in a step: as in the step before"""
TO_READ = frozenset(("events", "passed", "after", "lastReconcileTime", "labelSelector"))
"""never compared"""
VERDICT = ("allowed", "message", "warnings")
AMOUNTS = ("limits", "requests", "minResources", "capacity")
ALLOWED = ("steps.*.services.*.selector*",)
"""a Service of ours finds its pod by JobSet's labels"""

Json = Mapping[str, Any]


def faults(case: Json, answer: Json) -> list[Difference]:
    """The differences that neither the case nor our way of building pods allows."""
    allowed = (*ALLOWED, *(case.get("mayDiffer") or ()))
    return [each for each in differences(case["expect"], answer) if not _matches(each.path, allowed)]


def _matches(path: str, patterns: Iterable[str]) -> bool:
    return any(fnmatch.fnmatchcase(path, pattern) for pattern in patterns)


def differences(want: Json, got: Json) -> Iterator[Difference]:
    """All differences between an expectation and an answer."""
    verdicts = ({"allowed": True, **(each.get("admission") or {})} for each in (want, got))
    yield from _diff(*(_only(each, VERDICT) for each in verdicts), "admission")
    full: dict[str, Json] = {}
    kept: tuple[dict[str, Any], dict[str, Any]] = ({}, {})
    pairs = itertools.zip_longest(want.get("steps") or (), got.get("steps") or ())
    for number, (wanted, given) in enumerate(pairs):
        path = f"steps.{number}"
        if wanted is None or given is None:
            yield Difference(path, wanted and "a step", given and "a step")
            continue
        yield from _pods(wanted.get("pods"), given.get("pods"), f"{path}.pods", full)
        yield from _diff(*(_rest(each, seen) for each, seen in zip((wanted, given), kept, strict=True)), path)


def _rest(step: Json, kept: dict[str, Any]) -> Json:
    """A step without its pods, with what stands from steps before."""
    kept.update(_only(step, KEPT))
    rest = {**{name: value for name, value in step.items() if name != "pods"}, **kept}
    if "admission" in rest:
        rest["admission"] = _only(rest["admission"], VERDICT)
    return rest


def _only(value: Json, names: Iterable[str]) -> dict[str, Any]:
    return {name: value[name] for name in names if name in value}


def _pods(want: Any, got: Any, path: str, full: dict[str, Json]) -> Iterator[Difference]:
    """Of a pod without containers only what it says counts; what an answer leaves out is as it was."""
    wanted, given = (
        {f"{each.get('role')}-{each.get('index', 0)}": each for each in pods or ()} for pods in (want, got)
    )
    for place in sorted(wanted.keys() | given.keys()):
        if place not in wanted or place not in given:
            told = (
                f"a pod, {each[place].get('phase')}" if place in each else None for each in (wanted, given)
            )
            yield Difference(f"{path}.{place}", *told)
            continue
        known = {} if "containers" in given[place] else full.get(place, {})
        full[place] = {**known, **given[place]}
        whole = "containers" in wanted[place]
        yield from _diff(
            wanted[place], full[place] if whole else _only(full[place], wanted[place]), f"{path}.{place}"
        )


def _diff(want: Any, got: Any, path: str) -> Iterator[Difference]:
    if want in EMPTY and got in EMPTY:
        return
    if isinstance(want, str) and want.startswith("<any"):
        if got in EMPTY:
            yield Difference(path, "something", got)
    elif isinstance(want, Mapping) and isinstance(got, Mapping):
        yield from _maps(want, got, path)
    elif isinstance(want, list) and isinstance(got, list):
        yield from _lists(want, got, path)
    elif not _equal(want, got, path):
        yield Difference(path, want, got)


def _maps(want: Json, got: Json, path: str) -> Iterator[Difference]:
    for name in sorted((want.keys() | got.keys()) - TO_READ, key=str):
        if name == "phase" and ".podGroups." in path:
            continue
        if name == "protocol" and {want.get(name, "TCP"), got.get(name, "TCP")} == {"TCP"}:
            continue
        yield from _diff(want.get(name), got.get(name), f"{path}.{name}")


def _lists(want: list[Any], got: list[Any], path: str) -> Iterator[Difference]:
    wanted, given = _keys(path, want), _keys(path, got)
    if (wanted is None and want) or (given is None and got):
        for number, (one, other) in enumerate(itertools.zip_longest(want, got)):
            yield from _diff(one, other, f"{path}.{number}")
        return
    wants = dict(zip(wanted or (), want, strict=True))
    gots = dict(zip(given or (), got, strict=True))
    for key in {**wants, **gots}:
        if key in wants and key in gots:
            yield from _diff(wants[key], gots[key], f"{path}.{key}")
        else:
            yield Difference(f"{path}.{key}", wants.get(key), gots.get(key))
    both = [[key for key in each if key in wants and key in gots] for each in (wanted or [], given or [])]
    if path.rpartition(".")[2] in ORDERED and both[0] != both[1]:
        yield Difference(path, wanted, given)


def _keys(path: str, items: list[Any]) -> list[str] | None:
    """The keys by which a list is a map; None where its order counts."""
    if not items or not all(isinstance(each, Mapping) for each in items):
        return None
    last = path.rpartition(".")[2]
    fields = KEYS.get(last, ("name",))
    keys = [
        "-".join(str(each[name]) for name in fields if each.get(name) not in (None, "TCP")) for each in items
    ]
    apart = len(set(keys)) == len(keys) or last == "env"
    return keys if all(keys) and apart else None


def _equal(want: Any, got: Any, path: str) -> bool:
    one, other = _as_json(want), _as_json(got)
    if one and other:
        return bool(one == other)
    texts = isinstance(want, str | int | float) and isinstance(got, str | int | float)
    if texts and any(f".{name}." in path for name in AMOUNTS):
        return _amount(want) == _amount(got)
    return bool(want == got) and isinstance(want, bool) == isinstance(got, bool)


def _as_json(value: Any) -> Any:
    """What a text of JSON says, however it is spaced."""
    if not isinstance(value, str) or value[:1] not in ("{", "["):
        return None
    try:
        return json.loads(value)
    except ValueError:
        return None


def _amount(value: Any) -> Any:
    try:
        return read(value).nano
    except ValueError:
        return value
