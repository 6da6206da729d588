"""What there is to see of one JobSet on the real controllers, in the form of the recorded cases.

The order in which Jobs appear is not in it: the time of their creation is told in whole seconds only.
"""

from collections.abc import Mapping
from typing import Any

from tests.cluster.control_plane.client import ApiError, Client, Json, collection

from .hand import Hand

SYSTEM = ("batch.kubernetes.io/", "jobset.sigs.k8s.io/")
OLD_NAMES = ("job-name", "controller-uid")
DETAILS = ("hostname", "subdomain", "env", "systemLabels")
COUNTS = ("active", "ready", "succeeded", "failed")
OF_EVERY_POD = "node.kubernetes.io/"


class View:
    """One JobSet and everything that was made for it."""

    def __init__(self, client: Client, namespace: str, name: str, hand: Hand) -> None:
        self._client, self._namespace, self._name, self._hand = client, namespace, name, hand
        self._numbers: dict[str, int] = {}
        self._counted: dict[str, int] = {}

    def now(self, pods: list[Json]) -> dict[str, Any]:
        """What there is now."""
        jobs = self._list("batch/v1", "Job")
        for job in sorted(jobs, key=lambda each: each["metadata"]["creationTimestamp"]):
            self._count(job)
        shown: dict[str, Any] = {
            "jobs": [self._job(job, pods) for job in jobs],
            "pods": [self._pod(pod) for pod in pods],
            "services": [each["metadata"]["name"] for each in self._list("v1", "Service")],
        }
        jobset = self._jobset()
        return {**shown, "jobset": "gone"} if jobset is None else {**shown, "status": _status(jobset)}

    def _list(self, version: str, kind: str) -> list[Json]:
        return self._client.items(collection(version, kind, self._namespace))

    def _jobset(self) -> Json | None:
        path = f"{collection('jobset.x-k8s.io/v1alpha2', 'JobSet', self._namespace)}/{self._name}"
        try:
            return self._client.get(path)
        except ApiError as refused:
            if refused.code == 404:
                return None
            raise

    def _short(self, name: str) -> str:
        return name.removeprefix(f"{self._name}-")

    def _count(self, job: Json) -> None:
        uid, name = job["metadata"]["uid"], self._short(job["metadata"]["name"])
        if uid not in self._numbers:
            self._counted[name] = self._counted.get(name, 0) + 1
            self._numbers[uid] = self._counted[name]

    def _job(self, job: Json, pods: list[Json]) -> dict[str, Any]:
        metadata, status = job["metadata"], job.get("status", {})
        true = {each["type"]: each for each in status.get("conditions") or [] if each["status"] == "True"}
        shown = {
            "name": self._short(metadata["name"]),
            "suspended": job["spec"].get("suspend", False),
            **{key: status.get(key, 0) for key in COUNTS},
            **{key: status.get(key) for key in ("completedIndexes", "failedIndexes")},
            "attempt": int(metadata["labels"]["jobset.sigs.k8s.io/restart-attempt"]),
            "incarnation": self._numbers[metadata["uid"]],
            "terminating": status.get("terminating") or None,
            "deleting": True if "deletionTimestamp" in metadata else None,
        }
        if ended := true.get("Complete") or true.get("Failed"):
            said = {key: ended.get(key) or "" for key in ("type", "reason", "message")}
            return {**shown, "condition": {**said, "message": self._without_chance(said["message"], pods)}}
        if decided := true.get("SuccessCriteriaMet") or true.get("FailureTarget"):
            return {**shown, "decided": {key: decided.get(key) for key in ("type", "reason")}}
        return shown

    def _without_chance(self, message: str, pods: list[Json]) -> str:
        """A message without the random end of a pod's name, and without the namespace."""
        for pod in pods:
            name = pod["metadata"]["name"]
            message = message.replace(
                f"{self._namespace}/{name}", f"<namespace>/{name.rsplit('-', 1)[0]}-<any>"
            )
        return message

    def _pod(self, pod: Json) -> dict[str, Any]:
        metadata, spec = pod["metadata"], pod["spec"]
        job, index = self._hand.short_name(pod).rsplit("-", 1)
        statuses = pod["status"].get("containerStatuses") or []
        tolerations = [
            each for each in spec.get("tolerations") or [] if not each["key"].startswith(OF_EVERY_POD)
        ]
        return {
            "job": job,
            "index": int(index),
            "incarnation": self._hand.number(pod),
            "phase": pod["status"]["phase"],
            "labels": _of_the_user(metadata["labels"]),
            "annotations": _of_the_user(metadata.get("annotations") or {}),
            "nodeSelector": spec.get("nodeSelector"),
            "tolerations": tolerations,
            "restarts": sum(each["restartCount"] for each in statuses) or None,
            "deleting": True if "deletionTimestamp" in metadata else None,
        }


def _status(jobset: Json) -> dict[str, Any]:
    status = jobset.get("status") or {}
    fields = ("type", "status", "reason", "message")
    conditions = [{key: each.get(key) for key in fields} for each in status.get("conditions") or []]
    kept = ("replicatedJobsStatus", "restarts", "restartsCountTowardsMax", "terminalState")
    return {"conditions": conditions, **{key: status.get(key) for key in kept}}


def _of_the_user(entries: Mapping[str, str]) -> dict[str, str]:
    return {k: v for k, v in entries.items() if not k.startswith(SYSTEM) and k not in OLD_NAMES}
