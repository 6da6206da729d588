"""What would become of each job in a heap of documents, of whatever kind, without a cluster.

TrainJobs go their own way (`render.dry_run`); a job of an older kind goes through its schema, admission and
the build.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from ... import api
from ...api.legacy import LEGACY_KINDS, LegacyKind, check_legacy, is_legacy, kind_of, read_legacy
from ...api.legacy.kinds import MPI_BY_SSH
from ...api.legacy.names import OUR_MANAGER
from ...api.legacy.schema import legacy_node
from ...errors import FieldError, KfpTrainerError
from ..dry_run import DryRun, Outcome, Review, dry_run, existing_for
from ..facts import Facts
from ..plan import Object
from ..spelling import UNKNOWN, knows, unknown_in
from ..world import Sent, World, sort_documents
from .admission import admit_legacy
from .installation import Installation
from .render import render_legacy

DEFAULT = Installation()


def dry_run_any(
    documents: Iterable[Object],
    *,
    shipped: Sequence[Object] = (),
    facts: Facts | None = None,
    compat: api.Compat = None,
    installation: Installation = DEFAULT,
) -> DryRun:
    """Try every job of the documents: TrainJobs first, then those of the older kinds."""
    documents = list(documents)
    others = [each for each in documents if not is_legacy(each)]
    run = dry_run(others, shipped=shipped, facts=facts, compat=compat)
    world = sort_documents(documents)
    older = (_try(each, world, facts or Facts(), installation) for each in world.sent if is_legacy(each.job))
    return replace(run, jobs=(*run.jobs, *older))


def _try(sent: Sent, world: World, facts: Facts, installation: Installation) -> Outcome:
    facts = replace(facts, existing={**facts.existing, **existing_for(sent.job, world, facts)})
    review = _review(sent)
    if review.errors:
        return Outcome(review, facts)
    job = read_legacy(review.stored)
    if job.policy.managed_by != OUR_MANAGER:
        told = f"spec.runPolicy.managedBy: {job.policy.managed_by} runs this job: here nothing is built"
        review = replace(review, warnings=(*review.warnings, told))
    try:
        return Outcome(review, facts, plan=render_legacy(job, facts, installation))
    except KfpTrainerError as error:
        return Outcome(review, facts, build_error=error)


def _review(sent: Sent) -> Review:
    """Take a job through its schema and, if that lets it pass, through admission."""
    kind = kind_of(sent.job)
    assert kind is not None
    name = f"{kind.name}/{sent.job['metadata']['name']}"
    checked = check_legacy(sent.job, old=sent.old)
    unknown = [FieldError(path, _unknown_field(kind, path), object=name) for path in checked.unknown_fields]
    errors = (*unknown, *(replace(each, object=name) for each in checked.errors))
    if errors:
        return Review(name, checked.stored or sent.job, errors, checked.warnings)
    verdict = admit_legacy(checked.stored, sent.old)
    refused = tuple(replace(each, object=name) for each in verdict.errors)
    return Review(name, checked.stored, refused, (*checked.warnings, *verdict.warnings))


def _unknown_field(kind: LegacyKind, path: str) -> str:
    """Say that a field is unknown: one of an MPIJob may be meant for the other version."""
    said = unknown_in(legacy_node(kind), path)
    other = LEGACY_KINDS[kind.name] if kind.uses_ssh else MPI_BY_SSH
    if said != UNKNOWN or other.name != kind.name or not knows(legacy_node(other), path):
        return said
    return (
        f"{kind.api_version} has no such field, but {other.api_version} has; remove it, or change apiVersion"
    )
