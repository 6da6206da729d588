"""Everything that is written for the older kinds, and nothing else.

What is not known to exist is created, never applied: an object of that name without our label may be
anybody's, and an apply would make it ours. What is ours is changed by server-side apply. A JobSet keeps what
it was made with; of one that rests as much may change as JobSet allows.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from hashlib import blake2b
from typing import Any, NoReturn

import orjson

from ...api.legacy import LegacyJob
from ...errors import Retryable
from ...kube.cache import Json
from ...kube.errors import AlreadyExists, Conflict, NotFound
from ...kube.resource import JOBS, PODS, SECRETS, Resource
from ...kube.transport import Propagation, Transport
from ...render.plan import Object
from ..applied import fitted, is_as_wanted
from ..kinds import MANAGER
from ..memory import Memory
from ..metrics import Metrics
from ..secrets import NAMESAKE_AGAIN_AFTER, create_secret
from .caches import OlderCaches
from .foreign import is_owned, may_be_anothers
from .kinds import resource_of_kind
from .replica_view import ReplicaView


class InTheWay(Exception):
    """An object of somebody else has the name of one of ours."""

    def __init__(self, target: Object) -> None:
        super().__init__(f"{target['kind']} {target['metadata']['name']} is somebody else's")
        self.target = target


class OlderWriter:
    """Writes for one job at a time."""

    def __init__(self, transport: Transport, caches: OlderCaches, metrics: Metrics) -> None:
        self._transport, self._caches, self._metrics = transport, caches, metrics

    async def bring_about(
        self, wanted: Object, stored: Object | None, job: LegacyJob, memory: Memory
    ) -> bool:
        """See to it that an object is there; whether anything was written."""
        if wanted["kind"] == "Secret":
            await create_secret(self._transport, wanted)
            self._metrics.wrote("create", SECRETS.kind)
            memory.secrets.add(wanted["metadata"]["name"])
            return True
        resource = self._caches.resource_of(dict(wanted))
        if stored is None and may_be_anothers(job, wanted):
            await self._create_unless_there(resource, wanted)
            memory.secrets.add(wanted["metadata"]["name"])
            return True
        if stored is None:
            stored = await self._create(resource, wanted, job)
            if stored is None:
                return True
        if wanted["kind"] == "JobSet":
            wanted = _possible(stored, wanted)
        if is_as_wanted(stored, wanted, {"metadata": dict(job.metadata)}):
            return False
        return await self._apply(resource, wanted, stored, memory)

    async def _create(self, resource: Resource, wanted: Object, job: LegacyJob) -> Object | None:
        """Make an object; what is there already is returned if it is ours."""
        metadata = wanted["metadata"]
        try:
            body = orjson.dumps(wanted, default=list)
            raw = await self._transport.create(resource, metadata["namespace"], body)
        except AlreadyExists:
            return await self._found(resource, wanted, job)
        self._metrics.wrote("create", resource.kind)
        self._caches.wrote(resource, raw)
        return None

    async def _create_unless_there(self, resource: Resource, wanted: Object) -> None:
        """Make an object; one that is there already does as well."""
        body = orjson.dumps(wanted, default=list)
        with suppress(AlreadyExists):
            raw = await self._transport.create(resource, wanted["metadata"]["namespace"], body)
            self._metrics.wrote("create", resource.kind)
            self._caches.wrote(resource, raw)

    async def _found(self, resource: Resource, wanted: Object, job: LegacyJob) -> Object:
        """What stands where ours is to be made; Retryable if it is about to go."""
        metadata = wanted["metadata"]
        try:
            raw = await self._transport.get(resource, metadata["namespace"], metadata["name"])
        except NotFound as gone:
            raise has_to_go_first(wanted) from gone
        there: Json = orjson.loads(raw)
        if not is_owned(there, job) or "deletionTimestamp" in there["metadata"]:
            refuse_to_touch(there, job)
        return there

    async def _apply(self, resource: Resource, wanted: Object, stored: Object, memory: Memory) -> bool:
        metadata = wanted["metadata"]
        place, body = (wanted["kind"], metadata["name"]), orjson.dumps(wanted, default=list)
        written = blake2b(body, digest_size=16).digest()
        if memory.applied.get(place) == (written, stored["metadata"].get("resourceVersion", "")):
            return False  # the API server keeps it in another spelling
        raw = await self._transport.apply(resource, metadata["namespace"], place[1], body, manager=MANAGER)
        self._metrics.wrote("apply", resource.kind)
        memory.applied[place] = (written, self._caches.wrote(resource, raw))
        return True

    async def hold(self, job: LegacyJob, name: str, uid: str, parallelism: int) -> None:
        """Let a Job run its pod, or not; one that is gone needs neither."""
        body = orjson.dumps({"metadata": {"uid": uid}, "spec": {"parallelism": parallelism}})
        try:
            raw = await self._transport.patch(JOBS, job.namespace, name, body, manager=MANAGER)
        except (NotFound, Conflict):
            return
        self._metrics.wrote("patch", JOBS.kind)
        self._caches.wrote(JOBS, raw)

    async def label(self, job: LegacyJob, pod: ReplicaView, labels: Mapping[str, str]) -> None:
        """Write labels on a pod; one that is gone needs none.

        The answer is not taken in: it may tell what happened to the pod meanwhile, and that has to wake us.
        """
        body = orjson.dumps({"metadata": {"uid": pod.uid, "labels": labels}})
        try:
            await self._transport.patch(PODS, job.namespace, pod.name, body, manager=MANAGER)
        except (NotFound, Conflict):
            return
        self._metrics.wrote("patch", PODS.kind)

    async def delete(self, doomed: Object) -> None:
        """Delete an object of a plan, and no other that has its name since.

        A JobSet goes after its Jobs, for one of its name would take them for its own.
        """
        how: Propagation = "Foreground" if doomed["kind"] == "JobSet" else "Background"
        await self._delete(self._caches.resource_of(dict(doomed)), doomed["metadata"], how)

    async def delete_job(self, job: LegacyJob) -> None:
        """Delete the job itself."""
        await self._delete(resource_of_kind(job.kind), job.metadata, "Background")

    async def _delete(
        self, resource: Resource, metadata: Mapping[str, Any], propagation: Propagation
    ) -> None:
        await self._transport.delete(
            resource, metadata["namespace"], metadata["name"], uid=metadata["uid"], propagation=propagation
        )
        self._metrics.wrote("delete", resource.kind)

    async def status(self, job: LegacyJob, change: Mapping[str, Any]) -> None:
        """Write these fields of the status, if the job is still the one that was looked at."""
        resource = resource_of_kind(job.kind)
        seen = {"resourceVersion": job.metadata["resourceVersion"], "uid": job.metadata["uid"]}
        body = orjson.dumps({"metadata": seen, "status": change})
        raw = await self._transport.patch(
            resource, job.namespace, job.name, body, manager=MANAGER, sub="status"
        )
        self._metrics.wrote("status", resource.kind)
        self._caches.kinds[job.kind.name].wrote(raw)


def refuse_to_touch(target: Object, job: LegacyJob) -> NoReturn:
    """Raise what is to be done about an object in our place: wait if it is on its way out, else tell."""
    metadata = target["metadata"]
    owners = metadata.get("ownerReferences") or ()
    same = (job.kind.name, job.name)
    of_namesake = any(each.get("controller") and (each["kind"], each["name"]) == same for each in owners)
    if "deletionTimestamp" in metadata or of_namesake:
        raise has_to_go_first(target)
    raise InTheWay(target)


def has_to_go_first(target: Object) -> Retryable:
    """What keeps us from making an object will be gone soon."""
    text = f"{target['kind']} {target['metadata']['name']} is there and has to go first"
    return Retryable(text, after=NAMESAKE_AGAIN_AFTER)


def _possible(stored: Object, wanted: Object) -> Object:
    """A JobSet as the stored one can become it: while it runs and goes on it changes in nothing."""
    if stored["spec"].get("suspend"):
        return fitted(stored, wanted)
    suspend = bool(wanted["spec"].get("suspend"))
    return {**wanted, "spec": {**stored["spec"], "suspend": suspend}}
