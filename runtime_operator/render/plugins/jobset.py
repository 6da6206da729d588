"""The JobSet: the runtime's template with everything that the other plug-ins left in the pods.

New dicts are made only on the way down to what changed. Of a job that is no trainer's and no initializer's
the runtime's completions are kept; upstream overwrites them with its parallelism.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...api.names import COMPLETE, FAILED
from ..cautions import warn_of_host_paths
from ..framework import Plugin, Terminal, Watch
from ..info import Info
from ..overlay import Object
from ..refusals import check_images

VERSION = "jobset.x-k8s.io/v1alpha2"
_ENDS = {"Failed": FAILED, "Completed": COMPLETE}


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
            warn_of_host_paths(info)
        metadata = info.metadata(info.name)
        if info.labels:
            metadata["labels"] = {**info.labels, **info.own_labels}
        if info.annotations:
            metadata["annotations"] = info.annotations
        jobs = [each.built_job(upstream=info.upstream) for each in info.pods]
        if len(jobs) < len(info.spec.get("replicatedJobs", jobs)):
            _without_waiting(jobs)
        spec = dict(info.spec)
        spec["replicatedJobs"], spec["suspend"] = jobs, info.job.spec.suspend
        return ({"apiVersion": VERSION, "kind": "JobSet", "metadata": metadata, "spec": spec},)

    def terminal_condition(self, job: Object, child: Object) -> Terminal | None:
        """The job ends as its JobSet ends; a failure counts more when both are there."""
        conditions = (
            (child.get("status") or {}).get("conditions") or () if child.get("kind") == "JobSet" else ()
        )
        ended = {each["type"]: each for each in conditions if each.get("status") == "True"}
        for theirs, ours in _ENDS.items():
            if theirs in ended:
                told = ended[theirs]
                since = told.get("lastTransitionTime")
                return Terminal(ours, told.get("reason", ""), told.get("message", ""), since)
        return None


def _without_waiting(jobs: list[dict[str, Any]]) -> None:
    """Nobody waits for a job that a plug-in has left out; JobSet refuses an empty list in the first job."""
    names = {each["name"] for each in jobs}
    for each in jobs:
        if needs := [one for one in each.pop("dependsOn", None) or () if one["name"] in names]:
            each["dependsOn"] = needs
