"""Tells the API server whose certificates to trust: the caBundle of our webhook configurations.

Only that field is applied, hook by hook and under a manager of its own, so that whoever installed the
configurations keeps all the rest. A configuration that is not there stays away: somebody removed it.
"""

from __future__ import annotations

import base64
import logging
from typing import Any

import orjson

from ..kube.errors import NotFound
from ..kube.resource import MUTATING_WEBHOOKS, VALIDATING_WEBHOOKS, Resource
from ..kube.transport import Transport

LOG = logging.getLogger(__name__)
MANAGER = "kfp-trainer-certificates"
Configurations = tuple[tuple[Resource, str], ...]
CONFIGURATIONS: Configurations = (
    (MUTATING_WEBHOOKS, "defaulter.trainer.kubeflow.org"),
    (VALIDATING_WEBHOOKS, "validator.trainer.kubeflow.org"),
)
"""upstream's names: an installation that comes from there has them already"""
OLDER_KINDS: Configurations = (
    (MUTATING_WEBHOOKS, "older-kinds.defaulter.trainer.kubeflow.org"),
    (VALIDATING_WEBHOOKS, "older-kinds.validator.trainer.kubeflow.org"),
)
"""where kinds of kubeflow.org are served as well"""


async def publish(
    transport: Transport, authority: bytes, configurations: Configurations = CONFIGURATIONS
) -> None:
    """Write the authority into each hook that does not name it yet."""
    bundle = base64.b64encode(authority).decode()
    for resource, name in configurations:
        try:
            found = orjson.loads(await transport.get(resource, "", name))
        except NotFound:
            LOG.warning(
                "no webhook configuration: what it is for is not judged on creation",
                extra={"kind": resource.kind, "object": name},
            )
            continue
        hooks = found.get("webhooks") or []
        if any((each.get("clientConfig") or {}).get("caBundle") != bundle for each in hooks):
            await _apply(transport, resource, name, [each["name"] for each in hooks], bundle)


async def _apply(transport: Transport, resource: Resource, name: str, hooks: list[str], bundle: str) -> None:
    document: dict[str, Any] = {
        "apiVersion": resource.api_version,
        "kind": resource.kind,
        "metadata": {"name": name},
        "webhooks": [{"name": hook, "clientConfig": {"caBundle": bundle}} for hook in hooks],
    }
    await transport.apply(resource, "", name, orjson.dumps(document), manager=MANAGER)
    LOG.info("certificate authority published", extra={"kind": resource.kind, "object": name})
