"""A cluster in virtual time: our rules, and pods that start at once and end when the script says so.

Pods with the label `ready: later` become ready when told, those with `stop: held` stop when told. A step
of a script is over when nothing has moved for two seconds, as when the cases were recorded.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from kfp_trainer.runtime_operator.local import semantics
from kfp_trainer.runtime_operator.local.semantics import Pod, PodReport, Start, State, Stop
from kfp_trainer.runtime_operator.local.semantics.settle import settle_jobs

QUIET = 2.0
TERMINATED, EVICTED = 143, 137


class Cluster:
    """One JobSet, the time, and what has been seen so far."""

    def __init__(self, jobset: dict[str, Any]) -> None:
        self.now = 0.0
        self.state = semantics.create(jobset)
        self.controller_runs = True
        self.look_again: float | None = None
        self.moved = 0.0
        self.appeared: list[str] = []
        self.jobs_seen: dict[str, int] = {}
        """the how many-th Job of its name, by uid"""
        self.pods_seen: dict[str, int] = {}
        """the how many-th pod of its Job's name and index, by uid"""
        self._counted: dict[tuple[str, str], int] = {}

    def settle(self) -> None:
        """Let the controllers and the pods come to rest, at this moment."""
        while True:
            before = self.state
            settled = (
                semantics.settle(before, self.now) if self.controller_runs else settle_jobs(before, self.now)
            )
            self.state, self.look_again = settled.state, settled.look_again
            self._note(before)
            for command in semantics.commands_between(before, self.state):
                match command:
                    case Start(pod):
                        self._report(pod, phase="Running", ready=pod_label(pod, "ready") != "later")
                    case Stop(pod) if pod_label(pod, "stop") != "held":
                        self._end(pod, TERMINATED)
            if self.state is before:
                return
            self.moved = self.now

    def quiet(self) -> None:
        """Go on until nothing has moved for a while."""
        self.settle()
        self.moved = self.now
        while self.look_again is not None and self.look_again <= self.moved + QUIET:
            self.now = max(self.now, self.look_again)
            self.settle()
        self.now = self.moved + QUIET

    def wait(self, seconds: float) -> None:
        """Let time pass."""
        self.settle()
        until = self.now + seconds
        while self.look_again is not None and self.look_again <= until:
            self.now = max(self.now, self.look_again)
            self.settle()
        self.now = until

    def end(self, name: str, code: int) -> None:
        """All containers of a pod end with this code; OnFailure restarts them in place."""
        pod = self.find(name)
        if code and pod.manifest["spec"]["restartPolicy"] == "OnFailure":
            restarts = dict(pod.report.restarts)
            counted = tuple((c, restarts.get(c, 0) + 1) for c in _containers(pod))
            self._change(pod, replace(pod.report, restarts=counted))
        else:
            self._end(pod, code)

    def evict(self, name: str) -> None:
        """A pod is evicted."""
        pod = self.find(name)
        self._end(pod, EVICTED, conditions=(("DisruptionTarget", "True"),))

    def become_ready(self, name: str) -> None:
        """A pod becomes ready."""
        self._report(self.find(name), phase="Running", ready=True)

    def stopped(self, name: str) -> None:
        """A pod that was told to stop has stopped."""
        for pod in self.state.pods:
            if pod.terminating and self.short_name(pod) == name:
                self._end(pod, TERMINATED)

    def delete_pod(self, name: str) -> None:
        """Someone deletes a pod."""
        pod = self.find(name)
        self.state = semantics.delete_pod(self.state, pod.uid, self.now)
        if pod_label(pod, "stop") != "held":
            self._end(pod, TERMINATED)

    def find(self, name: str) -> Pod:
        """The pod that goes by this name in a script: the newest that is not told to stop."""
        found = [pod for pod in self.state.pods if self.short_name(pod) == name]
        return max(found, key=lambda pod: (pod.active, self.pods_seen[pod.uid]))

    def short_name(self, pod: Pod) -> str:
        """REPLICATEDJOB-JOBINDEX-PODINDEX."""
        return f"{pod.job.removeprefix(self.state.name + '-')}-{pod.index or 0}"

    def _report(self, pod: Pod, **news: Any) -> None:
        self._change(pod, replace(pod.report, **news))

    def _end(self, pod: Pod, code: int, conditions: tuple[tuple[str, str], ...] = ()) -> None:
        exits = tuple((name, code) for name in _containers(pod))
        phase = "Failed" if code else "Succeeded"
        end = PodReport(phase, False, pod.report.restarts, exits, conditions, self.now)
        self._change(pod, end)

    def _change(self, pod: Pod, report: PodReport) -> None:
        self.state = semantics.report(self.state, pod.uid, report)

    def _note(self, before: State) -> None:
        """Number the Jobs and pods that are new."""
        known = {job.uid for job in before.jobs}
        for job in self.state.jobs:
            if job.uid not in known:
                self.jobs_seen[job.uid] = self._next("job", job.name)
                self.appeared.append(job.name.removeprefix(self.state.name + "-"))
        for pod in self.state.pods:
            if pod.uid not in self.pods_seen:
                self.pods_seen[pod.uid] = self._next("pod", self.short_name(pod))

    def _next(self, kind: str, name: str) -> int:
        self._counted[kind, name] = self._counted.get((kind, name), 0) + 1
        return self._counted[kind, name]


def pod_label(pod: Pod, name: str) -> str | None:
    """A label of a pod."""
    value: str | None = pod.manifest["metadata"]["labels"].get(name)
    return value


def _containers(pod: Pod) -> list[str]:
    return [each["name"] for each in pod.manifest["spec"]["containers"]]
