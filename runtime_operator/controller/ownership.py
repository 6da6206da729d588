"""Whose an object is.

A TrainJob may be deleted and made again under its old name before the cluster has cleared away what the
first one owned. The name then is the same and the uid is not: such an object is a namesake's, its status
says nothing about this job, and it must be neither changed nor deleted.
"""

from __future__ import annotations

from ..api.names import OUR_CONTROLLER
from ..render.plan import Object


def is_managed_elsewhere(job: Object) -> bool:
    """Whether another controller (MultiKueue) executes this job, so that we keep our hands off."""
    return bool(job.get("spec", {}).get("managedBy", OUR_CONTROLLER) != OUR_CONTROLLER)


def is_owned(child: Object, job: Object) -> bool:
    """Whether the object names this very job as its controller."""
    owner = _controller_of(child)
    return owner is not None and owner.get("uid") == job["metadata"].get("uid")


def is_ours(child: Object, job: Object) -> bool:
    """Whether what stands in the job's place is its own, or nobody's and so free to be taken over."""
    return _controller_of(child) is None or is_owned(child, job)


def _controller_of(child: Object) -> Object | None:
    owners = child["metadata"].get("ownerReferences") or ()
    return next((each for each in owners if each.get("controller")), None)


def is_suspended(document: Object) -> bool:
    """Whether a TrainJob or JobSet is asked to rest."""
    return bool(document.get("spec", {}).get("suspend", False))
