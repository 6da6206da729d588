"""Whose a job is where a Training Operator may be at work in the same cluster.

Our admission stamps every new job of a kind that we serve (`spec.runPolicy.managedBy`), and a Training
Operator leaves alone what carries another name than its own. So where our admission runs, a job without the
stamp is not ours, but for those that we have begun already. Where it does not run, a job is ours unless
somebody else has told of it in its status: that operator goes on with what it began.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...api.legacy.names import OUR_STAMP
from ...api.shapes import at, items, mapping
from ..kinds import MANAGER


def is_another_operators(job: Mapping[str, Any], *, stamps: bool) -> bool:
    """Tell whether a job is left to another operator; `stamps` says that our admission marks new jobs."""
    if at(job, "spec", "runPolicy").get("managedBy") == OUR_STAMP:
        return False
    told_by = {
        each.get("manager")
        for each in map(mapping, items(at(job, "metadata").get("managedFields")))
        if each.get("subresource") == "status"
    }
    if MANAGER in told_by:
        return False
    return stamps or bool(told_by)
