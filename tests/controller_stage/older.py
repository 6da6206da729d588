"""A stage for jobs of the older kinds: as JobSet's and Kubernetes' controllers would, it makes Jobs and pods.

It makes what is missing when it is told to, no more: a test says itself how pods fare.
"""

from __future__ import annotations

import itertools
from typing import Any

from kfp_trainer.runtime_operator.api.legacy import LEGACY_KINDS
from kfp_trainer.runtime_operator.controller.kinds import JOBSETS
from kfp_trainer.runtime_operator.controller.legacy.kinds import (
    AUTOSCALERS,
    OF_MPI,
    SERVICES,
    resource_of_kind,
)
from kfp_trainer.runtime_operator.controller.settings import ControllerSettings
from kfp_trainer.runtime_operator.kube.resource import CONFIG_MAPS, JOBS, PODS, Resource
from kfp_trainer.runtime_operator.render.legacy import Installation
from tests.legacy_jobs import legacy_document

from .stage import COSCHEDULING, NAMESPACE, VOLCANO, Stage

Json = dict[str, Any]
KINDS = {name: resource_of_kind(kind) for name, kind in LEGACY_KINDS.items()}
NUMBERS = itertools.count(1)


class OlderStage(Stage):
    """All older kinds are installed and served."""

    def __init__(self, *, gang_scheduler: str = "", **settings: Any) -> None:
        groups = VOLCANO if gang_scheduler in ("", "volcano") else COSCHEDULING
        settings = {"older_kinds": frozenset(KINDS), "workers": 4, "judges": True, **settings}
        super().__init__(
            *KINDS.values(),
            SERVICES,
            AUTOSCALERS,
            *(each for each in OF_MPI if each != CONFIG_MAPS),
            groups,
            settings=ControllerSettings(installation=Installation(gang_scheduler=gang_scheduler), **settings),
        )

    # a user

    def create(self, kind: str = "PyTorchJob", roles: Json | None = None, **given: Any) -> Json:
        """Create a job of a kind."""
        document = legacy_document(kind, roles or {"Master": {}, "Worker": {"replicas": 2}}, **given)
        del document["metadata"]["uid"]
        return self.api.create(KINDS[kind], document)

    def change(self, change: Json, kind: str = "PyTorchJob", name: str = "job") -> None:
        """Change a job by a merge patch."""
        self.api.change(KINDS[kind], NAMESPACE, name, change)

    def suspend(self, value: bool) -> None:
        """Suspend or resume the PyTorchJob."""
        self.change({"spec": {"runPolicy": {"suspend": value}}})

    def older(self, kind: str = "PyTorchJob", name: str = "job") -> Json:
        """A job."""
        return self.api.need(KINDS[kind], NAMESPACE, name)

    def types(self, kind: str = "PyTorchJob", name: str = "job") -> list[str]:
        """The conditions that are true, in their order."""
        found = (self.older(kind, name).get("status") or {}).get("conditions") or ()
        return [each["type"] for each in found if each["status"] == "True"]

    # the cluster's controllers

    def play(self) -> None:
        """Make the Jobs that JobSets lack, and a running pod for each that may have one and has none."""
        for jobset in self.api.all(JOBSETS):
            if "deletionTimestamp" in jobset["metadata"]:
                continue
            for replicated in jobset["spec"]["replicatedJobs"]:
                for index in range(replicated["replicas"]):
                    self._play(jobset, replicated, index)

    def _play(self, jobset: Json, replicated: Json, index: int) -> None:
        stem, uid = jobset["metadata"]["name"], jobset["metadata"]["uid"]
        name, template = f"{stem}-{replicated['name']}-{index}", replicated["template"]
        job = self.api.get(JOBS, NAMESPACE, name)
        if job is None:
            labels = template["metadata"]["labels"]
            metadata = {"name": name, "namespace": NAMESPACE, "labels": labels, **_owner("JobSet", stem, uid)}
            job = self.api.create(JOBS, {"metadata": metadata, "spec": dict(template["spec"])})
        alive = [each for each in self.pods(name) if each["status"]["phase"] != "Failed"]
        if alive or jobset["spec"].get("suspend") or not job["spec"]["parallelism"]:
            return
        pod = template["spec"]["template"]
        marks = {
            "batch.kubernetes.io/job-name": name,
            "jobset.sigs.k8s.io/jobset-name": stem,
            "jobset.sigs.k8s.io/jobset-uid": uid,
        }
        metadata = {
            "name": f"{name}-{next(NUMBERS):05}",
            "namespace": NAMESPACE,
            "labels": {**pod["metadata"]["labels"], **marks},
            **_owner("Job", name, job["metadata"]["uid"]),
        }
        self.api.create(PODS, {"metadata": metadata, "spec": pod["spec"], "status": {"phase": "Running"}})

    def pods(self, job: str = "") -> list[Json]:
        """The pods, or those of one Job."""
        return [
            each
            for each in self.api.all(PODS)
            if not job or each["metadata"]["labels"]["batch.kubernetes.io/job-name"] == job
        ]

    def end_pod(self, job: str, code: int, container: str = "pytorch") -> None:
        """Let the newest pod of a Job end."""
        state = {"name": container, "restartCount": 0, "state": {"terminated": {"exitCode": code}}}
        status = {"phase": "Failed" if code else "Succeeded", "containerStatuses": [state]}
        last = max(self.pods(job), key=lambda each: each["metadata"]["name"])
        self.api.change(PODS, NAMESPACE, last["metadata"]["name"], {"status": status})

    def parallelism(self, job: str) -> int:
        """How many pods a Job may have."""
        return int(self.api.need(JOBS, NAMESPACE, job)["spec"]["parallelism"])

    def names(self, resource: Resource) -> list[str]:
        """The names of all objects of a kind."""
        return sorted(each["metadata"]["name"] for each in self.api.all(resource))


def _owner(kind: str, name: str, uid: str) -> Json:
    return {
        "ownerReferences": [{"apiVersion": "v1", "kind": kind, "name": name, "uid": uid, "controller": True}]
    }
