"""Whether what stands in the cluster is what the plan wants, and what of a JobSet can still become so.

An object that is there is compared, not written again: a pass over an unchanged world writes nothing, also
after a restart. Of a JobSet that exists only five things of its pods and `suspend` may change, and those only
while it rests. So that a newer version of ours, or a job that Trainer 2.3 began, can still be suspended and
resumed, everything else is sent back as it stands.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..render.jobset_update import MUTABLE_METADATA, MUTABLE_SPEC
from ..render.plan import Object
from .ownership import is_owned

_PARTS = (("metadata", MUTABLE_METADATA), ("spec", MUTABLE_SPEC))


def is_as_wanted(stored: Object, wanted: Object, job: Object) -> bool:
    """Whether nothing needs to be written."""
    if not is_owned(stored, job) or not _has_metadata(stored, wanted):
        return False
    if wanted["kind"] == "JobSet":
        return _same_jobset(stored["spec"], wanted["spec"])
    if wanted["kind"] == "ConfigMap":
        return bool((stored.get("data") or {}) == (wanted.get("data") or {}))
    return covers(stored, {key: value for key, value in wanted.items() if key != "metadata"})


def covers(stored: Any, wanted: Any) -> bool:
    """Whether everything that is wanted stands there; what others added does not matter.

    What is false or zero an API server may leave out.
    """
    if isinstance(wanted, Mapping):
        found = stored or {}
        return all(covers(found.get(key), value) for key, value in wanted.items())
    if isinstance(wanted, list | tuple):
        found = stored or []
        return len(found) == len(wanted) and all(
            covers(one, other) for one, other in zip(found, wanted, strict=True)
        )
    return bool(stored == wanted) or (stored is None and not wanted)


def fitted(stored: Object, wanted: Object) -> Object:
    """The wanted JobSet as far as the stored one can become it."""
    jobs = {each["name"]: each for each in wanted["spec"]["replicatedJobs"]}
    kept = [_with_mutable(each, jobs.get(each["name"], each)) for each in stored["spec"]["replicatedJobs"]]
    spec = {**stored["spec"], "replicatedJobs": kept, "suspend": bool(wanted["spec"].get("suspend"))}
    return {**wanted, "spec": spec}


def _has_metadata(stored: Object, wanted: Object) -> bool:
    parts = ("labels", "annotations")
    return all(covers(stored["metadata"].get(part), wanted["metadata"].get(part) or {}) for part in parts)


def _same_jobset(stored: Object, wanted: Object) -> bool:
    if bool(stored.get("suspend")) != bool(wanted.get("suspend")):
        return False
    jobs = {each["name"]: each for each in wanted["replicatedJobs"]}
    return all(
        _mutable(each) == _mutable(jobs[each["name"]])
        for each in stored["replicatedJobs"]
        if each["name"] in jobs
    )


def _mutable(job: Object) -> dict[str, Any]:
    """What may change of the pods of a replicated job, empty values left out."""
    pod = job["template"]["spec"]["template"]
    return {key: value for part, keys in _PARTS for key in keys if (value := (pod.get(part) or {}).get(key))}


def _with_mutable(stored: Object, wanted: Object) -> Object:
    pod, new = stored["template"]["spec"]["template"], _mutable(wanted)
    parts = {
        part: {
            **{key: value for key, value in (pod.get(part) or {}).items() if key not in keys},
            **{key: new[key] for key in keys if key in new},
        }
        for part, keys in _PARTS
    }
    template = {**pod, **{part: value for part, value in parts.items() if value or part in pod}}
    spec = {**stored["template"]["spec"], "template": template}
    return {**stored, "template": {**stored["template"], "spec": spec}}
