"""A recorded case of kubeflow.org/v1 on the real control plane: its script, and what a user sees.

Admission answers as our pure rules do, for no webhook runs beside. The pods' template gets a word to KWOK,
which nobody sees, so that they run until the script ends them.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from kfp_trainer.runtime_operator.api.legacy import LegacyJob, read_legacy
from kfp_trainer.runtime_operator.controller.legacy.kinds import resources_for
from tests.cluster.as_written import pod_as_written, service_as_written
from tests.cluster.control_plane.client import ApiError, Client, collection, exists
from tests.cluster.control_plane.nodes import pods_of
from tests.cluster.manifests import SCRIPT
from tests.cluster.older_kinds import older_path
from tests.conformance_v1.answer import OBJECTS, admission, merged
from tests.conformance_v1.seen import is_owned, place_name, seen_object, seen_pod, seen_service, seen_status

Json = Mapping[str, Any]
Told = dict[str, Any]
VERSIONS = {
    "HorizontalPodAutoscaler": "autoscaling/v2",
    "Role": "rbac.authorization.k8s.io/v1",
    "RoleBinding": "rbac.authorization.k8s.io/v1",
}
INDEX, ROLE = "training.kubeflow.org/replica-index", "training.kubeflow.org/replica-type"
JOB = "training.kubeflow.org/job-name"
ENDED = {0: "Succeeded"}
GROUPS = {
    "volcano": "scheduling.volcano.sh/v1beta1",
    "scheduler-plugins": "scheduling.x-k8s.io/v1alpha1",
}
CLUSTER_WIDE = ("PriorityClass",)


class OlderCase:
    """One case."""

    def __init__(self, client: Client, case: Json) -> None:
        *self.others, document = case["input"]
        self.client, self.case = client, case
        stored, verdict = admission(document)
        self.document: Json = forever(stored)
        self.verdict = verdict
        self.path = older_path(dict(self.document))
        self.namespace = self.document["metadata"]["namespace"]
        self.incarnations: dict[str, list[str]] = {}
        """the pods that there were at the end of a step, or besides others, by their place"""
        self._now: dict[str, list[str]] = {}
        self.known: dict[str, str] = {}
        """v1's name of every pod that there ever was, by its own"""
        self.started: str | None = None
        self.steps: list[Told] = []

    def create(self) -> None:
        """Create what exists beforehand, and the job."""
        for each in self.others:
            namespace = each["metadata"].get("namespace", self.namespace)
            self.client.apply(forever(each), "" if each["kind"] in CLUSTER_WIDE else namespace)
        self.client.create(self.document, self.namespace)

    def clear(self) -> None:
        """Delete it."""
        for path in (self.path, *(older_path(dict(each)) for each in self.others if _is_older(each))):
            try:
                self.client.delete(path)
            except ApiError as refused:
                if refused.code != 404:
                    raise

    # the script

    def play(self, action: Json) -> Told:
        """Let one thing of the script happen; return what it shows of itself."""
        match action:
            case {"end": who, "code": code}:
                for pod in self._newest(who):
                    self._report(pod, _ended(pod, action, code))
            case {"restarted": who, "count": count}:
                for pod in self._newest(who):
                    first, *rest = pod["status"]["containerStatuses"]
                    self._report(pod, {"containerStatuses": [{**first, "restartCount": count}, *rest]})
            case {"delete": "job"}:
                self.client.delete(self.path)
            case {"delete": who}:
                for pod in self._newest(who):
                    self.client.delete(f"{collection('v1', 'Pod', self.namespace)}/{pod['metadata']['name']}")
            case {"wait": seconds}:
                time.sleep(seconds)
            case {"touch": _} if exists(self.client, self.path):
                self.client.patch(self.path, {"metadata": {"annotations": {f"{SCRIPT}touched": "yes"}}})
            case {"suspend": value}:
                self._change({"spec": {"runPolicy": {"suspend": value}}})
            case {"patch": patch}:
                return {"admission": self._change(patch)}
            case {"scale": number}:
                self.client.patch(f"{self.path}/scale", {"spec": {"replicas": number}})
                return {"admission": {"allowed": True}}
            case {"getScale": _}:
                found = self.client.get(f"{self.path}/scale")
                return {"scale": {"spec": found["spec"], "status": found["status"]}}
        return {}

    def _report(self, pod: Json, status: Json) -> None:
        path = f"{collection('v1', 'Pod', self.namespace)}/{pod['metadata']['name']}/status"
        self.client.patch(path, {"status": dict(status)})

    def _change(self, patch: Json) -> Told:
        old = self.client.get(self.path)
        verdict = admission(merged(old, patch), old)[1]
        if verdict["allowed"]:
            self.client.patch(self.path, dict(patch))
        return verdict

    def _newest(self, who: str) -> list[Json]:
        found = dict(self._pods())
        return [found[place] for place in who.split() if place in found]

    def _pods(self) -> list[tuple[str, Json]]:
        """The pods that nobody has deleted by their places, the newest of each last."""
        found = pods_of(self.client, self.namespace, f"{JOB}={self.document['metadata']['name']}")
        own = [each for each in found if self._is_own(each) and "deletionTimestamp" not in each["metadata"]]
        own.sort(key=lambda each: (each["metadata"]["creationTimestamp"], each["metadata"]["name"]))
        return [(_place(each), each) for each in own]

    def _is_own(self, pod: Json) -> bool:
        return pod["metadata"]["labels"].get("training.kubeflow.org/operator-name") == self.job.kind.operator

    # what a user sees

    @property
    def job(self) -> LegacyJob:
        """The job as it was made."""
        return read_legacy(self.document)

    def told(self, extra: Told) -> Told:
        """What there is now."""
        step = {
            **extra,
            "pods": self._seen_pods(),
            "services": [seen_service(service_as_written(each)) for each in self._objects("Service")],
            "objects": [
                seen_object({"kind": kind, **each}, self.known)
                for kind in (each.kind for each in resources_for(self.document["kind"]))
                if kind in OBJECTS
                for each in self._objects(kind)
            ],
            "podGroups": self._pod_groups(),
        }
        try:
            found = self.client.get(self.path)
        except ApiError as gone:
            if gone.code != 404:
                raise
            return {**step, "job": "gone"}
        status = found.get("status") or {}
        conditions = status.get("conditions") or [{"type": ""}]
        moved = {"startTimeMoved": True} if self.started and status.get("startTime") != self.started else {}
        return {**step, **moved, "status": seen_status(status), "state": conditions[-1]["type"]}

    def keep(self, step: Told) -> None:
        """The script goes on after this."""
        self.steps.append(step)
        self.incarnations |= self._now
        try:
            self.started = (self.client.get(self.path).get("status") or {}).get("startTime")
        except ApiError:
            self.started = None

    def _seen_pods(self) -> list[Told]:
        job, seen = self.job, {}
        incarnations: dict[str, list[str]] = {}
        for place, pod in self._pods():
            role = next(each for each in job.roles if place.startswith(f"{each.lower}-"))
            index = int(place.rpartition("-")[2])
            ever = incarnations.setdefault(place, list(self.incarnations.get(place, ())))
            if pod["metadata"]["uid"] not in ever:
                ever.append(pod["metadata"]["uid"])
            self.known[pod["metadata"]["name"]] = place_name(job, role, index)
            attempt = ever.index(pod["metadata"]["uid"])
            seen[place] = seen_pod(pod_as_written(pod), pod["status"]["phase"], job, role, index, attempt)
        self._now = incarnations
        return list(seen.values())

    def _objects(self, kind: str) -> list[Json]:
        """The objects of a kind that belong to this job."""
        found = self.client.items(collection(VERSIONS.get(kind, "v1"), kind, self.namespace))
        return [each for each in found if is_owned(each) and self._owns(each)]

    def _pod_groups(self) -> list[Told]:
        version = GROUPS.get(self.case.get("variant", ""))
        groups = self.client.items(collection(version, "PodGroup", self.namespace)) if version else []
        told = [seen_object({"kind": "PodGroup", **each}, self.known) for each in groups if self._owns(each)]
        for each in told:
            each.pop("kind")
        return told

    def _owns(self, target: Json) -> bool:
        owner = target["metadata"].get("ownerReferences", [{}])[0]
        metadata = self.document["metadata"]
        return (owner.get("kind"), owner.get("name")) == (self.document["kind"], metadata["name"])


