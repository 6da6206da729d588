"""Our answer to a case, made from its `input`, `features`, `reconcile` and `fullSnapshot` alone.

The way is the one of the command line and the operator: schema, admission, build, and what is applied
given what exists; or, for a `reconcile` case, one step of the controller. Upstream's faults are asked for
(`compat`), since that is what the cases hold.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from kfp_trainer.runtime_operator import api
from kfp_trainer.runtime_operator.controller.apply_rules import to_apply
from kfp_trainer.runtime_operator.controller.next_step import NextStep, next_step
from kfp_trainer.runtime_operator.errors import FieldError
from kfp_trainer.runtime_operator.render.dry_run import DryRun, dry_run, existing_for, read_job, read_runtime
from kfp_trainer.runtime_operator.render.facts import Facts
from kfp_trainer.runtime_operator.render.render import render
from kfp_trainer.runtime_operator.render.world import runtime_of, sort_documents

NOW = datetime(2026, 11, 1, tzinfo=UTC)
OURS_ALONE = ("startTime", "completionTime", "why")
"""fields of a status that upstream does not have"""

Case = Mapping[str, Any]
Answer = dict[str, Any]


def answer(case: Case, *, compat: api.Compat = "upstream") -> Answer:
    """Answer a case in the form that the comparer takes."""
    facts = Facts(features=_features(case))
    if case.get("reconcile"):
        return _reconciled(case, facts, compat)
    outcome = dry_run(case["input"], facts=facts, compat=compat)
    refused = tuple(error for each in outcome.runtimes for error in each.errors)
    return _refused(refused) if refused else _built(outcome)


def _features(case: Case) -> frozenset[str]:
    return frozenset(name for name, on in (case.get("features") or {}).items() if on)


def _refused(errors: tuple[FieldError, ...]) -> Answer:
    fields = ("object", "field", "type", "detail")
    return {"errors": [{name: getattr(error, name) for name in fields} for error in errors]}


def _built(outcome: DryRun) -> Answer:
    (job,) = outcome.jobs
    if job.review.errors:
        return _refused(job.review.errors)
    if job.plan is None:
        return {"buildError": str(job.build_error)}
    objects = to_apply(job.plan.objects, job.review.stored, job.facts.existing)
    return {"objects": list(objects), "warnings": list(job.warnings)}


def _reconciled(case: Case, facts: Facts, compat: api.Compat) -> Answer:
    """One step of the controller over what is stored; admission was long ago."""
    world = sort_documents(case["input"])
    (sent,) = world.sent
    job = api.check(sent.job, compat=compat).stored
    facts = replace(facts, existing=existing_for(job, world, facts))
    runtime = runtime_of(job, [api.check(each, compat=compat).stored for each in world.runtimes])

    def build() -> Any:
        model = None if runtime is None else read_runtime(runtime, compat)
        return render(read_job(job, compat), model, facts, compat=compat)

    step = next_step(job, facts.existing, build, now=NOW)
    return {"status": _status(job, step), "jobSetExists": _jobset_exists(facts, step)}


def _status(job: Mapping[str, Any], step: NextStep) -> Answer:
    status = dict((job.get("status") if step.status is None else step.status) or {})
    conditions = [
        {key: value for key, value in each.items() if key != "lastTransitionTime"}
        for each in status.get("conditions") or ()
    ]
    kept = {key: value for key, value in status.items() if key not in OURS_ALONE}
    return {**kept, "conditions": conditions, "jobsStatus": list(status.get("jobsStatus") or ())}


def _jobset_exists(facts: Facts, step: NextStep) -> bool:
    kinds = {kind for kind, _ in facts.existing} | {each["kind"] for each in step.apply}
    return "JobSet" in kinds and not any(each.get("kind") == "JobSet" for each in step.delete)
