"""A runtime's JobSet spec with a job's runtime patches merged into it.

Kubernetes' strategic merge patch, as far as a runtime patch can reach: lists of named things merge by their
key, other lists are replaced whole, maps merge key by key, later patches win. What a patch adds to a merged
list stands before what it does not mention, unless the old order says otherwise; only the order of the
replicated jobs is put back, because it decides who may wait for whom.

Inputs are never changed: a new dict or list is made only along a path that a patch touches.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

Object = Mapping[str, Any]

MERGE_KEYS: Mapping[str, str] = {
    "replicatedJobs": "name",
    "containers": "name",
    "initContainers": "name",
    "env": "name",
    "volumes": "name",
    "volumeMounts": "mountPath",
    "imagePullSecrets": "name",
    "schedulingGates": "name",
}
"""lists that merge by a key of their items; every other list is atomic"""

_ZERO_IS_ABSENT = frozenset({"subPath", "subPathExpr", "value"})
"""texts that are as good as absent to upstream's types when they are empty; `typed` knows the rest"""


def patched_spec(spec: Object, patches: Iterable[Object], *, upstream: bool = False) -> Object:
    """Merge the patches' `template.spec` into a JobSet spec, in their order."""
    merged = spec
    for patch in patches:
        change = ((patch.get("trainingRuntimeSpec") or {}).get("template") or {}).get("spec")
        if change:
            merged = _merge_map(merged, change, upstream=upstream)
    if merged is spec:
        return spec
    return {**merged, "replicatedJobs": _in_old_order(spec, merged)}


def pod_fields(changes: Iterable[Object]) -> dict[str, list[Object]] | None:
    """What patches change in the pods of each job, if they change nothing but plain fields of pods.

    So most patches are (Kueue's among them), and they need no merged spec: each field is merged on its own.
    """
    found: dict[str, list[Object]] = {}
    for change in changes:
        template = change.get("template") or {}
        if "metadata" in template:
            return None
        for job in (template.get("spec") or {}).get("replicatedJobs") or ():
            pod = _only(_only(_only(job.get("template"), "spec"), "template"), "spec")
            if pod is None or "containers" in pod or "initContainers" in pod:
                return None
            found.setdefault(job["name"], []).append(pod)
    return found


def _only(parent: Object | None, key: str) -> Object | None:
    return parent.get(key) if parent is not None and len(parent) == 1 else None


def merged_field(key: str, old: Any, change: Any, *, upstream: bool = False) -> Any:
    """Merge one field of a map; what the change cannot say leaves the old value."""
    kind = type(change)
    if kind is dict:
        return _merge_map(old or {}, change, upstream=upstream)
    if kind is list and key in MERGE_KEYS and change:
        return _merge_list(key, old or [], change, upstream=upstream)
    return old if _is_absent(key, change, upstream=upstream) else change


def patched_metadata(metadata: Object | None, patches: Iterable[Object]) -> dict[str, dict[str, str]]:
    """Merge the patches' `template.metadata` over a runtime's: the labels and annotations of the JobSet."""
    merged = {
        "labels": dict((metadata or {}).get("labels") or {}),
        "annotations": dict((metadata or {}).get("annotations") or {}),
    }
    for patch in patches:
        change = ((patch.get("trainingRuntimeSpec") or {}).get("template") or {}).get("metadata") or {}
        for field, values in merged.items():
            values.update(change.get(field) or {})
    return merged


def _in_old_order(spec: Object, merged: Object) -> list[Object]:
    """Sort the jobs as the runtime lists them; a job that it lacks goes to the front."""
    old, new = spec.get("replicatedJobs") or [], merged.get("replicatedJobs") or []
    names = [job["name"] for job in old]
    if names == [job["name"] for job in new]:
        return list(new)
    place = {name: index for index, name in enumerate(names)}
    return sorted(new, key=lambda job: place.get(job["name"], 0))


def _merge_map(base: Object, patch: Object, *, upstream: bool) -> dict[str, Any]:
    merged = {**base}
    for key, value in patch.items():
        new = merged_field(key, merged.get(key), value, upstream=upstream)
        if new is not None:
            merged[key] = new
    return merged


def _is_absent(key: str, value: Any, *, upstream: bool) -> bool:
    """A patch cannot unset: what is null or an empty list says nothing, and upstream loses more than that."""
    if value is None or value == []:
        return True
    return upstream and key in _ZERO_IS_ABSENT and value == ""


def _merge_list(field: str, base: Sequence[Any], patch: Sequence[Any], *, upstream: bool) -> list[Any]:
    key = MERGE_KEYS[field]
    names = [item.get(key) for item in base]
    changed: dict[Any, Any] = {}
    for item in patch:
        name = item.get(key)
        old = changed.get(name) or (base[names.index(name)] if name in names else {})
        changed[name] = _merge_item(field, old, item, upstream=upstream)
    if len(changed) == 1 and name in names:
        place = names.index(name)
        return [*base[:place], changed[name], *base[place + 1 :]]
    order = {name: index for index, name in enumerate(names)}
    return _interleaved([item for item in base if item.get(key) not in changed], changed, key, order)


def _interleaved(
    kept: list[Any], changed: Mapping[Any, Any], key: str, place: Mapping[Any, int]
) -> list[Any]:
    """Put both lists together: patched items first, but for kept ones that stood before them."""
    merged: list[Any] = []
    rest = iter(kept)
    waiting = next(rest, None)
    for name, item in changed.items():
        while waiting is not None and name in place and place[waiting.get(key)] < place[name]:
            merged.append(waiting)
            waiting = next(rest, None)
        merged.append(item)
    return merged if waiting is None else [*merged, waiting, *rest]


def _merge_item(field: str, base: Object, patch: Object, *, upstream: bool) -> Object:
    """Merge one item; one source of a value or volume replaces another, where upstream keeps both."""
    if not upstream and base and _names_another_source(field, base, patch):
        base = {"name": base["name"]}
    return _merge_map(base, patch, upstream=upstream)


def _names_another_source(field: str, base: Object, patch: Object) -> bool:
    if field == "env":
        return "value" in patch or "valueFrom" in patch
    if field != "volumes":
        return False
    sources = patch.keys() - {"name"}
    return bool(sources) and sources != base.keys() - {"name"}
