"""Who may post the progress of a TrainJob, and where it goes on a cluster.

A token must be good for this job's status and nothing else (its audience), be bound to a pod, and that pod
must belong to the JobSet that the job owns now: neither another workload of the namespace nor a pod of a
deleted namesake may post. The API server checks the token; what it said is kept for a minute, for trainers
post every few seconds. Progress is applied under a field manager of its own, on the very job that was looked
at, so the controller's writes and these never meet.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import orjson

from ..api.names import API_VERSION, TRAIN_JOB
from ..controller.kinds import JOBSETS, TRAIN_JOBS
from ..kube.errors import Conflict, Invalid, NotFound
from ..kube.resource import PODS, TOKEN_REVIEWS, Resource
from ..kube.transport import Transport

Json = dict[str, Any]

MANAGER = "trainer-status"
GOOD_FOR, BAD_FOR = 60.0, 10.0  # seconds
MOST_KNOWN = 20_000
ANOTHER_UID = "metadata.uid: "
"""in the words of an API server that is told to change another object than the one of the name"""
_BOUND = "authentication.kubernetes.io/"
_JOBSET = "jobset.sigs.k8s.io/"


class TokenKeeper:
    """Asks the API server about tokens, and keeps progress in the status of TrainJobs."""

    def __init__(self, transport: Transport, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._transport, self._clock = transport, clock
        self._known: OrderedDict[tuple[str, str, bytes], tuple[float, str]] = OrderedDict()
        self._uids: OrderedDict[tuple[str, str], str] = OrderedDict()

    async def may_post(self, namespace: str, name: str, token: str) -> bool:
        """Tell whether a token is good for a job."""
        key = (namespace, name, hashlib.sha256(token.encode()).digest())
        until, uid = self._known.get(key, (0.0, ""))
        if until <= self._clock():
            uid = await self._uid_of(namespace, name, token)
            _remember(self._known, key, (self._clock() + (GOOD_FOR if uid else BAD_FOR), uid))
        if uid:
            _remember(self._uids, (namespace, name), uid)
        return bool(uid)

    async def keep(self, namespace: str, name: str, progress: Json) -> bool:
        """Apply the progress in the place of what was there; false where the job is gone."""
        metadata = {"name": name, "namespace": namespace, "uid": self._uids.get((namespace, name), "")}
        body = {"apiVersion": API_VERSION, "kind": TRAIN_JOB, "metadata": metadata}
        document = orjson.dumps({**body, "status": {"trainerStatus": progress}})
        try:
            await self._transport.apply(TRAIN_JOBS, namespace, name, document, manager=MANAGER, sub="status")
        except (NotFound, Conflict):
            return False
        except Invalid as error:
            if ANOTHER_UID in error.message:
                return False
            raise
        return True

    async def _uid_of(self, namespace: str, name: str, token: str) -> str:
        """The uid of the job that a token may post for; empty if it may not."""
        pod = await self._pod_of(namespace, name, token)
        if pod is None:
            return ""
        try:
            found, jobset = await asyncio.gather(
                self._read(PODS, namespace, pod[0]), self._read(JOBSETS, namespace, name)
            )
        except NotFound:
            return ""
        labels = found["metadata"].get("labels") or {}
        belongs = (
            found["metadata"]["uid"] == pod[1]
            and labels.get(f"{_JOBSET}jobset-name") == name
            and labels.get(f"{_JOBSET}jobset-uid", jobset["metadata"]["uid"]) == jobset["metadata"]["uid"]
        )
        return _owner_uid(jobset) if belongs else ""

    async def _pod_of(self, namespace: str, name: str, token: str) -> tuple[str, str] | None:
        """Name and uid of the pod of this namespace that a token is bound to, if it is good for the job."""
        audience = f"{API_VERSION}/namespaces/{namespace}/trainjobs/{name}/status"
        spec = {"token": token, "audiences": [audience]}
        head = {"apiVersion": TOKEN_REVIEWS.api_version, "kind": TOKEN_REVIEWS.kind, "metadata": {}}
        answer = await self._transport.create(TOKEN_REVIEWS, "", orjson.dumps({**head, "spec": spec}))
        status = orjson.loads(answer).get("status") or {}
        if not status.get("authenticated") or audience not in (status.get("audiences") or ()):
            return None
        user = status.get("user") or {}
        if not str(user.get("username", "")).startswith(f"system:serviceaccount:{namespace}:"):
            return None
        extra = user.get("extra") or {}
        pod, uid = (extra.get(f"{_BOUND}pod-{each}") or [""] for each in ("name", "uid"))
        return (pod[0], uid[0]) if pod[0] and uid[0] else None

    async def _read(self, resource: Resource, namespace: str, name: str) -> Json:
        found: Json = orjson.loads(await self._transport.get(resource, namespace, name))
        return found


def _owner_uid(jobset: Json) -> str:
    owners = jobset["metadata"].get("ownerReferences") or ()
    return next(
        (str(each["uid"]) for each in owners if each.get("controller") and each.get("kind") == TRAIN_JOB), ""
    )


def _remember(known: OrderedDict[Any, Any], key: Any, value: Any) -> None:
    known[key] = value
    known.move_to_end(key)
    if len(known) > MOST_KNOWN:
        known.popitem(last=False)
