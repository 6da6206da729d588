"""failurePolicy: which rule a failed Job falls under, and what follows from it.

Rules in their order, each tried on all failed Jobs; of those that one rule matches the Job that failed
first is named. Without a policy the first failure is final; where no rule matches the JobSet restarts.
"""

from __future__ import annotations

from collections.abc import Sequence

from . import restarts
from .draft import Draft
from .model import Condition, Job, Json, State
from .owned import parent
from .patterns import matches


def execute(state: State, failed: Sequence[Job], draft: Draft) -> None:
    """Fail the JobSet, or begin it anew."""
    policy = state.spec.get("failurePolicy")
    if policy is None:
        _fail(draft, "FailedJobs", "jobset failed due to one or more job failures", _first(failed))
        return
    rule, job = _first_match(policy.get("rules") or [], failed)
    action = rule["action"] if rule else "RestartJobSet"
    if action == "FailJobSet":
        message = "applying FailJobSet failure policy action"
        _fail(draft, "FailJobSetFailurePolicyAction", message, job)
        return
    counts = action == "RestartJobSet"
    if counts and state.status.restarts_towards_max >= policy.get("maxRestarts", 0):
        _fail(draft, "ReachedMaxRestarts", "jobset failed due to reaching max number of restarts", job)
        return
    cause = f"FailurePolicy_{rule['name']}" if rule else "DefaultFailurePolicy"
    message = _named(f"applying {action} failure policy action", job)
    restarts.restart(draft, cause, message, action=action, counts=counts)


def _first_match(rules: Sequence[Json], failed: Sequence[Job]) -> tuple[Json | None, Job]:
    """The first rule that matches any failed Job, and the first of those to fail."""
    for rule in rules:
        found = [job for job in failed if _applies(rule, job)]
        if found:
            return rule, _first(found)
    return None, _first(failed)


def _applies(rule: Json, job: Job) -> bool:
    """Reason, message and replicated Job must all agree; what a rule leaves out agrees."""
    failure = _failure(job)
    reasons, patterns = rule.get("onJobFailureReasons"), rule.get("onJobFailureMessagePatterns")
    targets = rule.get("targetReplicatedJobs")
    return (
        (not reasons or failure.reason in reasons)
        and (not patterns or any(matches(each, failure.message) for each in patterns))
        and (not targets or parent(job) in targets)
    )


def _failure(job: Job) -> Condition:
    return next(each for each in job.status.conditions if each.type == "Failed")


def _first(failed: Sequence[Job]) -> Job:
    return min(failed, key=lambda job: _failure(job).since)


def _named(message: str, job: Job) -> str:
    return f"{message} (first failed job: {job.name})"


def _fail(draft: Draft, reason: str, message: str, job: Job) -> None:
    """The JobSet has failed for good."""
    draft.set("Failed", "True", reason, _named(message, job), warning=True)
    draft.set("RestartingJobSet", "False", "JobSetFailed", "jobset failed")
    draft.change(terminal_state="Failed")
