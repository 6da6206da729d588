"""Whose an object is.

A TrainJob may be deleted and made again under its old name before the cluster has cleared away what the
first one owned. The name then is the same and the uid is not: such an object is a namesake's, its status
says nothing about this job, and it must be neither changed nor deleted. So is a JobSet or a snapshot that was
there before the job and belongs to nobody: what `kubectl delete --cascade=orphan` left, or another's work.
"""

from __future__ import annotations

from ..api.legacy import terms
from ..api.names import CANCEL_ANNOTATION, OUR_CONTROLLER
from ..conditions import read_time
from ..render.plan import Object
from ..render.snapshot import is_snapshot


def is_managed_elsewhere(job: Object) -> bool:
    """Whether another controller (MultiKueue) executes this job, so that we keep our hands off."""
    return bool(job.get("spec", {}).get("managedBy", OUR_CONTROLLER) != OUR_CONTROLLER)


def is_owned(child: Object, job: Object) -> bool:
    """Whether the object names this very job as its controller."""
    owner = _controller_of(child)
    return owner is not None and owner.get("uid") == job["metadata"].get("uid")


def is_ours(child: Object, job: Object) -> bool:
    """Whether what stands in the job's place is its own, or nobody's and so free to be taken over."""
    if _controller_of(child) is None:
        return not is_left_over(child, job)
    return is_owned(child, job)


def is_left_over(child: Object, job: Object) -> bool:
    """Whether a JobSet or a snapshot belongs to nobody and was there before the job."""
    if _controller_of(child) is not None or not (child["kind"] == "JobSet" or is_snapshot(child)):
        return False
    made, wanted = (each["metadata"].get("creationTimestamp") for each in (child, job))
    return bool(made and wanted and read_time(made) < read_time(wanted))


def _controller_of(child: Object) -> Object | None:
    owners = child["metadata"].get("ownerReferences") or ()
    return next((each for each in owners if each.get("controller")), None)


def is_cancelled(job: Object) -> bool:
    """Whether a person has asked for the end of this job."""
    return bool((job["metadata"].get("annotations") or {}).get(CANCEL_ANNOTATION) == "true")


def is_suspended(document: Object) -> bool:
    """Whether a job or JobSet is asked to rest."""
    return bool(terms(document).get("suspend", False))
