"""What the API server hears of a pod: its status whenever it changes, its Events, and that it is gone."""

from datetime import UTC, datetime

from kfp_trainer.runtime_operator.local.process import PodEvent

from .api import CONFLICT, NOT_FOUND, STRATEGIC, Api, Json, Refused

NOT_OURS_ANY_MORE = (NOT_FOUND, CONFLICT)
"""it is gone, or another has its name"""
WARNINGS = {"Unhealthy", "CrashLoopBackOff", "CreateContainerConfigError", "StartError", "Error", "OOMKilled"}
AS_KUBELET = {"CrashLoopBackOff": "BackOff", "CreateContainerConfigError": "Failed", "StartError": "Failed"}
"""the reasons of those Events that a kubelet calls otherwise than the state they tell of"""


def as_patch(status: Json) -> Json:
    """The status as a patch that leaves nothing of the one before, whose lists would be merged."""
    conditions = [{"reason": None, "message": None, **each} for each in status.get("conditions", ())]
    addresses = [*status.get("podIPs", ()), {"$patch": "replace"}]
    return {"reason": None, "message": None, **status, "conditions": conditions, "podIPs": addresses}


class Reporter:
    """Speaks of one pod."""

    def __init__(self, api: Api, pod: Json, node: str) -> None:
        self._api, self._node = api, node
        self._metadata = pod["metadata"]
        self._namespace = f"/api/v1/namespaces/{self._metadata['namespace']}"
        self._path = f"{self._namespace}/pods/{self._metadata['name']}"
        self._told: set[tuple[str, str, str]] = set()

    async def status(self, status: Json) -> None:
        """The status as it is now."""
        body = {"metadata": {"uid": self._metadata["uid"]}, "status": as_patch(status)}
        await self._unless_gone("PATCH", f"{self._path}/status", body, kind=STRATEGIC)

    async def gone(self) -> None:
        """Nothing of a deleted pod is left."""
        body = {"gracePeriodSeconds": 0, "preconditions": {"uid": self._metadata["uid"]}}
        await self._unless_gone("DELETE", self._path, {"apiVersion": "v1", "kind": "DeleteOptions", **body})

    async def event(self, event: PodEvent) -> None:
        """What happened, once: a kubelet would count how often."""
        if event.reason not in WARNINGS | {"Started"} or (event.kind == "exited" and not event.exit_code):
            return
        said = event.kind, event.reason, event.message
        if said not in self._told:
            self._told.add(said)
            await self._unless_gone("POST", f"{self._namespace}/events", self._event(event))

    async def _unless_gone(
        self, method: str, path: str, body: Json, *, kind: str = "application/json"
    ) -> None:
        try:
            await self._api.ask(method, path, body, kind=kind)
        except Refused as refused:
            if refused.code not in NOT_OURS_ANY_MORE:
                raise

    def _event(self, event: PodEvent) -> Json:
        metadata, moment = self._metadata, datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        path = {"fieldPath": f"spec.containers{{{event.container}}}"} if event.container else {}
        about = {"apiVersion": "v1", "kind": "Pod", "name": metadata["name"], "uid": metadata["uid"]}
        return {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"generateName": f"{metadata['name']}.", "namespace": metadata["namespace"]},
            "involvedObject": {**about, "namespace": metadata["namespace"], **path},
            "type": "Warning" if event.reason in WARNINGS else "Normal",
            "reason": AS_KUBELET.get(event.reason, event.reason),
            "message": event.message or f"container {event.container}: {event.reason}",
            "source": {"component": "process-node", "host": self._node},
            "firstTimestamp": moment,
            "lastTimestamp": moment,
            "count": 1,
        }
