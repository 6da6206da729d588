"""A kubelet by hand: the pods of one namespace run at once and end when the script says so.

Pods with the label `ready: later` become ready when told, those with `stop: held` stop when told. The node
exists, but nobody else answers for it.
"""

import threading
from datetime import UTC, datetime
from typing import Any

from tests.cluster.control_plane.client import ApiError, Client, Json, collection

ENDED = ("Succeeded", "Failed")
TERMINATED, EVICTED = 143, 137
BETWEEN_LOOKS = 0.15
CHANGED_MEANWHILE = (404, 409)  # the next look sees what it has become
SCHEDULER = "by-hand"
AT_ONCE = {"kind": "DeleteOptions", "apiVersion": "v1", "gracePeriodSeconds": 0}


class Hand:
    """Plays the pods of one JobSet, in a thread of its own."""

    def __init__(self, client: Client, namespace: str, jobset: str, node: str) -> None:
        self._client, self._node, self._jobset = client, node, jobset
        self._pods = collection("v1", "Pod", namespace)
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._released: set[str] = set()
        self._number: dict[str, int] = {}
        self._counted: dict[str, int] = {}
        self._thread = threading.Thread(target=self._play)
        self.problem: Exception | None = None

    def start(self) -> None:
        """Begin to play."""
        self._thread.start()

    def stop(self) -> None:
        """Play no more, and raise what went wrong."""
        self._over.set()
        self._thread.join()
        if self.problem is not None:
            raise self.problem

    def pods(self) -> list[Json]:
        """The pods there are, each numbered among those of its Job and index."""
        with self._lock:
            return self._listed()

    def number(self, pod: Json) -> int:
        """The how many-th pod of its Job's name and index it is."""
        return self._number[pod["metadata"]["uid"]]

    def short_name(self, pod: Json) -> str:
        """REPLICATEDJOB-JOBINDEX-PODINDEX."""
        metadata = pod["metadata"]
        job = metadata["labels"]["batch.kubernetes.io/job-name"].removeprefix(f"{self._jobset}-")
        return f"{job}-{metadata['annotations'].get('batch.kubernetes.io/job-completion-index', '0')}"

    def is_busy(self, pods: list[Json]) -> bool:
        """Whether a pod is about to stop without having been told to wait."""
        return any("deletionTimestamp" in pod["metadata"] and not self._is_held(pod) for pod in pods)

    def end(self, name: str, code: int, *, evicted: bool = False) -> None:
        """All containers of a pod end; with OnFailure those that fail are restarted in place."""
        with self._lock:
            pod = self._find(name)
            if code and not evicted and pod["spec"]["restartPolicy"] == "OnFailure":
                restarts = pod["status"]["containerStatuses"][0]["restartCount"] + 1
                self._report(
                    pod, {"containerStatuses": _containers(pod, running(), ready=True, restarts=restarts)}
                )
            else:
                self._end(pod, EVICTED if evicted else code, ["DisruptionTarget"] if evicted else [])

    def become_ready(self, name: str) -> None:
        """A pod becomes ready."""
        with self._lock:
            self._run(self._find(name), ready=True)

    def release(self, name: str) -> None:
        """A pod that was told to stop may stop now."""
        with self._lock:
            for pod in self._listed():
                if self.short_name(pod) == name and "deletionTimestamp" in pod["metadata"]:
                    self._released.add(pod["metadata"]["uid"])

    def delete(self, name: str) -> None:
        """Someone deletes a pod."""
        with self._lock:
            self._client.delete(f"{self._pods}/{self._find(name)['metadata']['name']}")

    def _play(self) -> None:
        try:
            while not self._over.wait(BETWEEN_LOOKS):
                with self._lock:
                    for pod in self._listed():
                        self._try_to_play(pod)
        except Exception as problem:  # noqa: BLE001 - raised again in the thread of the test
            self.problem = problem

    def _try_to_play(self, pod: Json) -> None:
        try:
            self._play_one(pod)
        except ApiError as refused:
            if refused.code not in CHANGED_MEANWHILE:
                raise

    def _play_one(self, pod: Json) -> None:
        metadata, phase = pod["metadata"], pod["status"]["phase"]
        if "deletionTimestamp" in metadata:
            if phase in ENDED or not self._is_held(pod):
                if phase not in ENDED:
                    self._end(pod, TERMINATED, [])
                self._client.delete(f"{self._pods}/{metadata['name']}", AT_ONCE)
        elif not pod["spec"].get("nodeName"):
            target = {"apiVersion": "v1", "kind": "Node", "name": self._node}
            binding = {
                "apiVersion": "v1",
                "kind": "Binding",
                "metadata": {"name": metadata["name"]},
                "target": target,
            }
            self._client.post(f"{self._pods}/{metadata['name']}/binding", binding)
        elif phase == "Pending":
            self._run(pod, ready=metadata["labels"].get("ready") != "later")

    def _is_held(self, pod: Json) -> bool:
        metadata = pod["metadata"]
        return metadata["labels"].get("stop") == "held" and metadata["uid"] not in self._released

    def _listed(self) -> list[Json]:
        pods = self._client.items(self._pods)
        for pod in sorted(pods, key=lambda each: each["metadata"]["creationTimestamp"]):
            if pod["metadata"]["uid"] not in self._number:
                name = self.short_name(pod)
                self._counted[name] = self._counted.get(name, 0) + 1
                self._number[pod["metadata"]["uid"]] = self._counted[name]
        return pods

    def _find(self, name: str) -> Json:
        """The newest of the name, and rather one that runs."""
        found = [pod for pod in self._listed() if self.short_name(pod) == name]
        return max(found, key=lambda pod: (_runs(pod), self.number(pod)))

    def _run(self, pod: Json, *, ready: bool) -> None:
        conditions = [_condition("Initialized", True)] + [
            _condition(kind, ready) for kind in ("ContainersReady", "Ready")
        ]
        containers = _containers(pod, running(), ready=ready)
        self._report(
            pod,
            {
                "phase": "Running",
                "startTime": now(),
                "conditions": conditions,
                "containerStatuses": containers,
            },
        )

    def _end(self, pod: Json, code: int, true: list[str]) -> None:
        conditions = [_condition(kind, False) for kind in ("ContainersReady", "Ready")]
        conditions += [_condition(kind, True) for kind in true]
        ended = {"terminated": {"exitCode": code, "startedAt": now(), "finishedAt": now(), "reason": "Ended"}}
        phase = "Failed" if code else "Succeeded"
        containers = _containers(pod, ended, ready=False)
        self._report(pod, {"phase": phase, "conditions": conditions, "containerStatuses": containers})

    def _report(self, pod: Json, status: Json) -> None:
        self._client.patch(f"{self._pods}/{pod['metadata']['name']}/status", {"status": status})


def now() -> str:
    """The time as the API server writes it."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def running() -> Json:
    """The state of a container that runs since now."""
    return {"running": {"startedAt": now()}}


def _runs(pod: Json) -> bool:
    return "deletionTimestamp" not in pod["metadata"] and pod["status"]["phase"] == "Running"


def _condition(kind: str, holds: bool) -> Json:
    return {"type": kind, "status": str(holds), "lastTransitionTime": now()}


def _containers(pod: Json, state: Json, *, ready: bool, restarts: int | None = None) -> list[dict[str, Any]]:
    before = {each["name"]: each["restartCount"] for each in pod["status"].get("containerStatuses") or []}
    return [
        {
            "name": each["name"],
            "image": each["image"],
            "imageID": "none",
            "ready": ready,
            "started": ready,
            "restartCount": before.get(each["name"], 0) if restarts is None else restarts,
            "state": state,
        }
        for each in pod["spec"]["containers"]
    ]