def forever(document: Json) -> dict[str, Any]:
    """A document whose pods run until somebody ends them."""
    word = {f"{SCRIPT}run": "forever"}
    if document["kind"] == "Pod":
        metadata = document["metadata"]
        return {**document, "metadata": {**metadata, "annotations": word}}
    if not _is_older(document):
        return dict(document)
    spec = dict(document["spec"])
    for field in (each for each in spec if each.endswith("ReplicaSpecs")):
        spec[field] = {name: _with_word(role, word) for name, role in (spec[field] or {}).items() if role}
    return {**document, "spec": spec}


def _is_older(document: Json) -> bool:
    return bool(document["apiVersion"].startswith("kubeflow.org/"))


def _with_word(role: Json, word: Json) -> Json:
    template = role.get("template") or {}
    metadata = template.get("metadata") or {}
    annotations = {**(metadata.get("annotations") or {}), **word}
    return {**role, "template": {**template, "metadata": {**metadata, "annotations": annotations}}}


def _place(pod: Json) -> str:
    labels = pod["metadata"]["labels"]
    return f"{labels[ROLE]}-{labels.get(INDEX, 0)}"


def _ended(pod: Json, action: Json, code: int) -> Json:
    """The status of a pod whose containers have ended so."""
    if action.get("evicted"):
        return {"phase": "Failed", "reason": "Evicted", "containerStatuses": None}
    codes = action.get("codes", {})
    ended = [
        {
            "name": each["name"],
            "image": each["image"],
            "imageID": "",
            "ready": False,
            "restartCount": 0,
            "state": {"terminated": {"exitCode": codes.get(each["name"], code), "reason": "Ended"}},
        }
        for each in pod["spec"]["containers"]
    ]
    return {"phase": ENDED.get(code, "Failed"), "containerStatuses": ended}
