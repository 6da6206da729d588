"""Gangs by Volcano: an annotation on the pods, their scheduler, and a PodGroup in a queue.

By default the pods go to Volcano without being told: a PodGroup alone makes no gang. Pods that follow the
gang (a launcher that waits for its nodes) go there too, in the same queue, so that no two schedulers give
away one GPU. Initializers stay with the default scheduler.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from ...errors import FieldError
from ..facts import Facts
from ..framework import Plugin, Proposal, Runtime, Watch
from ..gang import gang_watches, is_initializer, plan_gang, pod_group, wants_pod_group
from ..info import Info
from ..merged import merged_annotations, merged_jobs
from ..overlay import Object
from ..pods import GANG_ANNOTATION, Pods, pod_spec

GROUP = "scheduling.volcano.sh"
VERSION = f"{GROUP}/v1beta1"
QUEUE = f"{GROUP}/queue-name"
SCHEDULER = "volcano"
CLASS = "PriorityClass"
SYSTEM_CLASSES = ("system-cluster-critical", "system-node-critical")
"""classes that every cluster has"""


class Volcano(Plugin):
    """Serves runtimes with a Volcano policy."""

    name = "volcano"

    def serves(self, runtime: Runtime) -> bool:
        """Only where the runtime asks for it."""
        return runtime.spec.podGroupPolicy is not None and runtime.spec.podGroupPolicy.volcano is not None

    def watch_extension(self) -> tuple[Watch, ...]:
        """Watch PodGroups, and what changes a gang."""
        return gang_watches(VERSION)

    def custom_validation(self, proposal: Proposal) -> Iterator[FieldError]:
        """Check that the queue has a name and that the priority classes exist."""
        if merged_annotations(proposal).get(QUEUE) == "":
            yield FieldError(f"spec.annotations[{QUEUE}]", "Volcano queue name must not be empty")
        if CLASS not in proposal.facts.looked_up and not proposal.upstream:
            return
        for job in merged_jobs(proposal):
            name = pod_spec(job).get("priorityClassName")
            if name in SYSTEM_CLASSES and proposal.upstream:
                return
            if name and _is_missing(name, proposal.facts):
                yield _unknown_class(name)

    def enforce_pod_group_policy(self, info: Info) -> None:
        """Mark the pods of the gang and send them to Volcano."""
        gang = plan_gang(info, self.name)
        for pods in gang:
            pods.annotations[GANG_ANNOTATION] = info.name
        if info.upstream:
            return
        for pods in info.pods:
            _warn_of_class(info, pods)
            if not is_initializer(pods):
                _send(info, pods, in_gang=pods in gang)

    def build_components(self, info: Info) -> Iterable[Object]:
        """Build the PodGroup, if the job has one now."""
        policy = info.runtime.spec.podGroupPolicy
        if policy is None or policy.volcano is None or not wants_pod_group(info):
            return ()
        spec: dict[str, Any] = {}
        if QUEUE in info.annotations:
            spec["queue"] = info.annotations[QUEUE]
        priority = _priority(info)
        if priority:
            spec["priorityClassName"] = priority
        topology = policy.volcano.networkTopology
        if topology is not None:
            spec["networkTopology"] = {
                "mode": topology.mode,
                "highestTierAllowed": topology.highestTierAllowed,
            }
        return (pod_group(info, VERSION, **spec),)


def _is_missing(name: str, facts: Facts) -> bool:
    return name not in SYSTEM_CLASSES and (CLASS, name) not in facts.existing


def _warn_of_class(info: Info, pods: Pods) -> None:
    """Name a class that nobody has looked for; without it the API server refuses the pods."""
    name = pods.get("priorityClassName")
    if name and _is_missing(name, info.facts):
        info.warn(f"{pods.name}: the cluster must have the PriorityClass {name!r}, or it refuses the pods")


def _unknown_class(name: str) -> FieldError:
    return FieldError(
        "spec.templateSpec.priorityClassName",
        f'PriorityClass "{name}" doesn\'t exist: priorityclasses.scheduling.k8s.io "{name}" not found',
    )


def _send(info: Info, pods: Pods, *, in_gang: bool) -> None:
    scheduler = pods.get("schedulerName")
    if not scheduler:
        pods.put("schedulerName", SCHEDULER)
        info.decide(
            f"{pods.name}.schedulerName", SCHEDULER, "the runtime asks for Volcano and names no scheduler"
        )
    elif scheduler != SCHEDULER:
        info.warn(
            f"{pods.name}: the template names the scheduler {scheduler!r}, the runtime asks for Volcano: "
            f"there is no gang unless {scheduler!r} is a Volcano; remove schedulerName from the template"
        )
    if not in_gang and QUEUE in info.annotations:
        pods.annotations[QUEUE] = info.annotations[QUEUE]


def _priority(info: Info) -> str | None:
    """Find the gang's priority class: that of its first pods that name one; upstream takes the job's last."""
    members = info.gang.pod_sets if info.gang is not None else ()
    named: list[str] = [
        pods.get("priorityClassName")
        for pods in info.pods
        if pods.name in members and pods.get("priorityClassName")
    ]
    if not named:
        return None
    return named[-1] if info.upstream else named[0]
