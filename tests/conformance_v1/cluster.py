"""A cluster in small: the Plan's objects, pods that run as soon as they may, and a clock of its own.

JobSets and Jobs live by `local.semantics`. Nodes and schedulers are those of the recordings: every pod runs
at once that no node selector, scheduler or PodGroup keeps waiting.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
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
from kfp_trainer.runtime_operator.local.semantics.model import FAILED, PENDING, RUNNING, SUCCEEDED, Job, Pod
from kfp_trainer.runtime_operator.local.semantics.unsupported import refuse_unsupported
from kfp_trainer.runtime_operator.render.quantity import read

Json = Mapping[str, Any]

CAPACITY = {"cpu": "512", "memory": "2Ti", "nvidia.com/gpu": "64", "example.com/gpu": "64"}
"""of eight nodes together"""
SERIALS = 10_000
"""uids that one JobSet may give, so that none comes twice"""
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
        self.jobsets: dict[str, State] = {}
        self.attempts: dict[str, list[str]] = {}
        """pods that there ever were, by the Job of their place"""
        self._serials = itertools.count(0, SERIALS)
        self._schedulers = SCHEDULERS.get(variant, ("default-scheduler",))

    def pods(self) -> Iterator[tuple[Pod, int]]:
        """The pods there are that nobody has told to stop, and the how many-th in its place each is."""
        for jobset in self.jobsets.values():
            for pod in jobset.pods:
                if pod.deleted is None:
                    yield pod, self.attempts[pod.job].index(pod.uid)

    def leaving(self) -> Iterator[tuple[Pod, int]]:
        """The pods that have been told to stop while they ran."""
        for jobset in self.jobsets.values():
            for pod in jobset.pods:
                if pod.terminating and pod.report.phase == RUNNING:
                    yield pod, self.attempts[pod.job].index(pod.uid)

    def completed(self) -> Iterator[str]:
        """The Jobs that are complete."""
        for jobset in self.jobsets.values():
            for job in jobset.jobs:
                if any((each.type, each.status) == ("Complete", "True") for each in job.status.conditions):
                    yield job.name

    def existing(self) -> dict[tuple[str, str], Json]:
        """All objects, as the operator sees them."""
        return {**self.objects, **{("JobSet", name): each.jobset for name, each in self.jobsets.items()}}

    def apply(self, target: Json) -> None:
        """Make or change an object; a JobSet that runs only rests or goes on, one that rests is made anew."""
        name = target["metadata"]["name"]
        if target["kind"] != "JobSet":
            there = self.objects.get((target["kind"], name), {})
            status = self._group_status(target) if target["kind"] == "PodGroup" else there.get("status")
            self.objects[target["kind"], name] = {**target, "status": status} if status else target
            return
        uid = f"jobset-{name}"
        admitted = admit({**target, "metadata": {**target["metadata"], "uid": uid}})
        unfit_for_one_machine = refuse_unsupported(admitted.jobset)
        assert set(admitted.errors) <= set(unfit_for_one_machine), admitted.errors
        there = self.jobsets.get(name)
        if there is None or (there.suspended and _but_rest(there.jobset) != _but_rest(admitted.jobset)):
            self.jobsets[name] = replace(create(admitted.jobset), serial=next(self._serials))
            return
        rests = bool(admitted.jobset["spec"].get("suspend"))
        changed = {**there.jobset, "spec": {**there.spec, "suspend": rests}}
        self.jobsets[name] = replace_jobset(there, changed)

    def delete(self, kind: str, name: str) -> None:
        """Delete an object, if it is there."""
        self.objects.pop((kind, name), None)

    def delete_jobsets(self, names: Iterable[str]) -> None:
        """Delete JobSets with their pods."""
        for name in list(names):
            del self.jobsets[name]

    def delete_pod(self, pod: Pod) -> None:
        """Delete a pod."""
        self._change(pod, lambda state: delete_pod(state, pod.uid, self.now))

    def report(self, pod: Pod, news: PodReport) -> None:
        """A pod fares so now."""
        self._change(pod, lambda state: report(state, pod.uid, news))

    def _change(self, pod: Pod, change: Callable[[State], State]) -> None:
        name = pod.manifest["metadata"]["labels"]["jobset.sigs.k8s.io/jobset-name"]
        self.jobsets[name] = change(self.jobsets[name])

    def hold(self, jobs: frozenset[str]) -> None:
        """Set the parallelism of these Jobs to 0, and of all others to 1."""
        for name, state in self.jobsets.items():
            held = tuple(_with_parallelism(job, 0 if job.name in jobs else 1) for job in state.jobs)
            self.jobsets[name] = replace(state, jobs=held)

    def settle(self) -> float | None:
        """Let controllers and kubelets come to rest; return when a Job wants to look again."""
        return min(
            (again for name in self.jobsets if (again := self._settle(name)) is not None), default=None
        )

    def _settle(self, name: str) -> float | None:
        while True:
            settled = settle(self.jobsets[name], self.now)
            self.jobsets[name] = self._run_pods(settled.state)
            if self.jobsets[name] == settled.state:
                return settled.look_again

    def _run_pods(self, state: State) -> State:
        for pod in state.pods:
            known = self.attempts.setdefault(pod.job, [])
            if pod.uid not in known:
                known.append(pod.uid)
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
            and not spec.get("schedulingGates")
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


def _but_rest(jobset: Json) -> Json:
    return {name: value for name, value in jobset["spec"].items() if name != "suspend"}


def _with_parallelism(job: Job, number: int) -> Job:
    if job.spec["parallelism"] == number:
        return job
    return replace(job, manifest={**job.manifest, "spec": {**job.spec, "parallelism": number}})


def ended(code: int, codes: Mapping[str, int], containers: list[str], now: float) -> PodReport:
    """How a pod fares whose containers have ended so."""
    exits = tuple((name, codes.get(name, code)) for name in containers)
    return PodReport(SUCCEEDED if code == 0 else FAILED, exits=exits, finished=now)


def evicted(now: float) -> PodReport:
    """How an evicted pod fares: nobody knows of its containers."""
    return PodReport(FAILED, conditions=(("DisruptionTarget", "True"),), finished=now)
