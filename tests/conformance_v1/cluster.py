"""A cluster in small: the Plan's objects, pods that run as soon as they may, and a clock of its own.

JobSets and Jobs live by `local.semantics`. Nodes and schedulers are those of the recordings: every pod runs
at once that no node selector, scheduler or PodGroup keeps waiting.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from kfp_trainer.runtime_operator.local.semantics import (
    PodReport,
    State,
    admit,
    create,
    delete_pod,
    replace_jobset,
    report,
    settle,
)
from kfp_trainer.runtime_operator.local.semantics.model import FAILED, PENDING, RUNNING, SUCCEEDED, Pod
from kfp_trainer.runtime_operator.render.quantity import read

Json = Mapping[str, Any]

CAPACITY = {"cpu": "512", "memory": "2Ti", "nvidia.com/gpu": "64", "example.com/gpu": "64"}
"""of eight nodes together"""
NODE = {"type": "kwok"}
"""the labels of each"""
SCHEDULERS = {
    "volcano": ("volcano", "default-scheduler"),
    "scheduler-plugins": ("scheduler-plugins-scheduler", "default-scheduler"),
}


class Cluster:
    """What there is, and what becomes of it."""

    def __init__(self, variant: str, existing: list[Json]) -> None:
        self.now = 0.0
        self.objects: dict[tuple[str, str], Json] = {
            (each["kind"], each["metadata"]["name"]): each for each in existing
        }
        self.jobset: State | None = None
        self.names: dict[str, str] = {}
        """the Job of each pod that there ever was, by its name"""
        self.attempts: dict[str, list[str]] = {}
        """pods that there ever were, by the Job of their place"""
        self._schedulers = SCHEDULERS.get(variant, ("default-scheduler",))

    def pods(self) -> Iterator[tuple[Pod, int]]:
        """The pods there are that nobody has told to stop, and the how many-th in its place each is."""
        for pod in self.jobset.pods if self.jobset else ():
            if pod.deleted is None:
                yield pod, self.attempts[pod.job].index(pod.uid)

    def apply(self, target: Json) -> None:
        """Make or change an object; a JobSet of another shape is made anew, since it cannot change."""
        name = target["metadata"]["name"]
        if target["kind"] != "JobSet":
            there = self.objects.get((target["kind"], name), {})
            status = self._group_status(target) if target["kind"] == "PodGroup" else there.get("status")
            self.objects[target["kind"], name] = {**target, "status": status} if status else target
            return
        admitted = admit({**target, "metadata": {"uid": f"jobset-{name}", **target["metadata"]}})
        assert not admitted.errors, admitted.errors
        if self.jobset is not None and shape(self.jobset.jobset) != shape(admitted.jobset):
            self.delete_jobset()
        if self.jobset is None:
            self.jobset = create(admitted.jobset)
        else:
            self.jobset = replace_jobset(self.jobset, admitted.jobset)

    def delete(self, kind: str, name: str) -> None:
        """Delete an object, if it is there."""
        self.objects.pop((kind, name), None)

    def delete_jobset(self) -> None:
        """Delete the JobSet with its pods."""
        self.jobset = None

    def delete_pod(self, uid: str) -> None:
        """Delete a pod."""
        assert self.jobset is not None
        self.jobset = delete_pod(self.jobset, uid, self.now)

    def hold(self, jobs: set[str]) -> bool:
        """Set the parallelism of some Jobs to 0; tell whether one was not."""
        assert self.jobset is not None
        held = [
            replace(job, manifest={**job.manifest, "spec": {**job.spec, "parallelism": 0}})
            if job.name in jobs
            else job
            for job in self.jobset.jobs
        ]
        changed = tuple(held) != self.jobset.jobs
        self.jobset = replace(self.jobset, jobs=tuple(held))
        return changed

    def report(self, uid: str, news: PodReport) -> None:
        """A pod fares so now."""
        assert self.jobset is not None
        self.jobset = report(self.jobset, uid, news)

    def settle(self) -> float | None:
        """Let controllers and kubelets come to rest; return when a Job wants to look again."""
        while self.jobset is not None:
            settled = settle(self.jobset, self.now)
            self.jobset = self._run_pods(settled.state)
            if self.jobset == settled.state:
                return settled.look_again
        return None

    def _run_pods(self, state: State) -> State:
        for pod in state.pods:
            known = self.attempts.setdefault(pod.job, [])
            if pod.uid not in known:
                known.append(pod.uid)
                self.names[pod.name] = pod.job
            if pod.terminating:
                state = report(state, pod.uid, PodReport(FAILED, finished=self.now))
            elif pod.report.phase == PENDING and self._is_schedulable(pod):
                state = report(state, pod.uid, PodReport(RUNNING, ready=True))
        return state

    def _is_schedulable(self, pod: Pod) -> bool:
        spec = pod.manifest["spec"]
        claims = [
            each["persistentVolumeClaim"]["claimName"]
            for each in spec.get("volumes") or ()
            if "persistentVolumeClaim" in each
        ]
        return (
            (spec.get("schedulerName") or "default-scheduler") in self._schedulers
            and (spec.get("nodeSelector") or {}).items() <= NODE.items()
            and all(("PersistentVolumeClaim", name) in self.objects for name in claims)
            and _likes_nodes(spec)
        )

    def _group_status(self, group: Json) -> Json:
        """Volcano's queue lets a gang in for which the cluster has room."""
        wanted = group["spec"].get("minResources") or {}
        fits = all(read(wanted[name]).nano <= read(CAPACITY.get(name, 0)).nano for name in wanted)
        return {"phase": "Running" if fits else "Pending"}


def _likes_nodes(spec: Json) -> bool:
    """Whether one of the terms that node affinity requires fits the nodes."""
    affinity = (spec.get("affinity") or {}).get("nodeAffinity") or {}
    terms = (affinity.get("requiredDuringSchedulingIgnoredDuringExecution") or {}).get("nodeSelectorTerms")
    return terms is None or any(
        all(
            each["operator"] == "In" and NODE.get(each["key"]) in each["values"]
            for each in term["matchExpressions"]
        )
        for term in terms
    )


def shape(jobset: Json) -> list[tuple[str, int]]:
    """What of a JobSet can never change."""
    return [(each["name"], each.get("replicas", 1)) for each in jobset["spec"]["replicatedJobs"]]


def ended(code: int, codes: Mapping[str, int], containers: list[str], now: float) -> PodReport:
    """How a pod fares whose containers have ended so."""
    exits = tuple((name, codes.get(name, code)) for name in containers)
    return PodReport(SUCCEEDED if code == 0 else FAILED, exits=exits, finished=now)


def evicted(now: float) -> PodReport:
    """How an evicted pod fares: nobody knows of its containers."""
    return PodReport(FAILED, conditions=(("DisruptionTarget", "True"),), finished=now)
