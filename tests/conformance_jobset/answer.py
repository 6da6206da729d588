"""Our answer to a case, from its JobSet and its script alone."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any

import yaml

from kfp_trainer.runtime_operator.local import semantics
from kfp_trainer.runtime_operator.local.semantics import Job, Pod
from kfp_trainer.runtime_operator.local.semantics.model import Condition, true_condition

from .cluster import Cluster
from .script import play
from .wording import verdict

CASES = Path(__file__).parent / "cases"
SYSTEM = ("batch.kubernetes.io/", "jobset.sigs.k8s.io/")
OLD_NAMES = ("job-name", "controller-uid")
UNTOLD = ("uid", "job-key")
DETAILED_TOPICS = {"network", "coordinator"}


def answer(case: Mapping[str, Any]) -> dict[str, Any]:
    """What the JobSet becomes, step by step."""
    admitted = semantics.admit(case["input"])
    answered: dict[str, Any] = {"admission": verdict(admitted)}
    if admitted.errors:
        return answered
    spec = admitted.jobset["spec"]
    answered["defaults"] = {key: value for key, value in spec.items() if key != "replicatedJobs"}
    cluster = Cluster(admitted.jobset)
    detailed = is_detailed(case)
    answered["steps"] = [
        verdicts | step(cluster, detailed=detailed) for verdicts in play(cluster, case.get("script") or [])
    ]
    return answered


def is_detailed(case: Mapping[str, Any]) -> bool:
    """Whether the record of such a case shows names, labels and variables of the pods."""
    if case.get("topic") in DETAILED_TOPICS or case.get("sentence") in _detailed_sentences():
        return True
    jobs = case["input"]["spec"].get("replicatedJobs") or []
    pods = [job["template"]["spec"]["template"]["spec"] for job in jobs]
    return any("initContainers" in pod or any("env" in each for each in pod["containers"]) for pod in pods)


@cache
def _detailed_sentences() -> frozenset[str]:
    """The sentences of the cases that show them."""
    texts = (path.read_text(encoding="utf-8") for path in CASES.glob("*.yaml"))
    return frozenset(
        yaml.safe_load(text.split("\ntopic:", 1)[0])["sentence"] for text in texts if "hostname: " in text
    )


def step(cluster: Cluster, *, detailed: bool) -> dict[str, Any]:
    """What there is to see now."""
    state = cluster.state
    appeared, cluster.appeared = cluster.appeared, []
    shown: dict[str, Any] = {
        "jobs": [_job(cluster, job) for job in sorted(state.jobs, key=lambda job: job.name)],
        "pods": [_pod(cluster, pod, detailed=detailed) for pod in state.pods],
        "appeared": [
            sorted(group) for _, group in groupby(appeared, key=lambda name: name.rsplit("-", 1)[0])
        ],
        "services": list(state.services),
    }
    return {**shown, "jobset": "gone"} if state.gone else {**shown, "status": _status(cluster)}


def _status(cluster: Cluster) -> dict[str, Any]:
    status = cluster.state.status
    counts = ("name", "ready", "succeeded", "failed", "active", "suspended")
    replicated = [{key: getattr(each, key) for key in counts} for each in status.replicated_jobs]
    shown: dict[str, Any] = {
        "conditions": [_condition(each) | {"status": each.status} for each in status.conditions],
        "replicatedJobsStatus": replicated,
        "terminalState": status.terminal_state,
    }
    if replicated:
        shown["restarts"] = status.restarts
    if status.restarts_towards_max:
        shown["restartsCountTowardsMax"] = status.restarts_towards_max
    return shown


def _condition(condition: Condition) -> dict[str, Any]:
    return {"type": condition.type, "reason": condition.reason, "message": condition.message}


def _job(cluster: Cluster, job: Job) -> dict[str, Any]:
    status = job.status
    shown: dict[str, Any] = {
        "name": job.name.removeprefix(cluster.state.name + "-"),
        "suspended": job.suspended,
        **{key: getattr(status, key) for key in ("active", "ready", "succeeded", "failed")},
        "completedIndexes": status.completed_indexes,
        "failedIndexes": status.failed_indexes,
        "attempt": int(job.labels["jobset.sigs.k8s.io/restart-attempt"]),
        "incarnation": cluster.jobs_seen[job.uid],
    }
    if status.terminating:
        shown["terminating"] = status.terminating
    if job.deleted is not None:
        shown["deleting"] = True
    decided = [true_condition(status.conditions, kind) for kind in ("SuccessCriteriaMet", "FailureTarget")]
    if job.ended:
        shown["condition"] = _normal(_condition(job.ended), cluster)
    elif any(decided):
        shown["decided"] = next({"type": each.type, "reason": each.reason} for each in decided if each)
    return shown


def _normal(condition: dict[str, Any], cluster: Cluster) -> dict[str, Any]:
    """A condition without what is random or of this place: the end of a pod's name, the namespace."""
    message = condition["message"]
    for pod in cluster.state.pods:
        stem = pod.name.rsplit("-", 1)[0]
        message = message.replace(f"{cluster.state.namespace}/{pod.name}", f"<namespace>/{stem}-<any>")
    return {**condition, "message": message}


def _pod(cluster: Cluster, pod: Pod, *, detailed: bool) -> dict[str, Any]:
    metadata, spec = pod.manifest["metadata"], pod.manifest["spec"]
    shown: dict[str, Any] = {
        "job": pod.job.removeprefix(cluster.state.name + "-"),
        "index": pod.index or 0,
        "incarnation": cluster.pods_seen[pod.uid],
        "phase": pod.report.phase,
        "labels": _of_the_user(metadata["labels"]),
        "annotations": _of_the_user(metadata["annotations"]),
        "nodeSelector": spec.get("nodeSelector"),
        "tolerations": spec.get("tolerations"),
    }
    restarts = sum(count for _, count in pod.report.restarts)
    if restarts:
        shown["restarts"] = restarts
    if pod.deleted is not None:
        shown["deleting"] = True
    return shown | _details(pod) if detailed else shown


def _details(pod: Pod) -> dict[str, Any]:
    metadata, spec = pod.manifest["metadata"], pod.manifest["spec"]
    containers = [*(spec.get("initContainers") or []), *spec["containers"]]
    return {
        "hostname": spec.get("hostname"),
        "subdomain": spec.get("subdomain"),
        "env": {each["name"]: [one["name"] for one in each.get("env") or []] for each in containers},
        "systemLabels": {
            key: value
            for key, value in metadata["labels"].items()
            if key.startswith(SYSTEM) and not key.endswith(UNTOLD)
        },
    }


def _of_the_user(entries: Mapping[str, str]) -> dict[str, str]:
    return {k: v for k, v in entries.items() if not k.startswith(SYSTEM) and k not in OLD_NAMES}
