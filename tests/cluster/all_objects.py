"""The names of everything that an API server holds, to tell what somebody has left behind."""

import json
from collections.abc import Iterator

from .control_plane.client import DISCOVERY, ApiError, Client, Json, eventually

NAMES_ONLY = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"
PASSING = {"events", "endpointslices.discovery.k8s.io"}
"""what comes and goes with pods, or ends by itself"""


def all_objects(client: Client) -> set[str]:
    """Every object as KIND in the plural/NAMESPACE/NAME."""
    found = set()
    for path, kind in _collections(client):
        for each in _listed(client, path):
            metadata = each["metadata"]
            found.add(f"{kind}/{metadata.get('namespace', '')}/{metadata['name']}")
    return found


def _listed(client: Client, path: str) -> list[Json]:
    """What a list holds; nothing where the kind has gone since it was told of."""
    (items,) = eventually(f"{path} is listed", lambda: _asked(client, path))
    return items


def _asked(client: Client, path: str) -> tuple[list[Json]] | None:
    """The answer; None where the API server still prepares for a kind that came a moment ago."""
    try:
        items: list[Json] | None = json.loads(client.text("GET", path, accept=NAMES_ONLY))["items"]
    except ApiError as refused:
        if refused.code not in (404, 429):
            raise
        return ([],) if refused.code == 404 else None
    return (items or [],)


def _collections(client: Client) -> Iterator[tuple[str, str]]:
    """The path of all objects of each kind, in the version that the API server prefers."""
    for root in ("/api", "/apis"):
        for group in json.loads(client.text("GET", root, accept=DISCOVERY))["items"]:
            name = group["metadata"].get("name", "")
            preferred = group["versions"][0]
            for resource in preferred.get("resources") or ():
                kind = ".".join(filter(None, (resource["resource"], name)))
                if "list" in resource["verbs"] and kind.partition(".events")[0] not in PASSING:
                    place = "/".join(filter(None, (root, name, preferred["version"])))
                    yield f"{place}/{resource['resource']}", kind
