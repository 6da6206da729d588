"""The JobSet: the runtime's template with everything that the other plug-ins left in the pods.

New dicts are made only on the way down to what changed. Of a job that is no trainer's and no initializer's
the runtime's completions are kept; upstream overwrites them with its parallelism.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ...api.names import STEPS
from ..framework import Plugin, Terminal, Watch
from ..info import Info
from ..overlay import Object
from ..pods import Pods
from ..refusals import check_images

if TYPE_CHECKING:
    from ...api.trainjob import TrainJob

VERSION = "jobset.x-k8s.io/v1alpha2"
_ENDS = {"Completed": "Complete", "Failed": "Failed"}


class JobSet(Plugin):
    """Serves every runtime, and comes last."""

    name = "jobset"

    def watch_extension(self) -> tuple[Watch, ...]:
        """The JobSet tells how the job fares."""
        return (Watch(VERSION, "JobSet"),)

    def build_components(self, info: Info) -> Iterable[Object]:
        """Build the JobSet."""
        if not info.upstream:
            check_images(info)
        metadata = info.metadata(info.name)
        if info.labels:
            metadata["labels"] = {**info.labels, **info.own_labels}
        if info.annotations:
            metadata["annotations"] = info.annotations
        kept = {each.name for each in info.pods}
        jobs = [_job(info, each, kept) for each in info.pods]
        spec = {**info.spec, "replicatedJobs": jobs, "suspend": info.job.spec.suspend}
        return ({"apiVersion": VERSION, "kind": "JobSet", "metadata": metadata, "spec": spec},)

    def terminal_condition(self, job: TrainJob, child: Object) -> Terminal | None:
        """The job ends as its JobSet ends."""
        if child.get("kind") != "JobSet":
            return None
        for condition in (child.get("status") or {}).get("conditions") or ():
            if condition.get("type") in _ENDS and condition.get("status") == "True":
                return Terminal(
                    _ENDS[condition["type"]],
                    condition.get("reason", ""),
                    condition.get("message", ""),
                    condition.get("lastTransitionTime"),
                )
        return None


def _job(info: Info, pods: Pods, kept: set[str]) -> Object:
    job = pods.job.built()
    template = job.get("template") or {}
    spec = {**(template.get("spec") or {}), "parallelism": pods.count}
    if pods.step in STEPS or info.upstream or "completions" not in spec:
        spec["completions"] = pods.count
    pod = spec.get("template") or {}
    spec["template"] = {**pod, "spec": pods.built_spec()}
    if pods.labels or pods.annotations:
        spec["template"]["metadata"] = _metadata(pod.get("metadata") or {}, pods)
    built: dict[str, Any] = {**job, "template": {**template, "spec": spec}}
    if pods.step in STEPS:
        built["replicas"] = 1
    if built.get("dependsOn") and any(each["name"] not in kept for each in built["dependsOn"]):
        built["dependsOn"] = [each for each in built["dependsOn"] if each["name"] in kept]
    return built


def _metadata(metadata: Object, pods: Pods) -> Object:
    changed = dict(metadata)
    if pods.labels:
        changed["labels"] = {**(metadata.get("labels") or {}), **pods.labels}
    if pods.annotations:
        changed["annotations"] = {**(metadata.get("annotations") or {}), **pods.annotations}
    return changed
