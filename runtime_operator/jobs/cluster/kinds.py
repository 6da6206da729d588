"""Where an object of any kind lies, as the API server tells it: users bring kinds that we do not know."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...controller.kinds import CLUSTER_TRAINING_RUNTIMES, TRAIN_JOBS, TRAINING_RUNTIMES
from ...errors import FieldError, SpecError
from ...kube.discovery import discover
from ...kube.resource import Resource
from ...kube.transport import Transport

__all__ = ["RUNTIMES", "TRAIN_JOBS", "resource_of"]

RUNTIMES = {each.kind: each for each in (TRAINING_RUNTIMES, CLUSTER_TRAINING_RUNTIMES)}


async def resource_of(transport: Transport, document: Mapping[str, Any]) -> Resource:
    """Find the resource of a document; SpecError where the cluster serves no such kind."""
    api_version, kind = str(document["apiVersion"]), str(document["kind"])
    for each in await discover(transport, api_version):
        if each.kind == kind:
            return each
    text = f"the cluster serves no {kind} of {api_version!r}; install what defines it, or leave it out"
    name = str((document.get("metadata") or {}).get("name", ""))
    raise SpecError([FieldError("kind", text, "FieldValueNotSupported", f"{kind}/{name}")])
