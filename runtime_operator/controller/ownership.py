"""Whose an object is.

A TrainJob may be deleted and made again under its old name before the cluster has cleared away what the
first one owned. The name then is the same and the uid is not: such an object is a namesake's, its status
says nothing about this job, and it must be neither changed nor deleted.
"""

from __future__ import annotations

from ..render.plan import Object

CONTROLLER_NAME = "trainer.kubeflow.org/trainjob-controller"


def is_managed_elsewhere(job: Object) -> bool:
    """Whether another controller (MultiKueue) executes this job, so that we keep our hands off."""
    return bool(job.get("spec", {}).get("managedBy", CONTROLLER_NAME) != CONTROLLER_NAME)


def is_ours(child: Object, job: Object) -> bool:
    """Whether the object is this job's: owned by its uid, or by nobody and so free to be taken over."""
    owners = child["metadata"].get("ownerReferences") or ()
    owner = next((each for each in owners if each.get("controller")), None)
    return owner is None or owner.get("uid") == job["metadata"].get("uid")


def is_suspended(document: Object) -> bool:
    """Whether a TrainJob or JobSet is asked to rest."""
    return bool(document.get("spec", {}).get("suspend", False))
