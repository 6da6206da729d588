"""The operator in small: it decides by our pure rules, and brings the cluster to what is wanted."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from kfp_trainer.runtime_operator.api.legacy import LegacyJob, read_legacy
from kfp_trainer.runtime_operator.controller.legacy import PodState, Wanted, decide
from kfp_trainer.runtime_operator.controller.legacy.changes import changes
from kfp_trainer.runtime_operator.controller.legacy.foreign import in_the_way
from kfp_trainer.runtime_operator.controller.legacy.pods import newest
from kfp_trainer.runtime_operator.render.facts import Facts
from kfp_trainer.runtime_operator.render.legacy import Installation, render_legacy
from kfp_trainer.runtime_operator.render.legacy.gang import may_have_pods
from kfp_trainer.runtime_operator.render.legacy.mpi import Workers
from kfp_trainer.runtime_operator.render.legacy.parts import Layout, Part, lay_out
from kfp_trainer.runtime_operator.render.legacy.render import made_before

from .cluster import Cluster
from .seen import place_name

Json = Mapping[str, Any]
START = datetime(2026, 11, 1, tzinfo=UTC)
UID = "11111111-1111-4111-8111-111111111111"
INSTALLATIONS = {
    "": Installation(),
    "volcano": Installation(gang_scheduler="volcano"),
    "scheduler-plugins": Installation(gang_scheduler="scheduler-plugins-scheduler"),
    "domain": Installation(custom_domain="cluster.example"),
}
PATIENCE = 600.0
"""how long a Job's back-off may be for the cluster to count as moving"""
MOST_LOOKS = 100


class Operator:
    """One job's operator."""

    def __init__(self, document: Json, cluster: Cluster, variant: str) -> None:
        self.document = {**document, "metadata": {**document["metadata"], "uid": UID}}
        self.cluster = cluster
        self.installation = INSTALLATIONS[variant]
        self.status: Json = {}
        self.gone = False
        self.known: dict[str, str] = {}
        """v1's name of every pod that there ever was, by its own"""

    @property
    def job(self) -> LegacyJob:
        """The job as it is meant."""
        return read_legacy(self.document)

    @property
    def layout(self) -> Layout:
        """Its parts."""
        return lay_out(self.job, made_before(self.job, Facts(existing=self.cluster.existing())))

    def places(self) -> dict[str, tuple[Part, int]]:
        """Every replica by the name of its Job."""
        layout = self.layout
        return {layout.job_name(part, index): (part, index) for part, index in layout.places()}

    def rest(self) -> None:
        """Look, and let the cluster move, until nothing moves any more."""
        for _ in range(MOST_LOOKS):
            before = (self.status, dict(self.cluster.jobsets), dict(self.cluster.objects))
            self._look()
            again = self.cluster.settle()
            if (self.status, self.cluster.jobsets, self.cluster.objects) != before:
                continue
            if again is None or not self.cluster.now < again <= self.cluster.now + PATIENCE:
                return
            self.cluster.now = again
        raise AssertionError("does not come to rest")

    def pod_states(self) -> list[PodState]:
        """The pods as the rules look at them."""
        places, container = self.places(), self.job.kind.container
        found = []
        leaving = () if self.job.kind.name == "MPIJob" else self.cluster.leaving()
        for pod, attempt in (*self.cluster.pods(), *leaving):
            if pod.job not in places:
                continue
            part, index = places[pod.job]
            told = pod.report
            self.known[pod.name] = place_name(self.job, part.role, index)
            found.append(
                PodState(
                    part.role.name,
                    index,
                    pod.name,
                    told.phase if pod.deleted is None else "Failed",
                    attempt,
                    dict(told.exits).get(container),
                    sum(count for _, count in told.restarts),
                    evicted=dict(told.conditions).get("DisruptionTarget") == "True",
                    deleted=pod.deleted is not None,
                )
            )
        with_pods = {pod.job for pod, _ in self.cluster.pods()}
        for name in set(self.cluster.completed()) & places.keys() - with_pods:
            part, index = places[name]
            found.append(PodState(part.role.name, index, name, "Succeeded", exit_code=0))
        return found

    def _look(self) -> None:
        if self.gone:
            return
        job, pods = self.job, self.pod_states()
        group = self.cluster.objects.get(("PodGroup", job.name))
        is_placed = bool(pods) or may_have_pods(group, self.installation)
        now = START + timedelta(seconds=self.cluster.now)
        decision = decide(job, self.status, pods, now, is_placed=is_placed)
        if decision.delete_job:
            self.delete_job()
        elif decision.wanted is not None and self._bring_about(decision.wanted, pods, is_placed=is_placed):
            self.status = decision.status

    def _bring_about(self, wanted: Wanted, pods: list[PodState], *, is_placed: bool) -> bool:
        """Apply and delete; False if something of somebody else's is in the way."""
        job, cluster = self.job, self.cluster
        found = [pod for pod in newest(job, pods).values() if pod.role == "Worker"]
        running = frozenset(pod.index for pod in found if pod.phase == "Running")
        plan = render_legacy(
            job,
            Facts(existing=cluster.existing()),
            self.installation,
            workers=Workers({pod.index: pod.name for pod in found}, running),
            is_placed=is_placed,
        )
        todo = changes(self.layout, plan.objects, wanted, cluster.existing())
        obstacle = in_the_way(job, todo.apply, cluster.objects)
        for each in todo.apply:
            if each is obstacle:
                return False
            cluster.apply(each)
        for each in todo.later:
            if in_the_way(job, [each], cluster.objects) is None:
                cluster.apply(each)
        for each in todo.delete:
            if each["kind"] == "JobSet":
                cluster.delete_jobsets([each["metadata"]["name"]])
            else:
                cluster.delete(each["kind"], each["metadata"]["name"])
        cluster.hold(todo.held)
        return True

    def delete_job(self) -> None:
        """The job goes, and all that it owns."""
        self.gone, self.status = True, {}
        self.cluster.delete_jobsets(self.cluster.jobsets)
        for kind, name in list(self.cluster.objects):
            owners = self.cluster.objects[kind, name]["metadata"].get("ownerReferences") or ()
            if any(each["uid"] == UID for each in owners):
                self.cluster.delete(kind, name)
