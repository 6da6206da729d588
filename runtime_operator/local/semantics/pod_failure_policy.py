"""A Job's podFailurePolicy: what the way in which a pod failed means for its Job.

Rules in their order; the first that matches decides. FailJob ends the Job, FailIndex gives its index up,
Ignore leaves the failure out of the counts, Count counts it as if there were no rule.
"""

from __future__ import annotations

from dataclasses import dataclass

from .model import FAILED, SUCCEEDED, Job, Json, Pod


@dataclass(frozen=True, slots=True)
class Match:
    """What the policy says of one failed pod."""

    action: str = ""
    message: str = ""
    """why the Job fails, where the action is FailJob"""

    @property
    def counts(self) -> bool:
        """Whether the failure counts towards the limits."""
        return self.action != "Ignore"


def replaces_only_ended(job: Job) -> bool:
    """Whether a pod that is told to stop is replaced only when it has stopped."""
    spec = job.spec
    return spec["podReplacementPolicy"] == "Failed" or spec.get("podFailurePolicy") is not None


def is_failed(job: Job, pod: Pod) -> bool:
    """Whether the pod is a failure; one that is told to stop is, unless its end is waited for."""
    if pod.report.phase == FAILED:
        return True
    if replaces_only_ended(job):
        return False
    return pod.deleted is not None and pod.report.phase != SUCCEEDED


def match(job: Job, pod: Pod) -> Match:
    """The first rule that the pod's failure matches."""
    for index, rule in enumerate((job.spec.get("podFailurePolicy") or {}).get("rules") or []):
        why = _why(rule, pod, namespace=job.manifest["metadata"]["namespace"])
        if why:
            return Match(rule["action"], f"{why} matching {rule['action']} rule at index {index}")
    return Match()


def fail_job_message(job: Job, pods: tuple[Pod, ...]) -> str | None:
    """Why the Job must fail at once, if a pod failed in such a way."""
    found = (match(job, pod) for pod in pods if is_failed(job, pod))
    return next((each.message for each in found if each.action == "FailJob"), None)


def _why(rule: Json, pod: Pod, *, namespace: str) -> str | None:
    """In what the pod agrees with a rule, as the first half of a sentence."""
    if rule.get("onExitCodes"):
        container = _container_by_code(rule["onExitCodes"], pod)
        if container is None:
            return None
        name, code = container
        return f"Container {name} for pod {namespace}/{pod.name} failed with exit code {code}"
    for kind, status in _conditions(pod):
        for pattern in rule.get("onPodConditions") or []:
            if (pattern["type"], pattern.get("status", "True")) == (kind, status):
                return f"Pod {namespace}/{pod.name} has condition {kind}"
    return None


def _container_by_code(rule: Json, pod: Pod) -> tuple[str, int] | None:
    """The first container that ended in a failure with a code that the rule names."""
    wanted = rule.get("containerName")
    for name, code in pod.report.exits:
        named = (code in rule["values"]) == (rule["operator"] == "In")
        if code != 0 and wanted in (None, name) and named:
            return name, code
    return None


def _conditions(pod: Pod) -> tuple[tuple[str, str], ...]:
    ready = "True" if pod.report.ready else "False"
    return (*pod.report.conditions, ("Ready", ready), ("ContainersReady", ready))
