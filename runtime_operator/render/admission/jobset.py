"""What JobSet will say to the JobSet that this job becomes.

The job is built as the operator would build it. A new JobSet is held against JobSet's rules for new ones. A
changed one is held against its rules for changes, beside the JobSet that exists, or beside the one that the
stored job has become if nobody looked. What JobSet would refuse is told in terms of the TrainJob: how long
its name may be, which part of a patch comes too late.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ...api.names import OUR_CONTROLLER
from ...api.paths import FORBIDDEN, TOO_LONG
from ...errors import FieldError, SetupError, SpecError
from ..dns import LABEL_LENGTH
from ..facts import Facts
from ..framework import Proposal
from ..jobset_rules import check_jobset, longest_names
from ..jobset_update import changes
from ..overlay import Object
from ..plan import Plan
from ..render import render
from ..snapshot import SUFFIX
from .patches import contents

if TYPE_CHECKING:
    from ...api.trainjob import TrainJob

MUTABLE = "labels, annotations, nodeSelector, tolerations and schedulingGates of its pods"


@dataclass(frozen=True, slots=True)
class Prediction:
    """What JobSet would refuse, and what the build warns of."""

    errors: tuple[FieldError, ...] = ()
    warnings: tuple[str, ...] = ()


def predict(proposal: Proposal) -> Prediction:
    """Build the job and find what JobSet would refuse of it."""
    if proposal.job.spec.managedBy != OUR_CONTROLLER:
        return Prediction()
    try:
        plan = render(proposal.job, proposal.runtime, _facts(proposal))
    except SpecError as error:
        return Prediction(error.errors, error.warnings)
    except SetupError as error:
        return Prediction(warnings=(str(error),))  # the installation's fault, not the job's
    return Prediction(tuple(_refusals(proposal, plan)), plan.warnings)


def _facts(proposal: Proposal) -> Facts:
    """Give what a build may know; the snapshot of a namesake that is still being deleted is none of it."""
    key = ("ConfigMap", proposal.job.name + SUFFIX)
    if proposal.old is not None or key not in proposal.facts.existing:
        return proposal.facts
    others = {each: found for each, found in proposal.facts.existing.items() if each != key}
    return replace(proposal.facts, existing=others)


def _refusals(proposal: Proposal, plan: Plan) -> Iterator[FieldError]:
    jobset = _jobset_of(plan)
    old = None if proposal.old is None else _stored(proposal, proposal.old)
    if old is None:
        yield from _in_terms_of_the_job(jobset, check_jobset(jobset))
        return
    if not proposal.job.spec.suspend and not old["spec"].get("suspend"):
        return  # it runs, and is left alone
    for error in check_jobset(jobset, old=old):
        yield _too_late(proposal, error, changes(old["spec"], jobset["spec"]))


def _jobset_of(plan: Plan) -> Object:
    return next(each for each in plan.objects if each["kind"] == "JobSet")


def _stored(proposal: Proposal, job: TrainJob) -> Object | None:
    """Find the JobSet that would be changed, or make the one that the stored job became.

    A JobSet that differs already from what its job becomes (another version built it, or the runtime has
    changed) is no fault of this update: then only what the update itself changes counts.
    """
    held = proposal.facts.existing.get(("JobSet", job.name))
    if held is not None and not (held.get("spec") or {}).get("replicatedJobs"):
        held = None
    try:
        became = _jobset_of(render(job, proposal.runtime, proposal.facts))
    except SpecError:
        return held  # what could not be built was never there
    if held is None or not check_jobset(became, old=held):
        return held or became
    return {**became, "spec": {**became["spec"], "suspend": held["spec"].get("suspend", False)}}


def _in_terms_of_the_job(jobset: Object, errors: Sequence[FieldError]) -> Iterator[FieldError]:
    name = jobset["metadata"]["name"]
    budget, longest = name_budget(jobset)
    if len(name) > budget:
        yield FieldError(
            "metadata.name",
            f"must be no more than {budget} characters, so that {longest!r} fits into {LABEL_LENGTH}, "
            f"got {len(name)}: shorten it, as in {name[:budget].rstrip('-')!r}",
            TOO_LONG,
        )
        return
    for error in errors:
        yield FieldError("spec.runtimeRef", f"its JobSet would be refused: {error}", error.type)


def name_budget(jobset: Object) -> tuple[int, str]:
    """Say how long the name of a job may be, and which name made from it is the longest."""
    name, spec = jobset["metadata"]["name"], jobset["spec"]
    made = [text for job in spec.get("replicatedJobs") or () for text in longest_names(name, job)]
    for policy in spec.get("volumeClaimPolicies") or ():
        made += [f"{each['metadata']['name']}-{name}" for each in policy.get("templates") or ()]
    longest = max(made, key=len, default=name)
    return LABEL_LENGTH - (len(longest) - len(name)), longest


def _too_late(proposal: Proposal, error: FieldError, changed: Sequence[str]) -> FieldError:
    patched = proposal.old is not None and contents(proposal.job) != contents(proposal.old)
    what = ", ".join(changed) or error.field
    return FieldError(
        "spec.runtimePatches" if patched else "spec.runtimeRef",
        f"must not change {what} once the JobSet exists ({error}): of a suspended job only {MUTABLE} "
        "may change; delete the TrainJob and create it anew",
        FORBIDDEN,
    )
