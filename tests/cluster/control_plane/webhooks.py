"""The webhooks of a part: its configurations as its authors ship them, and the Service that leads to it.

A manager listens on loopback, which no endpoint may be; its Service has the machine's address in the cluster,
and the API server gets there through the tunnel. By URL it is called with nothing between.
"""

import re
from pathlib import Path
from typing import Any, Literal

from .addresses import MACHINE
from .shipped import documents
from .site import Site

By = Literal["service", "url"]
KINDS = r"(Mutating|Validating)WebhookConfiguration"
PORT, PORT_NAME = 443, "https"


def configurations(
    part: str, manifest: Path, site: Site, *, only: str, own_names: bool, by: By
) -> list[dict[str, Any]]:
    """The shipped configurations, calling the part where it listens; two of one kind keep their own names."""
    made = []
    for document in documents(manifest, KINDS):
        hooks = [hook for hook in document["webhooks"] if re.search(only, _path(hook))]
        at_part = [_called(hook, part, site, by) for hook in hooks]
        name = document["metadata"]["name"] if own_names else part
        made.append({**document, "metadata": {"name": name}, "webhooks": at_part})
    return made


def service(part: str, site: Site) -> list[tuple[dict[str, Any], str]]:
    """The Service of a part's webhooks and its endpoint, each with its namespace."""
    namespace, name = service_name(part)
    return [(each, namespace) for each in front(name, site.port(f"{part}-webhook"))]


def front(name: str, port: int) -> list[dict[str, Any]]:
    """A Service that leads to a port of this machine, and its endpoint."""
    ports = [{"name": PORT_NAME, "port": PORT, "protocol": "TCP"}]
    made = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name}, "spec": {"ports": ports}}
    return [made, endpoint(name, str(MACHINE), port)]


def endpoint(service: str, address: str, port: int, *, name: str = PORT_NAME) -> dict[str, Any]:
    """The one endpoint of a Service without a selector."""
    return {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {"name": service, "labels": {"kubernetes.io/service-name": service}},
        "addressType": "IPv4",
        "ports": [{"name": name, "port": port, "protocol": "TCP"}],
        "endpoints": [{"addresses": [address], "conditions": {"ready": True}}],
    }


def service_name(part: str) -> tuple[str, str]:
    """Namespace and name of a part's Service."""
    return f"{part}-system", f"{part}-webhook"


def _path(hook: dict[str, Any]) -> str:
    return str(hook["clientConfig"]["service"]["path"])


def _called(hook: dict[str, Any], part: str, site: Site, by: By) -> dict[str, Any]:
    path = _path(hook)
    called: dict[str, Any] = {"url": f"https://{site.address(f'{part}-webhook')}{path}"}
    if by == "service":
        namespace, name = service_name(part)
        called = {"service": {"namespace": namespace, "name": name, "path": path, "port": PORT}}
    return {**hook, "clientConfig": {**called, "caBundle": site.ca_bundle}}
