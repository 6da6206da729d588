"""How a write changes an object: a merge patch, or an apply on the server's side with its field managers.

Ownership is simpler than the real one: a manager owns what it last applied, and loses it when somebody else
has given it another value. Lists whose items have a name are merged by it, all others are replaced.
"""

from collections.abc import Iterator
from typing import Any

from kfp_trainer.runtime_operator.kube.errors import api_error

Json = dict[str, Any]
Path = tuple[Any, ...]

KEY_OF_ITEMS = {
    "containers": "name", "initContainers": "name", "env": "name", "volumes": "name",
    "volumeMounts": "mountPath", "ports": "containerPort", "imagePullSecrets": "name",
    "replicatedJobs": "name", "replicatedJobsStatus": "name", "jobsStatus": "name",
    "ownerReferences": "uid", "conditions": "type",
}  # fmt: skip
MISSING = object()


def merge_patch(target: Json, change: Json) -> None:
    """Merge a JSON merge patch (RFC 7386) in place."""
    for name, value in change.items():
        if value is None:
            target.pop(name, None)
        elif isinstance(value, dict):
            if not isinstance(target.get(name), dict):
                target[name] = {}
            merge_patch(target[name], value)
        else:
            target[name] = value


def apply(target: Json, given: Json, before: Json, others: list[Json], *, force: bool) -> None:
    """Apply what a manager gives in place; `before` is what it applied last, `others` what others did."""
    owned_by_others = {path: value for other in others for path, value in leaves(other)}
    now = dict(leaves(given))
    if not force:
        for path, value in now.items():
            if path in owned_by_others and value_at(target, path) != value:
                raise api_error(409, "Conflict", f"Apply failed with 1 conflict: .{'.'.join(map(str, path))}")
    for path, value in sorted(
        leaves(before), key=lambda leaf: _is_key(leaf[0])
    ):  # keys last: they find the rest
        if path not in now and path not in owned_by_others and value_at(target, path) == value:
            _remove(target, path)
    _merge(target, given)


def leaves(value: Any, path: Path = (), field: str = "") -> Iterator[tuple[Path, Any]]:
    """Yield each field that a document sets, with its path; items of a merged list by their key."""
    if isinstance(value, dict) and value:
        for name, inner in value.items():
            yield from leaves(inner, (*path, name), name)
    elif isinstance(value, list) and value and _key(field, value):
        key = KEY_OF_ITEMS[field]
        for item in value:
            yield from leaves(item, (*path, (key, item[key])))
    else:
        yield path, value


def value_at(target: Any, path: Path) -> Any:
    """Return the value at a path, MISSING if there is none."""
    for step in path:
        target = _step(target, step)
        if target is MISSING:
            return MISSING
    return target


def _key(field: str, items: list[Any]) -> bool:
    key = KEY_OF_ITEMS.get(field)
    return bool(key) and all(isinstance(item, dict) and key in item for item in items)


def _step(target: Any, step: Any) -> Any:
    if isinstance(step, tuple):
        items = target if isinstance(target, list) else []
        return next((item for item in items if item.get(step[0]) == step[1]), MISSING)
    return target.get(step, MISSING) if isinstance(target, dict) else MISSING


def _is_key(path: Path) -> bool:
    """Whether a path leads to the key of a list's item."""
    return len(path) > 1 and isinstance(path[-2], tuple) and path[-2][0] == path[-1]


def _remove(target: Json, path: Path) -> None:
    """Take out a field, and what is empty without it; the key of an item goes with its last field."""
    if _is_key(path):
        if len(value_at(target, path[:-1])) > 1:
            return
        path = path[:-1]
    for length in range(len(path), 0, -1):
        holder, last = value_at(target, path[: length - 1]), path[length - 1]
        if holder is MISSING:
            return
        if isinstance(last, tuple):
            holder.remove(_step(holder, last))
        else:
            holder.pop(last, None)
        if holder:
            return


def _merge(target: Json, given: Json) -> None:
    for name, value in given.items():
        there = target.get(name)
        if isinstance(value, dict) and isinstance(there, dict):
            _merge(there, value)
        elif isinstance(value, list) and isinstance(there, list) and _key(name, value) and _key(name, there):
            _merge_items(there, value, KEY_OF_ITEMS[name])
        else:
            target[name] = value


def _merge_items(there: list[Json], given: list[Json], key: str) -> None:
    for item in given:
        known = _step(there, (key, item[key]))
        if known is MISSING:
            there.append(item)
        else:
            _merge(known, item)
