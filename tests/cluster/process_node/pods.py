"""The pods of the node: each one from its binding until nobody wants it any more."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from pathlib import Path
from typing import Any

from kfp_trainer.runtime_operator.errors import KfpTrainerError
from kfp_trainer.runtime_operator.local.process import Listener, Place, Pod, PodEvent, PodRunner

from ..control_plane.addresses import API_PORT, NODE
from ..control_plane.certificates import DOMAIN
from .api import TROUBLE, Api, Json
from .images import settings
from .names import Names
from .network import Hub, NetworkError, PodNetwork
from .reporting import Reporter

API_ADDRESS = {
    "KUBERNETES_SERVICE_HOST": str(NODE),
    "KUBERNETES_SERVICE_PORT": str(API_PORT),
    "KUBERNETES_SERVICE_PORT_HTTPS": str(API_PORT),
}
ENDED = ("Succeeded", "Failed")
GRACE = 30.0
AGAIN_SECONDS = 0.5


class NodePod:
    """One pod of the node."""

    def __init__(self, document: Json, reporter: Reporter) -> None:
        self.document, self.reporter = document, reporter
        self.network: PodNetwork | None = None
        self.living: Pod | None = None
        self.refusal = ""
        """why it cannot run here"""
        self.changed = asyncio.Event()
        self.wish = asyncio.Event()
        """it is to end, after the grace"""
        self.grace = GRACE

    def is_called(self, namespace: str, name: str) -> bool:
        metadata = self.document["metadata"]
        return bool(metadata["namespace"] == namespace and metadata["name"] == name)

    def status(self) -> dict[str, Any]:
        """The pod's status as a kubelet writes it; of one that cannot run here, why."""
        if self.living is not None:
            return self.living.status()
        return {"phase": "Failed", "reason": "NotDoneHere", "message": self.refusal}

    def stop(self, grace: float) -> None:
        """End it, or sooner than was said before."""
        if not self.wish.is_set() or grace < self.grace:
            self.grace = grace
            self.wish.set()
            self.changed.set()


class Pods:
    """All pods that are bound to the node."""

    def __init__(self, api: Api, folder: Path, name: str, hub: Hub, *, claims: Path) -> None:
        self._api, self._folder, self._name, self._hub, self._claims = api, folder, name, hub, claims
        self._runner = PodRunner(settings())
        self._tasks: set[asyncio.Task[None]] = set()
        self.by_uid: dict[str, NodePod] = {}

    def find(self, namespace: str, name: str) -> NodePod | None:
        """The pod of this name that runs, or ran last, here."""
        return next((pod for pod in self.by_uid.values() if pod.is_called(namespace, name)), None)

    def take_in(self, wanted: Mapping[str, Json]) -> None:
        """What the API server wants now: start what is new, stop what is deleted or gone."""
        for uid, document in wanted.items():
            is_over = document["status"].get("phase") in ENDED
            is_deleted = "deletionTimestamp" in document["metadata"]
            if uid not in self.by_uid and (is_deleted or not is_over):
                pod = NodePod(document, Reporter(self._api, document, self._name))
                self.by_uid[uid] = pod
                self._spawn(self._life_of(uid, pod, run=not is_over))
        for uid, pod in self.by_uid.items():
            if uid not in wanted:
                pod.stop(0.0)
            elif "deletionTimestamp" in wanted[uid]["metadata"]:
                pod.stop(float(wanted[uid]["metadata"].get("deletionGracePeriodSeconds", GRACE)))

    async def _life_of(self, uid: str, pod: NodePod, *, run: bool) -> None:
        """Run it, report each change, and tell the API server when nothing is left of a deleted one."""
        try:
            if run:
                await self._start(uid, pod)
                await self._follow(pod)
            await pod.wish.wait()
            await _insist(pod.reporter.gone)
        finally:
            if pod.network is not None:
                await pod.network.remove()
            if pod.living is not None:
                pod.living.remove_volumes()
            del self.by_uid[uid]

    async def _start(self, uid: str, pod: NodePod) -> None:
        """Start a pod, or take over one that ran when this node was lost."""
        folder = self._folder / uid
        listener = self._listener(pod)
        names = Names(self._api, pod.document, self._claims)
        try:
            pod.network = await self._hub.attach()
            place = self._place(pod.document, folder, pod.network)
            if (folder / "pod.json").exists():
                pod.living = self._runner.adopt(folder, resolver=names, listener=listener, place=place)
            else:
                pod.living = self._runner.start(pod.document, place, resolver=names, listener=listener)
        except (KfpTrainerError, NetworkError) as error:
            pod.refusal = str(error)
        pod.changed.set()

    def _listener(self, pod: NodePod) -> Listener:
        def heard(event: PodEvent) -> None:
            pod.changed.set()
            self._spawn(_once(pod.reporter.event(event)))

        return heard

    def _place(self, document: Json, folder: Path, network: PodNetwork) -> Place:
        namespace = document["metadata"]["namespace"]
        search = " ".join(f"{head}{DOMAIN}" for head in (f"{namespace}.svc.", "svc.", ""))
        return Place(
            folder,
            node_name=self._name,
            host_ip=str(self._hub.address),
            pod_ip=network.address,
            hosts=own_names(document, network.address),
            network=network.path,
            resolv_conf=f"nameserver {NODE}\nsearch {search}\noptions ndots:5\n",
            env=API_ADDRESS,
        )

    async def _follow(self, pod: NodePod) -> None:
        """Report until the pod is over; end it once that is wished."""
        over = asyncio.create_task(_end_of(pod))
        over.add_done_callback(lambda _: pod.changed.set())
        asked = GRACE * 1e9
        while True:
            await pod.changed.wait()
            pod.changed.clear()
            ended = over.done()
            if pod.wish.is_set() and pod.living is not None and pod.grace < asked:
                asked = pod.grace
                self._spawn(_stopped(pod.living, pod.grace))
            await _insist(lambda: pod.reporter.status(pod.status()))
            if ended:
                break
        if pod.network is not None:
            await pod.network.remove()

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (problem := task.exception()) is not None:
            print(f"{type(problem).__name__}: {problem}", flush=True)


def own_names(document: Json, address: str) -> dict[str, str]:
    """The names by which a pod knows itself, whatever others know; the full one first."""
    spec, namespace = document["spec"], document["metadata"]["namespace"]
    host = spec.get("hostname") or document["metadata"]["name"]
    full = [f"{host}.{spec['subdomain']}.{namespace}.svc.{DOMAIN}"] if spec.get("subdomain") else []
    return dict.fromkeys([*full, host], address)


async def _end_of(pod: NodePod) -> None:
    if pod.living is not None:
        await pod.living.wait()


async def _stopped(living: Pod, grace: float) -> None:
    await living.stop(grace)


async def _insist(say: Callable[[], Awaitable[None]]) -> None:
    """Say it until the API server has heard it."""
    while True:
        try:
            await say()
            return
        except TROUBLE as problem:
            print(f"report: {problem}", flush=True)
            await asyncio.sleep(AGAIN_SECONDS)


async def _once(said: Coroutine[Any, Any, None]) -> None:
    """An Event that is not heard is no loss."""
    try:
        await said
    except TROUBLE as problem:
        print(f"event: {problem}", flush=True)
