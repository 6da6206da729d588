"""Our answer to a case, made from its input, its variant and its script alone."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from kfp_trainer.runtime_operator.api.legacy import check_legacy, is_legacy
from kfp_trainer.runtime_operator.local.semantics import PodReport
from kfp_trainer.runtime_operator.local.semantics.model import RUNNING
from kfp_trainer.runtime_operator.render.legacy import admit_legacy
from kfp_trainer.runtime_operator.render.legacy.pods import replica_labels
from tests.fake_api.merging import merge_patch

from .cluster import Cluster, ended, evicted
from .operator import Operator
from .seen import is_owned, seen_object, seen_pod, seen_service, seen_status, with_labels
from .words import refusal

Json = Mapping[str, Any]
Answer = dict[str, Any]
OBJECTS = ("ConfigMap", "ServiceAccount", "Role", "RoleBinding", "HorizontalPodAutoscaler")
SUSPEND = ("spec", "runPolicy", "suspend")


def answer(case: Json) -> Answer:
    """Answer a case in the form that the comparer takes."""
    *others, document = case["input"]
    stored, verdict = admission(document)
    if not verdict["allowed"]:
        return {"admission": verdict}
    variant = case.get("variant", "")
    operator = Operator(stored, Cluster(variant, others), variant)
    operator.rest()
    steps = [told(operator, {}, before=None)]
    for entry in case.get("script") or ():
        before = operator.status.get("startTime")
        operator.cluster.now += 1
        extra: Answer = {}
        for action in entry if isinstance(entry, list) else [entry]:
            extra |= play(operator, action)
        operator.rest()
        steps.append(told(operator, extra, before=before))
    return {"admission": verdict, "steps": steps}


def admission(document: Json, old: Json | None = None) -> tuple[Json, Answer]:
    """What would be stored of a document, and what is said about it."""
    assert is_legacy(document)
    checked = check_legacy(document, old=old)
    if checked.errors:
        return document, _refused(document, checked.errors, by_schema=True)
    verdict = admit_legacy(checked.stored, old)
    if verdict.errors:
        return document, _refused(document, verdict.errors, by_schema=False)
    warnings = [*(f'unknown field "{path}"' for path in checked.unknown_fields), *verdict.warnings]
    return checked.stored, {"allowed": True, **({"warnings": warnings} if warnings else {})}


def _refused(document: Json, errors: Any, *, by_schema: bool) -> Answer:
    return {"allowed": False, "message": refusal(document, errors, by_schema=by_schema)}


def play(operator: Operator, action: Json) -> Answer:
    """Let one thing of the script happen; return what it shows of itself."""
    cluster = operator.cluster
    match action:
        case {"end": who, "code": code}:
            for pod, containers in _pods(operator, who):
                gone = action.get("evicted")
                news = (
                    evicted(cluster.now)
                    if gone
                    else ended(code, action.get("codes", {}), containers, cluster.now)
                )
                cluster.report(pod, news)
        case {"restarted": who, "count": count}:
            for pod, containers in _pods(operator, who):
                cluster.report(pod, PodReport(RUNNING, ready=True, restarts=((containers[0], count),)))
        case {"delete": "job"}:
            operator.delete_job()
        case {"delete": who}:
            for pod, _ in _pods(operator, who):
                cluster.delete_pod(pod)
        case {"wait": seconds}:
            cluster.now += seconds
        case {"suspend": value}:
            changed(operator, {"spec": {"runPolicy": {"suspend": value}}})
        case {"patch": patch}:
            return {"admission": changed(operator, patch)}
        case {"scale": number}:
            field = operator.job.kind.field
            return {"admission": changed(operator, {"spec": {field: {"Worker": {"replicas": number}}}})}
        case {"getScale": _}:
            return {"scale": scale(operator)}
    return {}


def changed(operator: Operator, patch: Json) -> Answer:
    """Change the job, if that is allowed."""
    wanted = merged(operator.document, patch)
    stored, verdict = admission(wanted, operator.document)
    if verdict["allowed"]:
        operator.document = dict(stored)
    return verdict


def scale(operator: Operator) -> Answer:
    """The scale subresource, as the CRD maps it."""
    worker = operator.job.role("Worker")
    assert worker is not None
    status = operator.status.get("replicaStatuses", {}).get("Worker", {})
    told = {"replicas": status.get("active", 0), "selector": status.get("selector")}
    return {"spec": {"replicas": worker.replicas}, "status": told}


def _pods(operator: Operator, who: str) -> list[tuple[Any, list[str]]]:
    """The newest pods in some places, and their containers."""
    wanted, places = who.split(), operator.places()
    newest = {}
    for pod, _ in operator.cluster.pods():
        if pod.job in places:
            part, index = places[pod.job]
            newest[f"{part.role.lower}-{index}"] = pod
    return [
        (newest[name], [each["name"] for each in newest[name].manifest["spec"]["containers"]])
        for name in wanted
        if name in newest
    ]


def merged(document: Json, patch: Json) -> Json:
    """The document after a merge patch."""
    after = deepcopy(dict(document))
    merge_patch(after, dict(patch))
    return after


def told(operator: Operator, extra: Answer, *, before: str | None) -> Answer:
    """What there is now."""
    cluster = operator.cluster
    step = {
        **extra,
        "pods": _seen_pods(operator),
        "services": [
            seen_service(each)
            for (kind, _), each in cluster.objects.items()
            if kind == "Service" and is_owned(each)
        ],
        "objects": [
            seen_object(each, operator.known)
            for (kind, _), each in cluster.objects.items()
            if kind in OBJECTS and is_owned(each)
        ],
        "podGroups": [
            seen_object(each, operator.known)
            for (kind, _), each in cluster.objects.items()
            if kind == "PodGroup"
        ],
    }
    for each in step["podGroups"]:
        each.pop("kind")
    if operator.gone:
        return {**step, "job": "gone"}
    conditions = operator.status.get("conditions") or [{"type": ""}]
    started = operator.status.get("startTime")
    moved = {"startTimeMoved": True} if before and started != before else {}
    return {**step, **moved, "status": seen_status(operator.status), "state": conditions[-1]["type"]}


def _seen_pods(operator: Operator) -> list[Answer]:
    if operator.gone:
        return []
    job, places, cluster = operator.job, operator.places(), operator.cluster
    newest = {}
    for pod, attempt in cluster.pods():
        if pod.job not in places:
            continue
        part, index = places[pod.job]
        manifest = with_labels(pod.manifest, replica_labels(job, part.role, index))
        seen = seen_pod(manifest, pod.report.phase, job, part.role, index, attempt)
        priority = cluster.objects.get(("PriorityClass", str(pod.manifest["spec"].get("priorityClassName"))))
        newest[part.role.name, index] = seen | ({"priority": priority["value"]} if priority else {})
    return list(newest.values())
