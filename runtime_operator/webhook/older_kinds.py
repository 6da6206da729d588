"""What is answered about a job of an older kind: the marks it gets when it is made, and yes or no.

The stamp in `spec.runPolicy.managedBy` tells a Training Operator beside us to leave the job alone, and our
controller that it may not (decision 010). It stays for the job's life: who applies a file without it changes
nothing. A job without it is another operator's, whose own admission judges its changes. Kinds that are not
served here pass with a warning, for somebody else may serve them; of MXJob that is known not to be so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..api.legacy import check_legacy, kind_of
from ..api.legacy.kinds import managers_of
from ..api.legacy.names import OUR_STAMP
from ..api.legacy.versions import marked
from ..api.paths import NOT_SUPPORTED
from ..api.shapes import at
from ..errors import FieldError
from ..render.admission import Verdict
from ..render.legacy.admission import MANAGED_BY, admit_legacy
from ..render.legacy.admission_mpi import fields_of_others
from .json_patch import Operation, json_patch
from .review import Review

ALLOWED = Verdict()
RETIRED = frozenset({"MXJob"})
"""the Training Operator itself serves it no longer since 1.9"""


def mark(review: Review, served: frozenset[str]) -> list[Operation]:
    """The patch that admission makes: whose the job is, and in which version it was written."""
    if review.kind not in served or _is_others(review.old):
        return []
    return list(json_patch(review.object, _stamped(marked(review.object, review.old))))


def judge_older(review: Review, served: frozenset[str]) -> Verdict:
    """Say whether this may be stored."""
    if not review.changes_the_spec:
        return ALLOWED
    if review.kind not in served:
        return ALLOWED if review.old is not None else _not_served(review.kind, served)
    if _is_others(review.old):
        verdict = admit_legacy(review.object, review.old)
        return Verdict(tuple(each for each in verdict.errors if each.field == MANAGED_BY))
    checked = check_legacy(review.object, old=review.old)
    if checked.errors:
        return Verdict(checked.errors, checked.warnings)
    verdict = admit_legacy(checked.stored, review.old)
    told = () if verdict.errors else tuple(_without_effect(review.object))
    return Verdict(verdict.errors, (*verdict.warnings, *told))


def _without_effect(job: Mapping[str, Any]) -> Iterator[str]:
    kind = kind_of(job)
    assert kind is not None
    return fields_of_others(kind, job)


def _stamped(job: Mapping[str, Any]) -> Mapping[str, Any]:
    """The job with our stamp, unless somebody else is named."""
    kind = kind_of(job)
    assert kind is not None
    if _manager(job) not in (None, managers_of(kind)[0]):
        return job
    spec = at(job, "spec")
    return {**job, "spec": {**spec, "runPolicy": {**at(spec, "runPolicy"), "managedBy": OUR_STAMP}}}


def _is_others(old: Mapping[str, Any] | None) -> bool:
    """Whether a job that is changed has been made without us."""
    return old is not None and _manager(old) != OUR_STAMP


def _manager(job: Mapping[str, Any]) -> Any:
    return at(job, "spec", "runPolicy").get("managedBy")


def _not_served(kind: str, served: frozenset[str]) -> Verdict:
    listed = f"served are {', '.join(sorted(served))}" if served else "no kind of kubeflow.org is"
    told = f"{kind} is not served here ({listed}); an administrator adds it to the option --older-kinds"
    if kind in RETIRED:
        return Verdict((FieldError("kind", told, NOT_SUPPORTED),))
    return Verdict((), (f"{told}, or another operator serves it",))
