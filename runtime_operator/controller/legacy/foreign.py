"""Objects of others under our names: nothing is written over, and the job says what is in its way."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ...api.legacy import LegacyJob
from ...render.legacy.mpi import launcher_name
from .decide import Event

Json = Mapping[str, Any]


def in_the_way(
    job: LegacyJob, objects: Iterable[Json], existing: Mapping[tuple[str, str], Json]
) -> Json | None:
    """Return the first object of a plan whose name somebody else has taken; those before it may be made."""
    for each in objects:
        there = existing.get((each["kind"], each["metadata"]["name"]))
        if there is not None and not is_owned(there, job):
            return each
    return None


def may_be_anothers(job: LegacyJob, target: Json) -> bool:
    """Tell whether an object is made only where there is none: an account that the job itself names."""
    return bool(target["kind"] == "ServiceAccount" and target["metadata"]["name"] != launcher_name(job))


def clash(job: LegacyJob, target: Json) -> Event:
    """Return what is told about an object that is in the way."""
    name, kind = target["metadata"]["name"], target["kind"]
    whose = f"already exists and is not managed by {job.kind.name}"
    message = f'Resource "{name}" of {job.kind.name}Kind "{kind}" {whose}'
    return Event("ErrResourceExists", message, warning=True)


def is_owned(target: Json, job: LegacyJob) -> bool:
    """Tell whether this very job is the controller of an object."""
    owners = target["metadata"].get("ownerReferences") or ()
    return any(each.get("controller") and each.get("uid") == job.metadata.get("uid") for each in owners)
