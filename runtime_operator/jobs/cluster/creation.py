"""Makes a job in a cluster, or takes the one that is there.

Two who ask at once for the same job get the same one: the API server takes one create of a name, and whoever
comes second looks again. Nothing is made while an older job of the name, or what it owned, still goes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

import orjson

from ...api.names import KUEUE_QUEUE_LABEL
from ...conditions import is_finished
from ...errors import SpecError
from ...kube.errors import AlreadyExists, ApiError, BadRequest, Conflict, Forbidden, Invalid, NotFound
from ...kube.transport import Transport
from .adoption import Adopt, Start
from .kinds import TRAIN_JOBS, resource_of
from .request import Request

MANAGER = "kfp-trainer"
PAUSE = 0.2
Found = Mapping[str, Any] | None
Decide = Callable[[Found], Adopt | Start]


async def settle(
    transport: Transport, namespace: str, request: Request, *, owner: str, decide: Decide
) -> str:
    """Bring the cluster to the job that is asked for; return its name."""
    applied = False
    while True:
        found = await find(transport, namespace, request.name)
        decision = decide(found)
        if isinstance(decision, Adopt):
            await _rest_or_resume(transport, namespace, found or {}, request)
            return request.name
        if decision.replaces is not None:
            await remove(transport, namespace, decision.replaces)
        if not applied:
            await _apply_others(transport, namespace, request)
            applied = True
        try:
            body = orjson.dumps(request.marked(owner=owner, attempt=decision.attempt))
            await transport.create(TRAIN_JOBS, namespace, body)
            return request.name
        except AlreadyExists:
            continue
        except (BadRequest, Forbidden, Invalid) as error:
            raise SpecError(f"TrainJob {request.name}: {error.message}") from error


async def find(transport: Transport, namespace: str, name: str) -> Found:
    """Read a TrainJob, if there is one."""
    try:
        found: Mapping[str, Any] = orjson.loads(await transport.get(TRAIN_JOBS, namespace, name))
        return found
    except NotFound as error:
        if error.details.get("name") == name or not error.details:
            return None
        raise


async def remove(transport: Transport, namespace: str, job: Mapping[str, Any]) -> None:
    """Delete a job with all that it owns, and wait until it is gone."""
    name, uid = job["metadata"]["name"], job["metadata"]["uid"]
    try:
        await transport.delete(TRAIN_JOBS, namespace, name, uid=uid, propagation="Foreground")
    except Conflict:
        return  # another job has its name by now
    while (found := await find(transport, namespace, name)) and found["metadata"]["uid"] == uid:
        await asyncio.sleep(PAUSE)


async def _apply_others(transport: Transport, namespace: str, request: Request) -> None:
    """Apply what the job needs; what somebody else keeps otherwise is not taken from them."""
    for document in request.others:
        resource = await resource_of(transport, document)
        metadata = document.get("metadata") or {}
        place = str(metadata.get("namespace") or namespace) if resource.namespaced else ""
        body = orjson.dumps({**document, "metadata": {**metadata, **({"namespace": place} if place else {})}})
        try:
            await transport.apply(resource, place, str(metadata["name"]), body, manager=MANAGER, force=False)
        except (BadRequest, Conflict, Forbidden, Invalid) as error:
            raise SpecError(f"{resource.kind} {metadata['name']}: {error.message}") from error


async def _rest_or_resume(
    transport: Transport, namespace: str, found: Mapping[str, Any], request: Request
) -> None:
    """Let an adopted job rest or go on as is asked; one of a queue is Kueue's to suspend."""
    conditions = (found.get("status") or {}).get("conditions") or ()
    in_queue = KUEUE_QUEUE_LABEL in (found["metadata"].get("labels") or {})
    is_as_asked = bool(found["spec"].get("suspend")) == request.suspend
    if is_as_asked or in_queue or is_finished(conditions):
        return
    change = {"spec": {"suspend": request.suspend}}
    try:
        await transport.patch(TRAIN_JOBS, namespace, request.name, orjson.dumps(change), manager=MANAGER)
    except ApiError as error:
        if error.is_retryable:
            raise
        raise SpecError(f"TrainJob {request.name}: {error.message}") from error
