"""What a client may expect of an API server: played to the fake one and to a real one, with the same answers.

Each promise is a short play on one namespace; what it returns is compared between the two. JOBS is a kind
with a status subresource and no schema; CRD serves it where CRDs count.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from typing import Any

from kfp_trainer.runtime_operator.kube.errors import ApiError
from kfp_trainer.runtime_operator.kube.resource import CONFIG_MAPS, Resource
from kfp_trainer.runtime_operator.kube.transport import Transport

Json = dict[str, Any]
Play = Callable[[Transport, str], Awaitable[object]]

JOBS = Resource("kube.test", "v1", "jobs", "Job")
_ANY = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
CRD: Json = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": f"{JOBS.plural}.{JOBS.group}"},
    "spec": {
        "group": JOBS.group,
        "scope": "Namespaced",
        "names": {"plural": JOBS.plural, "kind": JOBS.kind, "singular": "job"},
        "versions": [
            {
                "name": JOBS.version,
                "served": True,
                "storage": True,
                "subresources": {"status": {}},
                "schema": {
                    "openAPIV3Schema": {"type": "object", "properties": {"spec": _ANY, "status": _ANY}}
                },
            }
        ],
    },
}


def configmap(name: str, **data: str) -> bytes:
    return body(CONFIG_MAPS, name, data=data)


def body(resource: Resource, name: str, **content: Any) -> bytes:
    metadata = {"name": name, **content.pop("metadata", {})}
    head = {"apiVersion": resource.api_version, "kind": resource.kind, "metadata": metadata}
    return json.dumps(head | content).encode()


async def refusal(call: Awaitable[object]) -> str:
    """The class of the error that a call raises, or that there is none."""
    try:
        await call
    except ApiError as error:
        return type(error).__name__
    return "done"


def version(raw: bytes) -> str:
    return str(json.loads(raw)["metadata"]["resourceVersion"])


async def applying(transport: Transport, namespace: str) -> object:
    """Fields belong to who applied them last, and go when their owner applies no longer."""

    async def apply(manager: str, **data: str) -> bytes:
        return await transport.apply(CONFIG_MAPS, namespace, "a", configmap("a", **data), manager=manager)

    first = await apply("x", one="1", two="2")
    again = await apply("x", one="1", two="2")
    other = await apply("y", two="2", three="3")
    less = await apply("x", one="1")
    gone = await apply("y", three="3")
    forced = await apply("y", one="y", three="3")
    return [
        version(first) == version(again),
        *(json.loads(each)["data"] for each in (other, less, gone, forced)),
    ]


async def conflicts(transport: Transport, namespace: str) -> object:
    """Without force another's field is a conflict, unless the value is the same."""
    await transport.apply(CONFIG_MAPS, namespace, "a", configmap("a", one="1"), manager="x")
    return [
        await refusal(
            transport.apply(CONFIG_MAPS, namespace, "a", configmap("a", one=value), manager="y", force=False)
        )
        for value in ("2", "1")
    ]


async def identities(transport: Transport, namespace: str) -> object:
    """A write that means another object is refused."""
    made = json.loads(await transport.create(CONFIG_MAPS, namespace, configmap("a", one="1")))["metadata"]
    uid, stale = made["uid"], made["resourceVersion"]
    patched = await transport.patch(CONFIG_MAPS, namespace, "a", b'{"data": {"one": null, "two": "2"}}')

    def with_metadata(**metadata: str) -> bytes:
        return body(CONFIG_MAPS, "a", metadata=metadata)

    calls = [
        transport.create(CONFIG_MAPS, namespace, configmap("a")),
        transport.patch(CONFIG_MAPS, namespace, "a", with_metadata(resourceVersion=stale)),
        transport.patch(CONFIG_MAPS, namespace, "a", with_metadata(uid="another")),
        transport.patch(CONFIG_MAPS, namespace, "none", b"{}"),
        transport.apply(CONFIG_MAPS, namespace, "a", with_metadata(uid="another"), manager="x"),
        transport.apply(CONFIG_MAPS, namespace, "none", with_metadata(uid=uid), manager="x"),
        transport.delete(CONFIG_MAPS, namespace, "a", uid="another"),
        transport.delete(CONFIG_MAPS, namespace, "none"),
        transport.get(CONFIG_MAPS, namespace, "none"),
        transport.delete(CONFIG_MAPS, namespace, "a", uid=uid),
        transport.get(CONFIG_MAPS, namespace, "a"),
    ]
    return [json.loads(patched)["data"], *[await refusal(call) for call in calls]]


