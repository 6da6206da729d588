"""On which paths our answer to a case differs from what the real controllers did.

A missing field is the same as an empty one, a list whose items have names is a map, the order in which
Jobs appeared counts. A case lists globs over such paths on which a deviation is meant (`mayDiffer`).
"""

from __future__ import annotations

import fnmatch
import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tests.recorded_cases import Difference

KEY_FIELDS = {
    "pods": ("job", "index", "incarnation"),
    "conditions": ("type",),
    "tolerations": ("key", "operator", "effect"),
}
ONLY_TO_READ = frozenset({"events", "passed", "after"})
ORDER_COUNTS = "appeared"


def faults(
    case: Mapping[str, Any], answer: Mapping[str, Any], allowed: Sequence[str] = ()
) -> list[Difference]:
    """The differences that neither the case nor the caller allows."""
    globs = [*case.get("mayDiffer", ()), *allowed]
    return [
        each
        for each in differences(case["expect"], answer)
        if not any(fnmatch.fnmatchcase(each.path, glob) for glob in globs)
    ]


def differences(want: Mapping[str, Any], got: Mapping[str, Any]) -> list[Difference]:
    """Every path on which an answer differs from a record."""
    found = [*_differ(_verdict(want), _verdict(got), "admission")]
    found += _differ(want.get("defaults"), got.get("defaults"), "defaults")
    for number, steps in enumerate(itertools.zip_longest(want.get("steps") or (), got.get("steps") or ())):
        path = f"steps.{number}"
        if None in steps:
            found.append(Difference(path, *("a step" if step else None for step in steps)))
        else:
            want_step, got_step = ({**step, "admission": _verdict(step)} for step in steps)
            found += _differ(want_step, got_step, path)
    return found


def _verdict(answer: Mapping[str, Any]) -> dict[str, Any]:
    """Of a verdict, what is compared."""
    said = answer.get("admission") or {}
    return {"allowed": said.get("allowed", True), **{key: said.get(key) for key in ("message", "warnings")}}


def _is_empty(value: Any) -> bool:
    return value is None or value in ("", [], {})


def _differ(want: Any, got: Any, path: str) -> Iterator[Difference]:
    last = path.rsplit(".", 1)[-1]
    if _is_empty(want) and _is_empty(got):
        return
    if isinstance(want, Mapping) and isinstance(got, Mapping):
        for key in sorted({*want, *got} - ONLY_TO_READ, key=str):
            yield from _differ(want.get(key), got.get(key), f"{path}.{key}")
    elif last != ORDER_COUNTS and isinstance(want, list) and isinstance(got, list):
        yield from _lists(want, got, path, KEY_FIELDS.get(last, ("name",)))
    elif want != got or isinstance(want, bool) != isinstance(got, bool):
        yield Difference(path, want, got)


def _lists(want: list[Any], got: list[Any], path: str, fields: tuple[str, ...]) -> Iterator[Difference]:
    wanted, given = _by_key(want, fields), _by_key(got, fields)
    if wanted is None or given is None:
        if all(isinstance(each, dict | list) for each in (*want, *got)):
            for number, pair in enumerate(itertools.zip_longest(want, got)):
                yield from _differ(*pair, f"{path}.{number}")
        elif want != got:
            yield Difference(path, want, got)
        return
    for key in {**wanted, **given}:
        if key in wanted and key in given:
            yield from _differ(wanted[key], given[key], f"{path}.{key}")
        else:
            yield Difference(f"{path}.{key}", wanted.get(key), given.get(key))


def _by_key(items: list[Any], fields: tuple[str, ...]) -> dict[str, Any] | None:
    """The list as a map, if each item is told apart by these fields."""
    if not all(isinstance(item, dict) for item in items):
        return None
    keys = ["-".join(str(item[field]) for field in fields if item.get(field) is not None) for item in items]
    return dict(zip(keys, items, strict=True)) if all(keys) and len({*keys}) == len(keys) else None
