"""What would become of each TrainJob in a heap of documents, without a cluster.

The steps are an API server's, in its order: the schema, the rules for runtimes, the rules for a TrainJob
on its runtime, and then the build. The first step that refuses is the last, as it is on a cluster. The
command line shows the outcome to a person; the conformance cases compare it with upstream's.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import cast

from .. import api
from ..api.names import OUR_CONTROLLER
from ..api.paths import REQUIRED, WRONG_TYPE
from ..errors import FieldError, KfpTrainerError
from .admission import admit
from .facts import Facts
from .plan import Object, Plan
from .render import render
from .spelling import meant_runtime, unknown_field
from .world import Sent, World, runtime_of, sort_documents

Runtime = api.TrainingRuntime | api.ClusterTrainingRuntime


@dataclass(frozen=True, slots=True)
class Review:
    """One document as an API server sees it."""

    name: str
    """how errors and people call it: kind and name"""
    stored: Object
    """with its defaults filled in and unknown fields gone"""
    errors: tuple[FieldError, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Outcome:
    """What becomes of one TrainJob: refused, or a plan, or the reason why it cannot be built."""

    review: Review
    facts: Facts
    runtime: Review | None = None
    """the runtime it names, if there is one"""
    plan: Plan | None = None
    build_error: KfpTrainerError | None = None

    @property
    def errors(self) -> tuple[FieldError, ...]:
        """Why there is no plan; empty where there is one."""
        if self.build_error is not None:
            return getattr(self.build_error, "errors", (FieldError("", str(self.build_error)),))
        return self.review.errors

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the person should know although the job is accepted, each said once."""
        built = () if self.plan is None else self.plan.warnings
        return tuple(dict.fromkeys((*self.review.warnings, *built)))


@dataclass(frozen=True, slots=True)
class DryRun:
    """The runtimes of the documents, and what becomes of their TrainJobs."""

    runtimes: tuple[Review, ...]
    jobs: tuple[Outcome, ...]


def dry_run(
    documents: Iterable[Object],
    *,
    shipped: Sequence[Object] = (),
    facts: Facts | None = None,
    compat: api.Compat = None,
) -> DryRun:
    """Try every TrainJob of the documents; `shipped` runtimes serve beside those of the documents.

    Documents that hold one object of a kind hold all there are.
    """
    world = sort_documents(documents)
    reviews = tuple(review_runtime(each, compat=compat) for each in world.runtimes)
    known = [*reviews, *(_review(each, compat=compat) for each in shipped)]
    outcomes = (try_job(each, world, known, facts=facts or Facts(), compat=compat) for each in world.sent)
    return DryRun(reviews, tuple(outcomes))


def review_runtime(document: Object, *, compat: api.Compat = None) -> Review:
    """Take a runtime through its schema and, if that lets it pass, its own rules."""
    review = _review(document, compat=compat)
    if review.errors:
        return review
    found = api.check_runtime(review.stored, compat=compat)
    return replace(review, errors=found.errors, warnings=(*review.warnings, *found.warnings))


def _review(document: Object, *, old: Object | None = None, compat: api.Compat) -> Review:
    """Take a document through its schema; a field it does not know is refused, as kubectl has it done."""
    checked = api.check(document, old=old, compat=compat)
    name = f"{document['kind']}/{document['metadata']['name']}"
    errors = tuple(replace(each, object=name) for each in checked.errors)
    stored = checked.stored or document  # nothing is stored of a document that no schema is for
    if compat is None:
        kind = document["kind"]
        unknown = [
            FieldError(path, unknown_field(kind, path), object=name) for path in checked.unknown_fields
        ]
        return Review(name, stored, (*unknown, *errors), checked.warnings)
    dropped = [f"{path}: unknown field, dropped" for path in checked.unknown_fields]
    return Review(name, stored, errors, (*checked.warnings, *dropped))


def try_job(
    sent: Sent, world: World, runtimes: Sequence[Review], *, facts: Facts, compat: api.Compat = None
) -> Outcome:
    """Take a TrainJob through the schema, admission and the build."""
    old, unreadable = _stored(sent.old, compat)
    review = _review(sent.job, old=old, compat=compat)
    review = replace(review, errors=(*unreadable, *review.errors))
    facts = replace(
        facts,
        existing={**facts.existing, **existing_for(sent.job, world, facts)},
        looked_up=facts.looked_up.union(each["kind"] for each in world.others),
    )
    if review.errors:
        return Outcome(review, facts)
    named = runtime_of(review.stored, [each.stored for each in runtimes])
    runtime = next((each for each in runtimes if each.stored is named), None)
    if runtime is None and not compat:
        meant = meant_runtime(review.stored, [each.stored for each in runtimes])
        review = replace(review, warnings=(*review.warnings, *meant))
    if runtime is not None and runtime.errors:
        return Outcome(replace(review, errors=runtime.errors), facts, runtime)
    return _admit_and_build(review, old, runtime, facts, compat=compat)


def _stored(old: Object | None, compat: api.Compat) -> tuple[Object | None, tuple[FieldError, ...]]:
    """The job to be replaced, and why no server can hold it.

    A rule may be newer than the job. So its shape counts, and by default whatever every release refused.
    """
    if old is None:
        return None, ()
    checked = api.check(old, compat=compat)
    oldest = () if compat else api.check(old, compat="upstream").errors
    fields = {each.field for each in oldest}
    unreadable = (
        each
        for each in checked.errors
        if each.type in (REQUIRED, WRONG_TYPE) or each.field in fields or not checked.stored
    )
    return checked.stored, tuple(unreadable)


def existing_for(job: Object, world: World, facts: Facts) -> dict[tuple[str, str], Object]:
    """What exists in the job's namespace and in the cluster, and of the operator's the certificate."""
    found = world.existing(job["metadata"]["namespace"])
    place = ("Secret", facts.certificate)
    certificate = world.existing(facts.operator_namespace).get(place)
    return found if certificate is None else {**found, place: certificate}


def _admit_and_build(
    review: Review, old: Object | None, runtime: Review | None, facts: Facts, *, compat: api.Compat
) -> Outcome:
    job = read_job(review.stored, compat)
    model = None if runtime is None else read_runtime(runtime.stored, compat)
    before = None if old is None else read_job(old, compat)
    verdict = admit(job, model, facts, old=before, compat=compat)
    review = replace(
        review,
        errors=tuple(replace(each, object=each.object or review.name) for each in verdict.errors),
        warnings=(*review.warnings, *verdict.warnings, *_elsewhere(job)),
    )
    if review.errors:
        return Outcome(review, facts, runtime)
    try:
        return Outcome(review, facts, runtime, plan=render(job, model, facts, compat=compat))
    except KfpTrainerError as error:
        return Outcome(review, facts, runtime, build_error=error)


def _elsewhere(job: api.TrainJob) -> tuple[str, ...]:
    if job.spec.managedBy == OUR_CONTROLLER:
        return ()
    return (f"spec.managedBy: {job.spec.managedBy} runs this job on another cluster: here nothing is built",)


def read_job(document: Object, compat: api.Compat = None) -> api.TrainJob:
    """The typed view of a stored TrainJob."""
    return cast("api.TrainJob", api.read(document, compat=compat))


def read_runtime(document: Object, compat: api.Compat = None) -> Runtime:
    """The typed view of a stored runtime."""
    return cast("Runtime", api.read(document, compat=compat))
