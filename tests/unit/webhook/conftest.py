"""An API server of a few dictionaries, and a job on a runtime, as admission is asked about them."""

from __future__ import annotations

import copy
from typing import Any

import orjson
import pytest

from kfp_trainer.runtime_operator.kube.errors import AlreadyExists, ApiError, Conflict, NotFound
from kfp_trainer.runtime_operator.kube.resource import Resource
from kfp_trainer.runtime_operator.render.dry_run import read_runtime
from kfp_trainer.runtime_operator.render.facts import Facts

Json = dict[str, Any]
API = "trainer.kubeflow.org/v1alpha1"


class Server:
    """Get, create, patch and apply of whole objects; every call is written down."""

    def __init__(self) -> None:
        self.objects: dict[tuple[str, str, str], Json] = {}
        self.calls: list[tuple[str, str, str]] = []
        self.refusals: list[ApiError] = []
        self.version = 0
        self.before_write: Any = None
        """called once, before the next write: what another client does in between"""
        self.reviews: dict[str, Json] = {}
        """the status of a TokenReview by its token"""

    def put(self, resource: Resource, namespace: str, document: Json) -> Json:
        self.version += 1
        stored = copy.deepcopy(document)
        stored["metadata"]["resourceVersion"] = str(self.version)
        self.objects[str(resource), namespace, document["metadata"]["name"]] = stored
        return stored

    def find(self, resource: Resource, namespace: str, name: str) -> Json:
        found = self.objects.get((str(resource), namespace, name))
        if found is None:
            raise NotFound(404, "NotFound", f"{resource} {name!r} not found")
        return found

    def _called(self, verb: str, resource: Resource, name: str) -> None:
        self.calls.append((verb, str(resource), name))
        if self.refusals:
            raise self.refusals.pop(0)
        if verb != "get" and self.before_write is not None:
            act, self.before_write = self.before_write, None
            act()

    async def get(self, resource: Resource, namespace: str, name: str, *, sub: str = "") -> bytes:
        self._called("get", resource, name)
        return orjson.dumps(self.find(resource, namespace, name))

    async def create(
        self, resource: Resource, namespace: str, body: bytes, *, sub: str = "", name: str = ""
    ) -> bytes:
        document = orjson.loads(body)
        name = document.get("metadata", {}).get("name", "")
        self._called("create", resource, name)
        if resource.kind == "TokenReview":
            return orjson.dumps({"status": self.reviews.get(document["spec"]["token"], {})})
        if (str(resource), namespace, name) in self.objects:
            raise AlreadyExists(409, "AlreadyExists", "there is one")
        return orjson.dumps(self.put(resource, namespace, document))

    async def patch(
        self, resource: Resource, namespace: str, name: str, body: bytes, *, manager: str = "", sub: str = ""
    ) -> bytes:
        self._called("patch", resource, name)
        change, found = orjson.loads(body), self.find(resource, namespace, name)
        wanted = change["metadata"].get("resourceVersion", found["metadata"]["resourceVersion"])
        if wanted != found["metadata"]["resourceVersion"]:
            raise Conflict(409, "Conflict", "the object has been modified")
        merged = {**found, **change, "metadata": {**found["metadata"], **change["metadata"]}}
        return orjson.dumps(self.put(resource, namespace, merged))

    async def apply(
        self,
        resource: Resource,
        namespace: str,
        name: str,
        body: bytes,
        *,
        manager: str,
        force: bool = True,
        sub: str = "",
    ) -> bytes:
        self._called("apply", resource, name)
        applied, found = orjson.loads(body), self.find(resource, namespace, name)
        if applied["metadata"].get("uid", found["metadata"].get("uid")) != found["metadata"].get("uid"):
            raise Conflict(409, "Conflict", "another uid")
        if "webhooks" in applied:
            by_name = {each["name"]: each for each in applied["webhooks"]}
            for hook in found["webhooks"]:
                hook["clientConfig"] |= by_name[hook["name"]]["clientConfig"]
        else:
            found = {**found, "status": {**found.get("status", {}), **applied["status"]}}
        return orjson.dumps(self.put(resource, namespace, found))


class KnownWorld:
    """The runtimes and facts that a test puts there."""

    def __init__(self) -> None:
        self.known: dict[tuple[str, str, str], Json] = {}
        self.existing: dict[tuple[str, str], Json] = {}
        self.asked: list[str] = []

    def add(self, runtime: Json) -> None:
        metadata = runtime["metadata"]
        self.known[runtime["kind"], metadata.get("namespace", ""), metadata["name"]] = runtime

    async def runtime(self, job: Json) -> Any:
        reference, namespace = job["spec"]["runtimeRef"], job["metadata"]["namespace"]
        kind = reference.get("kind", "ClusterTrainingRuntime")
        place = "" if kind == "ClusterTrainingRuntime" else namespace
        found = self.known.get((kind, place, reference["name"]))
        return None if found is None else read_runtime(found)

    async def facts(self, job: Json) -> Facts:
        self.asked.append(job["metadata"]["name"])
        return Facts(existing=self.existing)

    def runtimes(self, namespace: str) -> list[Json]:
        return list(self.known.values())


@pytest.fixture
def server() -> Server:
    return Server()


@pytest.fixture
def world() -> KnownWorld:
    return KnownWorld()


@pytest.fixture
def runtime() -> Json:
    """A runtime of one job that trains."""
    container = {"name": "node", "image": "example.com/train:1"}
    job = {
        "name": "node",
        "template": {
            "metadata": {"labels": {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}},
            "spec": {"template": {"spec": {"containers": [container]}}},
        },
    }
    return {
        "apiVersion": API,
        "kind": "ClusterTrainingRuntime",
        "metadata": {"name": "plain", "uid": "r-1"},
        "spec": {"mlPolicy": {"numNodes": 1, "torch": {}}, "template": {"spec": {"replicatedJobs": [job]}}},
    }


@pytest.fixture
def job() -> Json:
    """A job on that runtime."""
    return {
        "apiVersion": API,
        "kind": "TrainJob",
        "metadata": {"name": "bert", "namespace": "team", "uid": "u-1"},
        "spec": {"runtimeRef": {"name": "plain"}, "trainer": {"numNodes": 2}},
    }


@pytest.fixture
def review_of() -> Any:
    """Makes the body of a review."""

    def make(document: Json, old: Json | None = None, **request: Any) -> bytes:
        metadata = document["metadata"]
        asked = {
            "uid": "q-1",
            "operation": "CREATE" if old is None else "UPDATE",
            "namespace": metadata.get("namespace", ""),
            "name": metadata.get("name", ""),
            "object": document,
            "oldObject": old,
            **request,
        }
        return orjson.dumps(
            {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": asked}
        )

    return make
