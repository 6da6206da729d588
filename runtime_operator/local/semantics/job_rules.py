"""What batch/v1 refuses in a Job, said before the JobSet is admitted.

A cluster admits such a JobSet, fails to make its Jobs for ever and says so in an event only.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...api.paths import FORBIDDEN, NOT_SUPPORTED, REQUIRED
from ...errors import FieldError
from .build_job import complete_spec
from .indexes import parse
from .model import Json

MOST_INDEXED = 100_000
COUNTS = (
    "parallelism",
    "completions",
    "activeDeadlineSeconds",
    "backoffLimit",
    "backoffLimitPerIndex",
    "maxFailedIndexes",
)
ONLY_INDEXED = ("backoffLimitPerIndex", "maxFailedIndexes", "successPolicy")
ACTIONS = ("Count", "FailIndex", "FailJob", "Ignore")


def faults(spec: Json, path: str) -> Iterator[FieldError]:
    """What is wrong with the spec of a Job template, defaults of the JobSet filled in."""
    spec = complete_spec(spec)
    yield from _counts(spec, path)
    if spec["completionMode"] == "Indexed":
        yield from _indexed(spec, path)
    else:
        yield from _not_indexed(spec, path)
    yield from _failure_policy(spec, f"{path}.podFailurePolicy")
    yield from _replacement(spec, f"{path}.podReplacementPolicy")
    yield from _pod(spec, f"{path}.template.spec")


def _counts(spec: Json, path: str) -> Iterator[FieldError]:
    for name in COUNTS:
        if (spec.get(name) or 0) < 0:
            yield FieldError(f"{path}.{name}", f"must be greater than or equal to 0, got {spec[name]}")


def _indexed(spec: Json, path: str) -> Iterator[FieldError]:
    completions = spec.get("completions")
    if completions is None:
        yield FieldError(f"{path}.completions", "must be set when completionMode is Indexed", REQUIRED)
        return
    if spec["parallelism"] > MOST_INDEXED:
        yield FieldError(
            f"{path}.parallelism", f"must be at most {MOST_INDEXED} when completionMode is Indexed"
        )
    most = spec.get("maxFailedIndexes")
    if most is not None and spec.get("backoffLimitPerIndex") is None:
        yield FieldError(f"{path}.backoffLimitPerIndex", "must be set with maxFailedIndexes", REQUIRED)
    if (most or 0) > completions:
        yield FieldError(
            f"{path}.maxFailedIndexes", f"must be at most completions, {completions}, got {most}"
        )
    policy = spec.get("successPolicy")
    if policy is None:
        return
    if not policy.get("rules"):
        yield FieldError(f"{path}.successPolicy.rules", "must have at least one rule", REQUIRED)
    for index, rule in enumerate(policy.get("rules") or []):
        yield from _success_rule(rule, completions, f"{path}.successPolicy.rules[{index}]")


def _success_rule(rule: Json, completions: int, path: str) -> Iterator[FieldError]:
    indexes, count = rule.get("succeededIndexes"), rule.get("succeededCount")
    if indexes is None and count is None:
        yield FieldError(path, "must have succeededIndexes or succeededCount", REQUIRED)
    most = completions
    if indexes:
        most = len(parse(indexes, completions))
        if not _are_rising(indexes, completions):
            what = f"must be rising indexes below {completions}, as in 0,2-4; got {indexes!r}"
            yield FieldError(f"{path}.succeededIndexes", what)
    if count is not None and not 0 <= count <= most:
        yield FieldError(f"{path}.succeededCount", f"must be from 0 to {most}, got {count}")


def _not_indexed(spec: Json, path: str) -> Iterator[FieldError]:
    if spec["completionMode"] != "NonIndexed":
        detail = f'supported values: "Indexed", "NonIndexed"; got {spec["completionMode"]!r}'
        yield FieldError(f"{path}.completionMode", detail, NOT_SUPPORTED)
    for name in ONLY_INDEXED:
        if spec.get(name) is not None:
            yield FieldError(f"{path}.{name}", "requires completionMode Indexed")


def _failure_policy(spec: Json, path: str) -> Iterator[FieldError]:
    for index, rule in enumerate((spec.get("podFailurePolicy") or {}).get("rules") or []):
        where = f"{path}.rules[{index}]"
        if rule.get("action") not in ACTIONS:
            yield FieldError(f"{where}.action", f"supported values: {', '.join(ACTIONS)}", NOT_SUPPORTED)
        if rule.get("action") == "FailIndex" and spec.get("backoffLimitPerIndex") is None:
            yield FieldError(f"{where}.action", "FailIndex requires backoffLimitPerIndex")
        codes, conditions = rule.get("onExitCodes"), rule.get("onPodConditions")
        if (codes is None) == (not conditions):
            yield FieldError(where, "must have either onExitCodes or onPodConditions")
        if codes is not None:
            yield from _exit_codes(codes, _container_names(spec), f"{where}.onExitCodes")


def _exit_codes(codes: Json, containers: set[str], path: str) -> Iterator[FieldError]:
    operator, values = codes.get("operator"), codes.get("values") or []
    if operator not in ("In", "NotIn"):
        yield FieldError(f"{path}.operator", f"supported values: In, NotIn; got {operator!r}", NOT_SUPPORTED)
    if not values or values != sorted(set(values)):
        yield FieldError(f"{path}.values", f"must be different codes in rising order, got {values}")
    if operator == "In" and 0 in values:
        yield FieldError(f"{path}.values", "must not hold 0 with the operator In")
    name = codes.get("containerName")
    if name is not None and name not in containers:
        yield FieldError(f"{path}.containerName", f"must be the name of a container, got {name!r}")


def _replacement(spec: Json, path: str) -> Iterator[FieldError]:
    known = ["Failed"] if spec.get("podFailurePolicy") is not None else ["Failed", "TerminatingOrFailed"]
    if spec["podReplacementPolicy"] not in known:
        yield FieldError(path, f"supported values: {', '.join(known)}", NOT_SUPPORTED)


def _pod(spec: Json, path: str) -> Iterator[FieldError]:
    pod = (spec.get("template") or {}).get("spec") or {}
    policy = pod.get("restartPolicy") or "Always"
    if policy not in ("OnFailure", "Never"):
        yield FieldError(f"{path}.restartPolicy", f"must be OnFailure or Never, got {policy}", NOT_SUPPORTED)
    elif spec.get("podFailurePolicy") is not None and policy != "Never":
        yield FieldError(f"{path}.restartPolicy", f"must be Never with a podFailurePolicy, got {policy}")
    if not pod.get("containers"):
        yield FieldError(f"{path}.containers", "must have at least one container", REQUIRED)
    for kind in ("initContainers", "containers"):
        for index, container in enumerate(pod.get(kind) or []):
            if not container.get("image"):
                yield FieldError(f"{path}.{kind}[{index}].image", "must be given", REQUIRED)
    names = [each["name"] for each in _containers(spec)]
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield FieldError(
            f"{path}.containers", f"must have different names, {name!r} is given twice", FORBIDDEN
        )


def _containers(spec: Json) -> list[Any]:
    pod = (spec.get("template") or {}).get("spec") or {}
    return [*(pod.get("initContainers") or []), *(pod.get("containers") or [])]


def _container_names(spec: Json) -> set[str]:
    return {each["name"] for each in _containers(spec)}


def _are_rising(text: str, completions: int) -> bool:
    """Whether the text names indexes below `completions`, one or a range at a time, ever higher."""
    ends = [end for part in text.split(",") for end in part.split("-")]
    if not all(end.isdigit() for end in ends) or any(part.count("-") > 1 for part in text.split(",")):
        return False
    numbers = [int(end) for end in ends]
    return numbers == sorted(set(numbers)) and numbers[-1] < completions
