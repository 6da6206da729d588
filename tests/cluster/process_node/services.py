"""What Services mean for connections and for names, from the Services and EndpointSlices of the API server.

Pure: `forwards` says where a connection to a ClusterIP goes, `records` which addresses a name has. As in a
cluster, an endpoint counts when it is ready (or its Service publishes those that are not; the controller of
EndpointSlices then calls them ready), and a Service without one refuses connections.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from ..control_plane.certificates import DOMAIN

Json = Mapping[str, Any]
OWNER = "kubernetes.io/service-name"


class Address(NamedTuple):
    """Where something listens."""

    host: str
    port: int


def forwards(services: Iterable[Json], slices: Iterable[Json]) -> dict[Address, tuple[Address, ...]]:
    """The ready endpoints of each TCP port of each ClusterIP; only those that have one."""
    by_service = _by_service(slices)
    found: dict[Address, tuple[Address, ...]] = {}
    for service in services:
        spec = service["spec"]
        if spec.get("clusterIP") in (None, "", "None"):
            continue
        for port in spec.get("ports") or ():
            targets = tuple(_targets(port.get("name") or "", by_service[_key(service)]))
            if targets and port.get("protocol", "TCP") == "TCP":
                found[Address(spec["clusterIP"], port["port"])] = targets
    return found


def records(services: Iterable[Json], slices: Iterable[Json]) -> dict[str, tuple[str, ...]]:
    """The addresses of each full name, in lower case and without the last dot."""
    by_service = _by_service(slices)
    found: dict[str, tuple[str, ...]] = {}
    for service in services:
        namespace, name = _key(service)
        full = f"{name}.{namespace}.svc.{DOMAIN}"
        address = service["spec"].get("clusterIP")
        if address != "None":
            found |= {full: (address,)} if address else {}
            continue
        endpoints = [each for one in by_service[namespace, name] for each in _ready(one)]
        found[full] = tuple(dict.fromkeys(each["addresses"][0] for each in endpoints))
        for each in endpoints:
            if each.get("hostname"):
                found[f"{each['hostname']}.{full}"] = tuple(each["addresses"])
    return found


def _by_service(slices: Iterable[Json]) -> Mapping[tuple[str, str], list[Json]]:
    found: defaultdict[tuple[str, str], list[Json]] = defaultdict(list)
    for each in slices:
        metadata = each["metadata"]
        if each.get("addressType") == "IPv4":
            found[metadata["namespace"], (metadata.get("labels") or {}).get(OWNER, "")].append(each)
    return found


def _key(service: Json) -> tuple[str, str]:
    return service["metadata"]["namespace"], service["metadata"]["name"]


def _targets(port: str, slices: Iterable[Json]) -> Iterator[Address]:
    """The addresses behind the port of this name."""
    for each in slices:
        numbers = [one["port"] for one in each.get("ports") or () if (one.get("name") or "") == port]
        for number in numbers:
            yield from (Address(endpoint["addresses"][0], number) for endpoint in _ready(each))


def _ready(part: Json) -> Iterator[Json]:
    """A slice's endpoints that are ready; nobody having said anything counts as ready."""
    for endpoint in part.get("endpoints") or ():
        if (endpoint.get("conditions") or {}).get("ready") is not False:
            yield endpoint
