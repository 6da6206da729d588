"""Gangs by the coscheduling plug-in of scheduler-plugins: a label on the pods, and a PodGroup.

Which of a cluster's schedulers has the plug-in only its administrator knows, so the template names it.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..framework import Plugin, Runtime, Watch
from ..gang import gang_watches, plan_gang, pod_group, wants_pod_group
from ..info import Info
from ..overlay import Object
from ..pods import GANG_LABEL

GROUP = "scheduling.x-k8s.io"
VERSION = f"{GROUP}/v1alpha1"


class CoScheduling(Plugin):
    """Serves runtimes with a coscheduling policy."""

    name = "coscheduling"

    def serves(self, runtime: Runtime) -> bool:
        """Only where the runtime asks for it."""
        return (
            runtime.spec.podGroupPolicy is not None and runtime.spec.podGroupPolicy.coscheduling is not None
        )

    def watch_extension(self) -> tuple[Watch, ...]:
        """Watch PodGroups, and what changes a gang."""
        return gang_watches(VERSION)

    def enforce_pod_group_policy(self, info: Info) -> None:
        """Label the pods of the gang."""
        for pods in plan_gang(info, self.name):
            pods.labels[GANG_LABEL] = info.name
            if not pods.get("schedulerName"):
                info.decide(
                    f"{pods.name}.schedulerName",
                    "the default",
                    "the template names none: there is no gang unless it has the plug-in Coscheduling",
                )

    def build_components(self, info: Info) -> Iterable[Object]:
        """Build the PodGroup, if the job has one now."""
        policy = info.runtime.spec.podGroupPolicy
        if policy is None or policy.coscheduling is None or not wants_pod_group(info):
            return ()
        timeout = policy.coscheduling.scheduleTimeoutSeconds
        return (pod_group(info, VERSION, scheduleTimeoutSeconds=timeout),)
