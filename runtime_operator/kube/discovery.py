"""Which kinds an API server serves now: other projects' kinds come and go with their CRDs."""

from __future__ import annotations

import orjson

from .errors import NotFound
from .resource import Resource
from .transport import Transport


async def discover(transport: Transport, api_version: str) -> tuple[Resource, ...]:
    """The kinds of a group and version; none where it is not served."""
    group, _, version = api_version.rpartition("/")
    try:
        told = orjson.loads(await transport.request("GET", Resource(group, version, "", "").root))
    except NotFound:
        return ()
    return tuple(
        Resource(group, version, each["name"], each["kind"], namespaced=bool(each["namespaced"]))
        for each in told.get("resources") or ()
        if "/" not in each["name"]  # a subresource
    )


async def is_served(transport: Transport, resource: Resource) -> bool:
    """Whether this version of the kind is served."""
    return any(each.plural == resource.plural for each in await discover(transport, resource.api_version))
