"""The product's Transport to the fake server: each call takes its time, and meets the faults that are set.

Unlike the real one it tries nothing again, so that a test sees each refusal. It gives up as the real one
does: on an answer after 40 s, on a silent watch after 75 s.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from typing import TYPE_CHECKING, Any

from kfp_trainer.runtime_operator.kube.cache import Key
from kfp_trainer.runtime_operator.kube.errors import Silence, Unreachable, api_error
from kfp_trainer.runtime_operator.kube.resource import PODS, Resource
from kfp_trainer.runtime_operator.kube.transport import JSON, Page, Propagation

from . import merging
from .collection import Event, Watcher, event_line
from .faults import Crash, Fault
from .records import Write

if TYPE_CHECKING:
    from .server import FakeApi

Json = dict[str, Any]
GONE = {"kind": "Status", "code": 410, "reason": "Expired", "message": "too old resource version"}
IDENTITY = ("uid", "resourceVersion")
ANSWER_SECONDS, SILENCE_SECONDS, BOOKMARK_EVERY = 40.0, 75.0, 60.0


class FakeTransport:
    """One client of a FakeApi."""

    def __init__(self, api: FakeApi) -> None:
        self.is_cut_off = False
        """no answer comes to this client, as behind a broken network"""
        self._api = api

    async def list(
        self,
        resource: Resource,
        *,
        namespace: str = "",
        labels: str = "",
        fields: str = "",
        resource_version: str = "",
        limit: int = 500,
    ) -> AsyncGenerator[Page, None]:
        async with self._call("list", resource) as fault:
            version = self._api.version - (fault.behind if fault and fault.kind == "stale" else 0)
            watcher = Watcher(namespace, labels, fields)
            seen = [text for text in self._api.collection(resource).at(version) if watcher.sees(text)]
        step = limit or len(seen) or 1
        for start in range(0, len(seen) or 1, step):
            if start:
                await asyncio.sleep(self._api.latency)
            yield Page(tuple(text.encode() for text in seen[start : start + step]), str(version))

    async def watch(
        self,
        resource: Resource,
        *,
        namespace: str = "",
        labels: str = "",
        fields: str = "",
        resource_version: str = "",
        timeout: float = 290.0,
    ) -> AsyncGenerator[bytes, None]:
        since = int(resource_version or self._api.version)
        async with self._call("watch", resource) as fault:
            collection = self._api.collection(resource)
            if (fault and fault.kind == "gone") or since < collection.compacted:
                yield event_line("ERROR", GONE)
                return
        watcher = Watcher(namespace, labels, fields)
        collection.open(watcher, since)
        try:
            async for line in self._events(resource, watcher, timeout):
                yield line
        finally:
            collection.watchers.remove(watcher)

    async def _events(
        self, resource: Resource, watcher: Watcher, timeout: float
    ) -> AsyncGenerator[bytes, None]:
        loop = asyncio.get_running_loop()
        end, bookmark = loop.time() + timeout, loop.time() + BOOKMARK_EVERY
        held: list[bytes] = []
        while loop.time() < end:
            try:
                async with asyncio.timeout_at(min(end, bookmark)):
                    event = await watcher.events.get()
            except TimeoutError:
                for line in held:
                    yield line
                held.clear()
                if loop.time() >= bookmark:
                    bookmark += BOOKMARK_EVERY
                    await self._silent_if_hung()
                    yield self._bookmark(resource)
                continue
            if event is None:
                raise Unreachable("the watch was cut")
            await asyncio.sleep(self._api.latency)
            await self._silent_if_hung()
            for line in await self._lines(resource, watcher, event, held):
                yield line

    async def _lines(
        self, resource: Resource, watcher: Watcher, event: Event, held: list[bytes]
    ) -> list[bytes]:
        """Return what is sent of an event, after what may go wrong with it."""
        if not (line := watcher.line(event)):
            return []
        fault = self._api.faults.take("event", resource, event.key[1])
        kind = fault.kind if fault else ""
        if kind == "cut":
            raise Unreachable("the watch was cut")
        if kind == "silent":
            await _go_silent()
        if kind == "swap":
            held.append(line)
            return []
        lines = {"drop": [], "double": [line, line]}.get(kind, [line]) + held
        held.clear()
        return lines

    def _bookmark(self, resource: Resource) -> bytes:
        document = {
            "apiVersion": resource.api_version,
            "kind": resource.kind,
            "metadata": {"resourceVersion": str(self._api.version)},
        }
        return event_line("BOOKMARK", document)

    async def _silent_if_hung(self) -> None:
        if self._is_silent():
            await _go_silent()

    def _is_silent(self) -> bool:
        return self.is_cut_off or not self._api.answers_calls

    async def get(self, resource: Resource, namespace: str, name: str, *, sub: str = "") -> bytes:
        async with self._call("get", resource, name):
            return _written(self._api.need(resource, namespace, name))

    async def create(
        self, resource: Resource, namespace: str, body: bytes, *, sub: str = "", name: str = ""
    ) -> bytes:
        document = json.loads(body)
        async with self._call("create", resource, document["metadata"].get("name", name)):
            if resource in self._api.answers:
                return _written(self._api.answers[resource](document))
            if namespace:
                document["metadata"]["namespace"] = namespace
            made = self._api.put(resource, (namespace, ""), None, document)
            self._record("create", resource, (namespace, made["metadata"]["name"]), sub, "", changed=True)
            return _written(made)

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
        given, key = json.loads(body), (namespace, name)
        async with self._call("apply", resource, name):
            old = self._api.get(resource, namespace, name)
            _check_identity(given["metadata"], old)
            if old is None and sub:
                raise api_error(404, "NotFound", f'{resource} "{name}" not found')
            uid = old["metadata"]["uid"] if old else ""
            before, others = self._api.applied(resource, uid, manager, sub)
            new = json.loads(json.dumps(old)) if old else {"metadata": {"name": name}}
            if namespace:
                new["metadata"]["namespace"] = namespace
            content = _content(given, sub)
            merging.apply(new, json.loads(json.dumps(content)), before, others, force=force)
            _sign(new, manager, sub)
            made = self._api.put(resource, key, old, new, sub=sub)
            self._api.remember_applied(resource, made["metadata"]["uid"], manager, sub, content)
            self._record("apply", resource, key, sub, manager, changed=made != old)
            return _written(made)

    async def patch(
        self, resource: Resource, namespace: str, name: str, body: bytes, *, manager: str = "", sub: str = ""
    ) -> bytes:
        given, key = json.loads(body), (namespace, name)
        async with self._call("patch", resource, name):
            old = self._api.need(resource, namespace, name)
            _check_identity(given.get("metadata", {}), old)
            new = json.loads(json.dumps(old))
            merging.merge_patch(new, given)
            made = self._api.put(resource, key, old, new, sub=sub)
            self._record("patch", resource, key, sub, manager, changed=made != old)
            return _written(made)

    async def delete(
        self,
        resource: Resource,
        namespace: str,
        name: str,
        *,
        uid: str = "",
        resource_version: str = "",
        propagation: Propagation = "Background",
    ) -> None:
        async with self._call("delete", resource, name):
            old = self._api.get(resource, namespace, name)
            if old is None:
                return
            conditions = {"uid": uid, "resourceVersion": resource_version}
            _check_identity(conditions, old, uid_error=(409, "Conflict"))
            self._api.remove(resource, namespace, name, propagation=propagation)
            self._record("delete", resource, (namespace, name), "", "", changed=True)

    async def stream_log(
        self, namespace: str, pod: str, *, parameters: Mapping[str, str] | None = None
    ) -> AsyncGenerator[bytes, None]:
        given = parameters or {}
        async with self._call("log", PODS, pod):
            lines = self._api.logs.get((namespace, pod, given.get("container", "")))
            if lines is None:
                raise api_error(404, "NotFound", f'pods "{pod}" not found')
        for line in lines[-int(given["tailLines"]) :] if "tailLines" in given else lines:
            yield line.encode()

    async def request(
        self,
        method: str,
        path: str,
        *,
        parameters: Mapping[str, str] | None = None,
        body: bytes | None = None,
        content_type: str = JSON,
    ) -> bytes:
        """Answer discovery of a group's version, and nothing else."""
        async with self._call("request", None, path):
            there = [each for each in self._api.served() if each.root == path]
            if method != "GET" or not there:
                raise api_error(404, "NotFound", f"the server could not find {path}")
            kinds = [
                {"name": each.plural, "kind": each.kind, "namespaced": each.namespaced} for each in there
            ]
            return _written({"kind": "APIResourceList", "resources": kinds})

    @contextlib.asynccontextmanager
    async def _call(
        self, verb: str, resource: Resource | None, name: str = ""
    ) -> AsyncIterator[Fault | None]:
        """One call: the time it takes, what is done in the block, and what goes wrong before or after it."""
        self._api.calls.append((verb, str(resource or name)))
        self._api.refuse_if_down()
        fault = self._api.faults.take(verb, resource, name)
        kind = fault.kind if fault else ""
        await asyncio.sleep(self._api.latency / 2)
        if kind == "hang" or self._is_silent():
            await _give_up(ANSWER_SECONDS)
        if kind == "refuse":
            assert fault
            raise fault.error or api_error(500, "InternalError", "broken on purpose")
        if kind == "crash":
            raise Crash(verb)
        self._api.refuse_if_down()
        yield fault
        await asyncio.sleep(self._api.latency / 2)
        if self._is_silent():
            await _give_up(ANSWER_SECONDS)
        if kind == "crash-after":
            raise Crash(verb)
        if kind == "lose":
            raise Unreachable("the answer was lost")

    def _record(
        self, verb: str, resource: Resource, key: Key, sub: str, manager: str, *, changed: bool
    ) -> None:
        self._api.writes.append(Write(verb, resource, key, sub, manager, changed))


