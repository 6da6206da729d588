"""From documents to a job that can run here: rendered as the operator would, admitted, and nothing left open.

Everything for which a job cannot run on this machine is named now, before anything of it starts.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any

from ..api.legacy import is_legacy, read_legacy, without_rest
from ..api.legacy.names import OUR_MANAGER
from ..api.names import OUR_CONTROLLER
from ..api.shapes import at
from ..errors import FieldError, SpecError
from ..render.dry_run import Outcome
from ..render.facts import Facts
from ..render.legacy import Installation
from ..render.legacy.dry_run import dry_run_any
from ..render.plan import Plan
from ..render.spelling import no_job
from .keys import DrawnKeys
from .process.references import Reference, references
from .process.unsupported import refuse_unsupported
from .semantics import admit
from .templates import pod_templates

Json = dict[str, Any]
Document = Mapping[str, Any]

CARRIED = ("ConfigMap", "Secret")
"""objects that pods read"""
NAMING = "Service"
"""objects that only give pods names"""
HERE = Installation(judge="jobset", one_machine=True, init_tries=0)
"""for the older kinds: nobody judges beside the JobSet, and every name is known before a pod starts"""
NOT_NEEDED = {
    "PodGroup": "one machine starts all pods at once, so there is nothing to place together",
    "HorizontalPodAutoscaler": "a job keeps its size on one machine",
    "JobSet": "",
    "Service": "",
    "ServiceAccount": "",
    "RoleBinding": "",
    "Role": "the job's runner starts what the launcher asks of kubectl, which needs no rights",
}
UNSUPPORTED = "FieldValueNotSupported"


@dataclass(frozen=True, slots=True)
class Submission:
    """A job that is ready to run."""

    train_job: Json
    jobset: Json
    """admitted, with its defaults"""
    objects: tuple[Json, ...]
    """what its pods may refer to"""
    plan: Plan
    digest: str
    """of what was asked for; equal jobs have equal ones"""
    warnings: tuple[str, ...] = ()


def submit(documents: Iterable[Document], *, shipped: Sequence[Document]) -> Submission:
    """Prepare the one job of some documents; SpecError names everything that is wrong with it."""
    documents = list(documents)
    outcome = _only_job(documents, shipped)
    plan = outcome.plan
    assert plan is not None
    train_job = _plain(outcome.review.stored)
    admitted = admit(_plain(plan.find("JobSet") or {}))
    objects = tuple(
        _plain(each) for each in (*plan.objects, *documents) if each["kind"] in (*CARRIED, NAMING)
    )
    errors = [
        *_managed_elsewhere(train_job),
        *admitted.errors,
        *_foreign(plan),
        *_pods(admitted.jobset),
        *_missing(admitted.jobset, objects),
    ]
    if errors:
        raise SpecError([_of(outcome.review.name, each) for each in errors])
    return Submission(
        train_job,
        admitted.jobset,
        objects,
        plan,
        digest_of(train_job, admitted.jobset, [each for each in documents if each["kind"] in CARRIED]),
        (*outcome.warnings, *admitted.warnings, *_left_out(plan)),
    )


def digest_of(train_job: Document, jobset: Document, given: Sequence[Document]) -> str:
    """A digest of what a job asks for, of what is made of that, and of what its pods are given to read.

    It may rest meanwhile. What is made here for its pods does not count: keys are drawn anew each time.
    """
    specs = [*(without_rest(each) for each in (train_job, jobset)), *given]
    return sha256(json.dumps(specs, sort_keys=True).encode()).hexdigest()[:16]


def _only_job(documents: Sequence[Document], shipped: Sequence[Document]) -> Outcome:
    run = dry_run_any(documents, shipped=shipped, facts=Facts(keys=DrawnKeys()), installation=HERE)
    if not run.jobs:
        raise SpecError(no_job(documents))
    if len(run.jobs) > 1:
        raise SpecError(f"needs one job, got {len(run.jobs)}; give one at a time")
    errors = [error for review in run.runtimes for error in review.errors]
    errors += [error for job in run.jobs for error in job.errors]
    if errors:
        raise SpecError(list(dict.fromkeys(errors)), warnings=run.jobs[0].warnings)
    return run.jobs[0]


def _plain(document: Document) -> Json:
    """The document as JSON has it, shared with nobody."""
    plain: Json = json.loads(json.dumps(document))
    return plain


def _managed_elsewhere(train_job: Document) -> Iterator[FieldError]:
    path, ours = "spec.managedBy", OUR_CONTROLLER
    manager = at(train_job, "spec").get("managedBy", ours)
    if is_legacy(train_job):
        path, ours = "spec.runPolicy.managedBy", OUR_MANAGER
        manager = read_legacy(train_job).policy.managed_by
    if manager != ours:
        yield FieldError(path, f"{manager} is not on this machine; remove it", UNSUPPORTED)


def _foreign(plan: Plan) -> Iterator[FieldError]:
    for each in plan.objects:
        if each["kind"] not in CARRIED and each["kind"] not in NOT_NEEDED:
            name = f"{each['kind']}/{each['metadata']['name']}"
            yield FieldError(name, "not done on one machine; run this job on a cluster", UNSUPPORTED)


def _left_out(plan: Plan) -> Iterator[str]:
    for each in plan.objects:
        if why := NOT_NEEDED.get(each["kind"]):
            yield f"{each['kind']}/{each['metadata']['name']}: left out here: {why}"


def _pods(jobset: Document) -> Iterator[FieldError]:
    for path, template in pod_templates(jobset):
        for error in refuse_unsupported(template):
            yield replace(error, field=f"{path}.{error.field}")


def _missing(jobset: Document, objects: Iterable[Document]) -> Iterator[FieldError]:
    """What pods name and nobody has given: they would wait for it for ever."""
    there = {(each["kind"], each["metadata"]["name"]) for each in objects}
    for path, template in pod_templates(jobset):
        for each in references(template):
            if each.kind in CARRIED and not each.optional and (each.kind, each.name) not in there:
                yield FieldError(f"{path}.{each.path}", _not_found(each), "FieldValueNotFound")


def _not_found(reference: Reference) -> str:
    return f'{reference.kind} "{reference.name}" is not found; add it to the file of the job'


def _of(name: str, error: FieldError) -> FieldError:
    return replace(error, object=error.object or name)