async def status(transport: Transport, namespace: str) -> object:
    """The status is written by its subresource only, and counts no generation."""
    made = json.loads(
        await transport.create(JOBS, namespace, body(JOBS, "a", spec={"x": 1}, status={"y": 1}))
    )
    await transport.apply(JOBS, namespace, "a", body(JOBS, "a", status={"y": 2}), manager="s", sub="status")
    await transport.patch(JOBS, namespace, "a", b'{"spec": {"x": 2}, "status": {"y": 3}}')
    last = await transport.patch(
        JOBS, namespace, "a", b'{"spec": {"x": 9}, "status": {"z": 3}}', sub="status"
    )
    document = json.loads(last)
    missing = transport.apply(JOBS, namespace, "b", body(JOBS, "b", status={}), manager="s", sub="status")
    return [
        made.get("status"),
        made["metadata"]["generation"],
        document["spec"],
        document["status"],
        document["metadata"]["generation"],
        await refusal(missing),
    ]


async def deletion(transport: Transport, namespace: str) -> object:
    """A finalizer keeps what is deleted until it is taken off."""
    kept = body(CONFIG_MAPS, "a", metadata={"finalizers": ["kube.test/hold"]})
    await transport.create(CONFIG_MAPS, namespace, kept)
    await transport.delete(CONFIG_MAPS, namespace, "a")
    waits = json.loads(await transport.get(CONFIG_MAPS, namespace, "a"))["metadata"]
    await transport.patch(CONFIG_MAPS, namespace, "a", b'{"metadata": {"finalizers": null}}')
    return ["deletionTimestamp" in waits, await refusal(transport.get(CONFIG_MAPS, namespace, "a"))]


async def watching(transport: Transport, namespace: str) -> object:
    """A watch since a version tells what happened since, as one that selects sees it."""
    (page,) = [page async for page in transport.list(CONFIG_MAPS, namespace=namespace, labels="app=x")]
    labelled = body(CONFIG_MAPS, "a", metadata={"labels": {"app": "x"}})
    await transport.apply(CONFIG_MAPS, namespace, "a", labelled, manager="m")
    await transport.patch(CONFIG_MAPS, namespace, "a", b'{"data": {"one": "1"}}')
    await transport.patch(CONFIG_MAPS, namespace, "a", b'{"metadata": {"labels": {"app": "y"}}}')
    await transport.patch(CONFIG_MAPS, namespace, "a", b'{"metadata": {"labels": {"app": "x"}}}')
    await transport.delete(CONFIG_MAPS, namespace, "a")
    told: list[tuple[str, bool]] = []
    lines = transport.watch(
        CONFIG_MAPS, namespace=namespace, labels="app=x", resource_version=page.resource_version, timeout=30
    )
    async with aclosing(lines), asyncio.timeout(20):
        async for line in lines:
            event = json.loads(line)
            if event["type"] != "BOOKMARK":
                told.append((event["type"], "data" in event["object"]))
            if len(told) == 5:
                break
    return told


async def paging(transport: Transport, namespace: str) -> object:
    """A list comes in pages of one version."""
    for number in range(7):
        await transport.create(
            CONFIG_MAPS, namespace, body(CONFIG_MAPS, f"p{number}", metadata={"labels": {"p": "1"}})
        )
    pages = [page async for page in transport.list(CONFIG_MAPS, namespace=namespace, labels="p=1", limit=3)]
    return [[len(page.items) for page in pages], len({page.resource_version for page in pages})]


CONTRACT: dict[str, tuple[Play, object]] = {
    "fields belong to who applied them": (
        applying,
        [
            True,
            {"one": "1", "two": "2", "three": "3"},
            {"one": "1", "two": "2", "three": "3"},
            {"one": "1", "three": "3"},
            {"one": "y", "three": "3"},
        ],
    ),
    "another's field is a conflict without force": (conflicts, ["Conflict", "done"]),
    "what is meant for another is refused": (
        identities,
        [
            {"two": "2"}, "AlreadyExists", "Conflict", "Invalid", "NotFound", "Invalid", "Conflict",
            "Conflict", "done", "NotFound", "done", "NotFound",
        ],
    ),
    "the status has its own way": (status, [None, 1, {"x": 2}, {"y": 2, "z": 3}, 2, "NotFound"]),
    "a finalizer holds": (deletion, [True, "NotFound"]),
    "a watch sees what it selects": (
        watching,
        [("ADDED", False), ("MODIFIED", True), ("DELETED", True), ("ADDED", True), ("DELETED", True)],
    ),
    "a list comes in pages of one version": (paging, [[3, 3, 1], 1]),
}  # fmt: skip