def _check_identity(given: Json, old: Json | None, *, uid_error: tuple[int, str] = (422, "Invalid")) -> None:
    """Refuse a write that means another object or version than the one that is there."""
    there = old["metadata"] if old else {}
    errors = {"uid": uid_error if old else (409, "Conflict"), "resourceVersion": (409, "Conflict")}
    for field, error in errors.items():
        if given.get(field) and given[field] != there.get(field):
            raise api_error(
                *error, f"metadata.{field}: {given[field]} was expected, there is {there.get(field)}"
            )


def _content(given: Json, sub: str) -> Json:
    """Return what of an applied document its manager comes to own."""
    if sub:
        return {sub: given.get(sub, {})}
    metadata = {name: value for name, value in given["metadata"].items() if name not in IDENTITY}
    return {**given, "metadata": metadata}


def _sign(document: Json, manager: str, sub: str) -> None:
    """Note who manages fields, as an API server does in each object."""
    entry = {"manager": manager, "operation": "Apply", "fieldsType": "FieldsV1", "fieldsV1": {"f:x": {}}}
    if sub:
        entry["subresource"] = sub
    signed = document["metadata"].setdefault("managedFields", [])
    if entry not in signed:
        signed.append(entry)


def _written(document: Json) -> bytes:
    return json.dumps(document).encode()


async def _go_silent() -> None:
    await asyncio.sleep(SILENCE_SECONDS)
    raise Silence("nothing came on an open stream")


async def _give_up(seconds: float) -> None:
    await asyncio.sleep(seconds)
    raise Unreachable(f"no answer within {seconds:.0f} s")
