"""The pods of the node: each one from its binding to its end, and what the API server hears of it."""

import asyncio
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from kfp_trainer.runtime_operator.errors import KfpTrainerError
from kfp_trainer.runtime_operator.local.process import Place, Pod, PodEvent, PodRunner

from .api import NOT_FOUND, STRATEGIC, Api, Json, Refused
from .names import Names
from .network import API_PORT, GATEWAY, Hub, PodNetwork

API_ADDRESS = {"KUBERNETES_SERVICE_HOST": str(GATEWAY), "KUBERNETES_SERVICE_PORT": str(API_PORT)}
ENDED = ("Succeeded", "Failed")
DOMAIN = "cluster.local"
CONFLICT = 409


class NodePod:
    """One pod of the node."""

    def __init__(self, document: Json, folder: Path, network: PodNetwork) -> None:
        self.document, self.folder, self.network = document, folder, network
        self.living: Pod | None = None
        self.refusal = ""
        self.changed = asyncio.Event()
        self.stopping = False

    @property
    def path(self) -> str:
        metadata = self.document["metadata"]
        return f"/api/v1/namespaces/{metadata['namespace']}/pods/{metadata['name']}"

    def status(self) -> dict[str, Any]:
        """The pod's status as a kubelet writes it; of one that cannot run here, why."""
        if self.living is not None:
            return self.living.status()
        return {"phase": "Failed", "reason": "NotDoneHere", "message": self.refusal}

    def names(self) -> dict[str, str]:
        """The names by which others of its namespace know it."""
        spec, address = self.document["spec"], self.network.address
        host, subdomain = spec.get("hostname"), spec.get("subdomain")
        if not host or not subdomain:
            return {}
        short, service = f"{host}.{subdomain}", f"{self.document['metadata']['namespace']}.svc"
        return dict.fromkeys((short, f"{short}.{service}", f"{short}.{service}.{DOMAIN}"), address)


class Pods:
    """All pods that are bound to the node."""

    def __init__(self, api: Api, folder: Path, name: str, hub: Hub) -> None:
        self._api, self._folder, self._name, self._hub = api, folder, name, hub
        self._runner = PodRunner()
        self.claims = folder / "claims"
        self._tasks: set[asyncio.Task[None]] = set()
        self.by_uid: dict[str, NodePod] = {}

    async def take_in(self, documents: Iterable[Json]) -> None:
        """What the API server wants now: start what is new, stop what is deleted or gone."""
        wanted = {each["metadata"]["uid"]: each for each in documents}
        for uid, document in wanted.items():
            if uid not in self.by_uid and document["status"].get("phase") not in ENDED:
                await self._start(uid, document)
            elif uid not in self.by_uid and "deletionTimestamp" in document["metadata"]:
                await self._remove(document)
        for uid, pod in self.by_uid.items():
            if uid not in wanted:
                self._stop(pod, 0.0)
            elif "deletionTimestamp" in wanted[uid]["metadata"]:
                self._stop(pod, float(wanted[uid]["metadata"].get("deletionGracePeriodSeconds", 30)))

    async def _start(self, uid: str, document: Json) -> None:
        folder = self._folder / uid
        shutil.rmtree(folder, ignore_errors=True)
        pod = NodePod(document, folder, await self._hub.attach())
        self.by_uid[uid] = pod
        place = Place(
            folder,
            node_name=self._name,
            host_ip=str(GATEWAY),
            pod_ip=pod.network.address,
            hosts=self._hosts(document["metadata"]["namespace"]),
            network=pod.network.path,
            env=API_ADDRESS,
        )

        def heard(event: PodEvent) -> None:
            pod.changed.set()

        names = Names(self._api, document, self.claims)
        try:
            pod.living = self._runner.start(document, place, resolver=names, listener=heard)
        except KfpTrainerError as error:
            pod.refusal = str(error)
        self._tell_hosts(document["metadata"]["namespace"])
        self._spawn(self._follow(uid, pod))

    def _hosts(self, namespace: str) -> dict[str, str]:
        known: dict[str, str] = {}
        for pod in self.by_uid.values():
            if pod.document["metadata"]["namespace"] == namespace:
                known |= pod.names()
        return known

    def _tell_hosts(self, namespace: str) -> None:
        hosts = self._hosts(namespace)
        for pod in self.by_uid.values():
            if pod.living is not None and pod.document["metadata"]["namespace"] == namespace:
                pod.living.update_hosts(hosts)

    def _stop(self, pod: NodePod, grace: float) -> None:
        if not pod.stopping:
            pod.stopping = True
            if pod.living is not None:
                self._spawn(_stopped(pod.living, grace))
            pod.changed.set()

    async def _follow(self, uid: str, pod: NodePod) -> None:
        """Report each change, until the pod is over and nobody wants it any more."""
        over = asyncio.create_task(pod.living.wait()) if pod.living is not None else None
        if over is not None:
            over.add_done_callback(lambda _: pod.changed.set())
        pod.changed.set()
        while True:
            await pod.changed.wait()
            pod.changed.clear()
            ended = over is None or over.done()
            await self._report(pod)
            if ended and pod.stopping:
                break
        await self._remove(pod.document)
        await pod.network.remove()
        if pod.living is not None:
            pod.living.remove_volumes()
        del self.by_uid[uid]

    async def _report(self, pod: NodePod) -> None:
        metadata = {"uid": pod.document["metadata"]["uid"]}
        status = pod.status()
        if "podIPs" in status:  # which would be added to those of a run before, on a node that was lost
            status = {**status, "podIPs": [*status["podIPs"], {"$patch": "replace"}]}
        body = {"metadata": metadata, "status": status}
        try:
            await self._api.ask("PATCH", f"{pod.path}/status", body, kind=STRATEGIC)
        except Refused as refused:
            if refused.code not in (NOT_FOUND, CONFLICT):  # it is gone, or another has its name
                raise

    async def _remove(self, document: Json) -> None:
        """Tell the API server that nothing of a deleted pod is left."""
        metadata = document["metadata"]
        path = f"/api/v1/namespaces/{metadata['namespace']}/pods/{metadata['name']}"
        body = {"gracePeriodSeconds": 0, "preconditions": {"uid": metadata["uid"]}}
        try:
            await self._api.ask("DELETE", path, {"apiVersion": "v1", "kind": "DeleteOptions", **body})
        except Refused as refused:
            if refused.code not in (NOT_FOUND, CONFLICT):
                raise

    def _spawn(self, work: Any) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (problem := task.exception()) is not None:
            print(f"{type(problem).__name__}: {problem}", flush=True)


async def _stopped(living: Pod, grace: float) -> None:
    await living.stop(grace)
