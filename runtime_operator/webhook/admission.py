"""What is answered to one review: the times of patches for a new job, yes or no for all three kinds.

The API server has held the object against its CRD before it asks for a verdict. So what is judged here is
what no schema can say: the runtime a job names, the plug-ins' rules, and what JobSet would refuse of the
JobSet it becomes. A change that leaves the spec alone always passes, and so does one of an object that is
being deleted. Nothing is written, so a dry run needs no care.
"""

from __future__ import annotations

from typing import Protocol, cast

from .. import api
from ..api.names import TRAIN_JOB
from ..api.stamp import stamp_patches
from ..errors import SpecError
from ..render.admission import Verdict, admit
from ..render.dry_run import Runtime
from ..render.facts import Facts
from ..render.spelling import meant_runtime
from .json_patch import Operation, json_patch
from .review import Json, Review

ALLOWED = Verdict()


class World(Protocol):
    """What is looked up for a verdict."""

    async def runtime(self, job: Json) -> Runtime | None:
        """The runtime that a job names; None if there is none, SpecError if it cannot be read."""

    async def facts(self, job: Json) -> Facts:
        """What is known of the world of a job: what it owns already, its namespace, the installation."""

    def runtimes(self, namespace: str) -> list[Json]:
        """The runtimes that a job of this namespace may name, as far as they are known."""


def stamp(review: Review, *, now: str) -> list[Operation]:
    """The patch that admission makes: when each runtime patch of a TrainJob was last changed."""
    if review.kind != TRAIN_JOB:
        return []
    return list(json_patch(review.object, stamp_patches(review.object, review.old, now=now)))


async def judge(review: Review, world: World) -> Verdict:
    """Say whether this may be stored."""
    if not review.changes_the_spec:
        return ALLOWED
    checked = api.check(review.object, old=review.old)
    if checked.errors:
        return Verdict(checked.errors, checked.warnings)
    judged = await (_judge_job if review.kind == TRAIN_JOB else _judge_runtime)(review, world)
    return Verdict(judged.errors, tuple(dict.fromkeys((*checked.warnings, *judged.warnings))))


async def _judge_runtime(review: Review, world: World) -> Verdict:
    found = api.check_runtime(review.object, old=review.old)
    return Verdict(found.errors, found.warnings)


async def _judge_job(review: Review, world: World) -> Verdict:
    document, old = review.object, review.old
    try:
        job = cast("api.TrainJob", api.read(document))
        before = None if old is None else cast("api.TrainJob", api.read(old))
    except SpecError as error:
        return Verdict(error.errors, error.warnings)
    facts = await world.facts(document)
    try:
        runtime = await world.runtime(document)
        verdict = admit(job, runtime, facts, old=before)
    except SpecError as error:  # a runtime or a snapshot that nobody can read
        return Verdict(error.errors, error.warnings)
    if runtime is None and verdict.errors:
        meant = tuple(meant_runtime(document, world.runtimes(job.namespace)))
        return Verdict(verdict.errors, (*verdict.warnings, *meant))
    return verdict
