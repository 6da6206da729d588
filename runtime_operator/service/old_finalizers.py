"""Strips the finalizer that older Trainers put on runtimes.

Trainer 2.0 guarded runtimes in use by `trainer.kubeflow.org/resource-in-use` and took it off again. Nobody
does that any more, so a runtime that still has it could never be deleted. A namespace that is being deleted
would hang on it, too.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable

import orjson

from ..kube.errors import ApiError, Conflict, NotFound
from ..kube.informer import Informer
from ..kube.transport import Transport

LOG = logging.getLogger(__name__)
FINALIZER = "trainer.kubeflow.org/resource-in-use"
LOOK_EVERY = 5.0  # seconds; a look at cached bytes costs next to nothing
_IN_BYTES = f'"{FINALIZER}"'.encode()


async def strip_forever(
    transport: Transport, runtimes: Iterable[Informer], *, every: float = LOOK_EVERY
) -> None:
    """Look for ever."""
    informers = tuple(runtimes)
    while True:
        for informer in informers:
            await strip(transport, informer)
        await asyncio.sleep(every)


async def strip(transport: Transport, informer: Informer) -> None:
    """Take the finalizer off every runtime that is known to have it."""
    for (namespace, name), cached in informer.items():
        if _IN_BYTES not in cached.raw:
            continue
        metadata = cached.document()["metadata"]
        kept = [each for each in metadata.get("finalizers") or () if each != FINALIZER]
        if len(kept) == len(metadata.get("finalizers") or ()):
            continue  # it stands elsewhere in the object
        change = {"metadata": {"finalizers": kept, "resourceVersion": metadata["resourceVersion"]}}
        try:
            raw = await transport.patch(informer.resource, namespace, name, orjson.dumps(change))
        except (NotFound, Conflict):
            continue  # what has changed meanwhile is looked at again
        except ApiError as error:
            LOG.warning(
                "cannot strip an old finalizer",
                extra={"namespace": namespace, "object": name, "why": str(error)},
            )
            continue
        informer.wrote(raw)
        LOG.info("old finalizer stripped", extra={"namespace": namespace, "object": name})
