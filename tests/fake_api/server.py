"""The server: objects with uids, versions, generations and finalizers, and a garbage collector."""

import asyncio
import itertools
import json
from collections.abc import Callable
from typing import Any

from kfp_trainer.runtime_operator.kube import resource as kubernetes
from kfp_trainer.runtime_operator.kube.cache import Key
from kfp_trainer.runtime_operator.kube.errors import Unreachable, api_error
from kfp_trainer.runtime_operator.kube.resource import Resource
from tests.virtual_time import now

from . import merging
from .collection import Collection
from .faults import Faults
from .records import Write
from .transport import FakeTransport

Json = dict[str, Any]
Admission = Callable[[Resource, Json | None, Json], None]
"""kind, old, new: may change the new object, or raise an ApiError"""

KUBERNETES_OWN = [each for each in vars(kubernetes).values() if isinstance(each, Resource)]
WITHOUT_STATUS = {
    "configmaps",
    "secrets",
    "events",
    "leases",
    "priorityclasses",
    "limitranges",
    "runtimeclasses",
}
FOREGROUND = "foregroundDeletion"


class FakeApi:
    """One API server; all its methods are what others than the product do."""

    def __init__(
        self, *resources: Resource, latency: float = 0.005, garbage_after: float | None = 0.2
    ) -> None:
        self.faults = Faults()
        self.writes: list[Write] = []
        self.calls: list[tuple[str, str]] = []
        """verb and kind of every call that came through a transport"""
        self.admission: list[Admission] = []
        self.answers: dict[Resource, Callable[[Json], Json]] = {}
        """what a create of a kind that is not stored gets: TokenReview"""
        self.logs: dict[tuple[str, str, str], list[str]] = {}
        """namespace, pod, container: the lines of its log"""
        self.latency = latency
        self.garbage_after = garbage_after
        """when the garbage collector comes, None for never"""
        self.is_up = self.answers_calls = True
        self.version = 100
        self._collections = {each: Collection(each) for each in (*KUBERNETES_OWN, *resources)}
        self._applied: dict[tuple[Resource, str, str, str], Json] = {}
        self._uids = itertools.count(1)

    def transport(self) -> FakeTransport:
        """Return a client of this server."""
        return FakeTransport(self)

    # what others do

    def create(self, resource: Resource, document: Json) -> Json:
        """Create an object as it is given, with its status."""
        document = _copy(document)
        metadata = document["metadata"]
        if "name" not in metadata:
            metadata["name"] = f"{metadata.pop('generateName')}{next(self._uids):05}"
        if resource.namespaced:
            metadata.setdefault("namespace", "default")
        document.setdefault("apiVersion", resource.api_version)
        document.setdefault("kind", resource.kind)
        key = metadata.get("namespace", ""), metadata["name"]
        if self.get(resource, *key):
            raise api_error(409, "AlreadyExists", f'{resource} "{key[1]}" already exists')
        metadata["uid"] = f"uid-{next(self._uids)}"
        metadata["generation"] = 1
        metadata["creationTimestamp"] = _stamp()
        return self._store(resource, key, None, document)

    def change(
        self, resource: Resource, namespace: str, name: str, change: Callable[[Json], object] | Json
    ) -> Json:
        """Change an object by a merge patch or a function, status and all."""
        old = self.need(resource, namespace, name)
        new = _copy(old)
        if callable(change):
            change(new)
        else:
            merging.merge_patch(new, _copy(change))
        return self._store(resource, (namespace, name), old, new)

    def remove(
        self, resource: Resource, namespace: str, name: str, *, propagation: str = "Background"
    ) -> None:
        """Delete an object; with finalizers it stays until they are taken off."""
        old = self.need(resource, namespace, name)
        new, key = _copy(old), (namespace, name)
        if propagation == "Foreground" and self._dependents(old["metadata"]["uid"]):
            new["metadata"].setdefault("finalizers", []).append(FOREGROUND)
        new["metadata"].setdefault("deletionTimestamp", _stamp())
        self._store(resource, key, old, new)
        if propagation != "Orphan":
            self._garbage_later()

    def get(self, resource: Resource, namespace: str, name: str) -> Json | None:
        """Return a copy of an object, if it exists."""
        return self.collection(resource).get((namespace, name))

    def need(self, resource: Resource, namespace: str, name: str) -> Json:
        """Return a copy of an object; NotFound if there is none."""
        if found := self.get(resource, namespace, name):
            return found
        raise api_error(404, "NotFound", f'{resource} "{name}" not found')

    def all(self, resource: Resource, namespace: str = "") -> list[Json]:
        """Return copies of all objects of a kind."""
        documents = [json.loads(text) for text in self.collection(resource).at(self.version)]
        return [each for each in documents if namespace in ("", each["metadata"].get("namespace"))]

    # what goes wrong with the server as a whole

    def stop(self) -> None:
        """Go away: connections are cut, new ones refused."""
        self.is_up = False
        self.cut()

    def start(self) -> None:
        """Be back, and answer."""
        self.is_up = self.answers_calls = True

    def hang(self) -> None:
        """Answer nobody any more, neither calls nor watches."""
        self.answers_calls = False

    def cut(self) -> None:
        """Cut all watches."""
        for collection in self._collections.values():
            for watcher in collection.watchers:
                watcher.events.put_nowait(None)

    def compact(self) -> None:
        """Forget all history: older versions are Gone."""
        for collection in self._collections.values():
            collection.compact(self.version)

    def serve(self, resource: Resource) -> None:
        """Serve one more kind, as after its CRD was created."""
        self._collections.setdefault(resource, Collection(resource))

    def withdraw(self, resource: Resource) -> None:
        """Serve a kind no longer."""
        for watcher in self._collections.pop(resource).watchers:
            watcher.events.put_nowait(None)

    # what the transport does here

    def served(self) -> list[Resource]:
        """Return the kinds that are served."""
        return list(self._collections)

    def collection(self, resource: Resource) -> Collection:
        """Return the objects of a kind; NotFound where it is not served."""
        if resource not in self._collections:
            raise api_error(404, "NotFound", "the server could not find the requested resource")
        return self._collections[resource]

    def put(self, resource: Resource, key: Key, old: Json | None, new: Json, *, sub: str = "") -> Json:
        """Store what a client wrote: the status only by its subresource, and nothing else by that."""
        has_status = resource.plural not in WITHOUT_STATUS
        if old is None and has_status:
            new.pop("status", None)
        elif old is not None and sub == "status":
            new = {**old, "status": new.get("status", {}), "metadata": old["metadata"]}
        elif old is not None and has_status:
            new["status"] = old.get("status")
            if new["status"] is None:
                del new["status"]
        for admit in self.admission:
            admit(resource, old, new)
        if old is None:
            return self.create(resource, new)
        return self._store(resource, key, old, new)

    def applied(self, resource: Resource, uid: str, manager: str, sub: str) -> tuple[Json, list[Json]]:
        """Return what a manager applied last to an object, and what others did."""
        mine = (resource, uid, manager, sub)
        others = [given for who, given in self._applied.items() if who[:2] == mine[:2] and who != mine]
        return self._applied.get(mine, {}), others

    def remember_applied(self, resource: Resource, uid: str, manager: str, sub: str, given: Json) -> None:
        """Remember what a manager applied."""
        self._applied[resource, uid, manager, sub] = given

    def refuse_if_down(self) -> None:
        """Raise what a client sees of a server that is away."""
        if not self.is_up:
            raise Unreachable("connection refused", was_not_sent=True)

    def _store(self, resource: Resource, key: Key, old: Json | None, new: Json) -> Json:
        """Store an object if it changed, and let it go when nothing holds it any more."""
        collection, metadata = self.collection(resource), new["metadata"]
        if old is not None:
            metadata.update({name: old["metadata"][name] for name in ("uid", "creationTimestamp")})
            metadata["resourceVersion"] = old["metadata"]["resourceVersion"]
            metadata["generation"] = old["metadata"]["generation"] + (_spec(old) != _spec(new))
        if old == new:
            return old
        self.version += 1
        ends = "deletionTimestamp" in metadata and not metadata.get("finalizers")
        if ends and old is not None:
            collection.set(key, None, self.version)
        else:
            collection.set(key, new, self.version)
        if ends or metadata.get("ownerReferences"):
            self._garbage_later()
        return new

    def _garbage_later(self) -> None:
        if self.garbage_after is not None:
            asyncio.get_running_loop().call_later(self.garbage_after, self._collect_garbage)

    def _collect_garbage(self) -> None:
        """Delete what has only owners that are gone, or one that waits for its dependents to go."""
        everything = [(each, text) for each, of in self._collections.items() for text in of.at(self.version)]
        documents = [(resource, json.loads(text)) for resource, text in everything]
        by_uid = {document["metadata"]["uid"]: document["metadata"] for _, document in documents}
        for resource, document in documents:
            metadata = document["metadata"]
            owners = [by_uid.get(each["uid"]) for each in metadata.get("ownerReferences", ())]
            is_garbage = owners and all(each is None or _waits(each) for each in owners)
            if is_garbage and "deletionTimestamp" not in metadata:
                self.remove(resource, metadata.get("namespace", ""), metadata["name"])
        for resource, document in documents:
            metadata = document["metadata"]
            if _waits(metadata) and not self._dependents(metadata["uid"]):
                self.change(resource, metadata.get("namespace", ""), metadata["name"], _let_go)

    def _dependents(self, uid: str) -> list[str]:
        return [
            text
            for collection in self._collections.values()
            for text in collection.objects.values()
            if any(each["uid"] == uid for each in json.loads(text)["metadata"].get("ownerReferences", ()))
        ]


def _waits(metadata: Json) -> bool:
    """Whether an object waits for its dependents to go."""
    return "deletionTimestamp" in metadata and FOREGROUND in metadata.get("finalizers", ())


def _let_go(document: Json) -> None:
    document["metadata"]["finalizers"].remove(FOREGROUND)


def _spec(document: Json) -> Json:
    """Return what a generation counts the changes of."""
    return {name: value for name, value in document.items() if name not in ("metadata", "status")}


def _stamp() -> str:
    return now().strftime("%Y-%m-%dT%H:%M:%SZ")


def _copy(document: Json) -> Json:
    copied: Json = json.loads(json.dumps(document))
    return copied
