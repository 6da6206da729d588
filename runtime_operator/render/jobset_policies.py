"""JobSet's rules for success, failure, the coordinator and volume claims, in its own words."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from ..errors import FieldError
from .dns import label_value_faults, subdomain_faults

Object = Mapping[str, Any]
Rule = Iterator[FieldError]

CLAIM_NAME_LENGTH = 63
RULE_NAME_LENGTH = 128
_RULE_NAME = re.compile(r"[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?")
_GATED_ACTIONS = ("RestartJob", "RestartJobAndIgnoreMaxRestarts")
_REASONS = (
    "BackoffLimitExceeded",
    "DeadlineExceeded",
    "FailedIndexes",
    "MaxFailedIndexesExceeded",
    "PodFailurePolicy",
)


def _internal(detail: str) -> FieldError:
    return FieldError("", detail, "InternalError")


def check_success(policy: Object, names: Collection[str]) -> Rule:
    """Every target of the success policy is a job."""
    for name in policy.get("targetReplicatedJobs") or ():
        if name not in names:
            yield _internal(f"invalid replicatedJob name '{name}' does not appear in .spec.ReplicatedJobs")


def check_failure(policy: Object, names: Collection[str]) -> Rule:
    """Restart strategy, actions and rules of the failure policy."""
    if policy.get("restartStrategy") == "InPlaceRestart":
        yield _internal(
            "InPlaceRestart restart strategy cannot be set when InPlaceRestart feature gate is disabled"
        )
    rules = policy.get("rules") or []
    if any(rule.get("action") in _GATED_ACTIONS for rule in rules):
        yield _internal(
            "RestartJob and RestartJobAndIgnoreMaxRestarts failure policy actions are not allowed "
            "when RestartJob feature gate is disabled"
        )
        return
    indices: dict[str, list[int]] = {}
    for index, rule in enumerate(rules):
        name = rule.get("name") or f"failurePolicyRule{index}"
        indices.setdefault(name, []).append(index)
        yield from _failure_rule(name, rule, names)
    for name, same in indices.items():
        if len(same) > 1:
            listed = " ".join(map(str, same))
            yield _internal(
                f"rule names are not unique, rules with indices [{listed}] all have the same name '{name}'"
            )


def _failure_rule(name: str, rule: Object, names: Collection[str]) -> Rule:
    if len(name) > RULE_NAME_LENGTH:
        yield _internal(
            f"invalid failure policy rule name of length {len(name)}, the rule name must be at least "
            f"1 characters long and at most {RULE_NAME_LENGTH} characters long"
        )
    if not _RULE_NAME.fullmatch(name):
        yield _internal(
            f"invalid failure policy rule name '{name}', a failure policy rule name must start with an "
            "alphabetic character, optionally followed by a string of alphanumeric characters or '_,:', "
            "and must end with an alphanumeric character or '_'"
        )
    for target in rule.get("targetReplicatedJobs") or ():
        if target not in names:
            yield _internal(
                f"invalid replicatedJob name '{target}' in failure policy "
                "does not appear in .spec.ReplicatedJobs"
            )
    for reason in rule.get("onJobFailureReasons") or ():
        if reason not in _REASONS:
            yield _internal(
                f"invalid job failure reason '{reason}' in failure policy "
                "is not a recognized job failure reason"
            )


def check_coordinator(name: str, spec: Object) -> Rule:
    """The coordinator is a pod that will exist, and its address fits into a label."""
    coordinator = spec.get("coordinator")
    if not coordinator:
        return
    fault = _coordinator_fault(coordinator, spec["replicatedJobs"])
    if fault:
        yield _internal(fault)
    job, pod = coordinator.get("jobIndex") or 0, coordinator.get("podIndex") or 0
    subdomain = spec["network"].get("subdomain") or name
    address = f"{name}-{coordinator['replicatedJob']}-{job}-{pod}.{subdomain}"
    faults = label_value_faults(address)
    if faults:
        yield _internal(
            f'spec will lead to invalid label value "{address}" for coordinator label '
            '"jobset.sigs.k8s.io/coordinator" (long JobSet / ReplicatedJob / SubDomain name?): '
            + ", ".join(faults)
        )


def _coordinator_fault(coordinator: Object, jobs: Sequence[Object]) -> str:
    name = coordinator["replicatedJob"]
    job = next((each for each in jobs if each["name"] == name), None)
    if job is None:
        return f"coordinator replicatedJob {name} does not exist"
    index, pod = coordinator.get("jobIndex") or 0, coordinator.get("podIndex") or 0
    if not 0 <= index < job["replicas"]:
        return f"coordinator job index {index} is invalid for replicatedJob {name}"
    template = job["template"]["spec"]
    completions = template.get("completions")
    if completions is None or template.get("completionMode", "Indexed") != "Indexed":
        return "job for coordinator pod must be indexed completion mode, and completions number must be set"
    if not 0 <= pod < completions:
        return f"coordinator pod index {pod} is invalid for replicatedJob {name} job index {index}"
    return ""


def check_claims(name: str, spec: Object) -> Rule:
    """Names of volume claims are free, short enough and mounted by some container."""
    taken: set[str] = set()
    for index, policy in enumerate(spec.get("volumeClaimPolicies") or []):
        for number, template in enumerate(policy.get("templates") or []):
            claim = (template.get("metadata") or {}).get("name") or ""
            path = f"spec.volumeClaimPolicies[{index}].template[{number}].name"
            if claim in taken:
                yield FieldError(path, "names must be unique for VolumeClaimPolicies template")
            for fault in subdomain_faults(claim):
                yield FieldError(path, fault)
            if len(f"{claim}-{name}") > CLAIM_NAME_LENGTH:
                yield FieldError(path, "VolumeClaimPolicies template name is too long")
            yield from _claim_use(claim, spec["replicatedJobs"])
            taken.add(claim)


def _claim_use(claim: str, jobs: Sequence[Object]) -> Rule:
    mounted = False
    for index, job in enumerate(jobs):
        pod = job["template"]["spec"]["template"]["spec"]
        for number, volume in enumerate(pod.get("volumes") or []):
            if volume["name"] == claim:
                yield FieldError(
                    f"spec.replicatedJobs[{index}].template.spec.template.spec.volumes[{number}].name",
                    f"volume name conflicts with VolumeClaimPolicy template name: {claim}",
                )
        mounted = mounted or _mounts(pod, claim)
    if not mounted:
        yield FieldError(
            "spec.replicatedJobs",
            f"replicatedJob containers don't have a matching volumeMount: {claim} from VolumeClaimPolicies",
        )


def _mounts(pod: Object, claim: str) -> bool:
    containers = [*(pod.get("initContainers") or ()), *(pod.get("containers") or ())]
    return any(mount["name"] == claim for each in containers for mount in each.get("volumeMounts") or ())
