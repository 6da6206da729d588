"""Where a connection to a Service goes, and which addresses its names have."""

import pytest

from tests.cluster.process_node.services import Address, forwards, records


def service(name="web", ip="198.19.0.9", ports=((80, "main"),), **more):
    made = [{"port": port, "name": called, **more} for port, called in ports]
    return {"metadata": {"namespace": "lab", "name": name}, "spec": {"clusterIP": ip, "ports": made}}


def endpoint(address, ready=True, **more):
    return {"addresses": [address], "conditions": {"ready": ready}, **more}


def part(*endpoints, service="web", ports=((8080, "main"),), family="IPv4"):
    labels = {"kubernetes.io/service-name": service}
    return {
        "metadata": {"namespace": "lab", "labels": labels},
        "addressType": family,
        "ports": [{"port": port, "name": name} for port, name in ports],
        "endpoints": list(endpoints),
    }


FORWARDS = {
    "a port goes to the port of every ready endpoint": (
        [service()],
        [part(endpoint("198.18.0.2"), endpoint("198.18.0.3"))],
        {("198.19.0.9", 80): [("198.18.0.2", 8080), ("198.18.0.3", 8080)]},
    ),
    "an endpoint that is not ready is left out": (
        [service()],
        [part(endpoint("198.18.0.2", ready=False), endpoint("198.18.0.3"))],
        {("198.19.0.9", 80): [("198.18.0.3", 8080)]},
    ),
    "an endpoint of which nothing is said is ready": (
        [service()],
        [part({"addresses": ["198.18.0.2"]})],
        {("198.19.0.9", 80): [("198.18.0.2", 8080)]},
    ),
    "a service without a ready endpoint forwards nothing": (
        [service()],
        [part(endpoint("198.18.0.2", ready=False))],
        {},
    ),
    "endpoints of several slices are one service's": (
        [service()],
        [part(endpoint("198.18.0.2")), part(endpoint("198.18.0.3"))],
        {("198.19.0.9", 80): [("198.18.0.2", 8080), ("198.18.0.3", 8080)]},
    ),
    "each port has its own targets, found by name": (
        [service(ports=((80, "main"), (443, "secure")))],
        [part(endpoint("198.18.0.2"), ports=((8080, "main"), (8443, "secure")))],
        {("198.19.0.9", 80): [("198.18.0.2", 8080)], ("198.19.0.9", 443): [("198.18.0.2", 8443)]},
    ),
    "the one port of a service needs no name": (
        [service(ports=((80, ""),))],
        [part(endpoint("198.18.0.2"), ports=((8080, None),))],
        {("198.19.0.9", 80): [("198.18.0.2", 8080)]},
    ),
    "another service's endpoints are not ours": (
        [service()],
        [part(endpoint("198.18.0.2"), service="db")],
        {},
    ),
    "a headless service forwards nothing": ([service(ip="None")], [part(endpoint("198.18.0.2"))], {}),
    "only TCP is forwarded": ([service(protocol="UDP")], [part(endpoint("198.18.0.2"))], {}),
    "addresses of another family are left out": ([service()], [part(endpoint("fd00::2"), family="IPv6")], {}),
}


@pytest.mark.parametrize("sentence", FORWARDS)
def test_forwards(sentence):
    services, slices, want = FORWARDS[sentence]
    assert forwards(services, slices) == {
        Address(*at): tuple(Address(*each) for each in targets) for at, targets in want.items()
    }


RECORDS = {
    "a service is its ClusterIP, with endpoints or without": (
        [service()],
        [],
        {"web.lab.svc.cluster.local": ["198.19.0.9"]},
    ),
    "a headless service is its ready endpoints, each once": (
        [service(ip="None")],
        [part(endpoint("198.18.0.2"), endpoint("198.18.0.3", ready=False)), part(endpoint("198.18.0.2"))],
        {"web.lab.svc.cluster.local": ["198.18.0.2"]},
    ),
    "an endpoint with a host name has a name of its own": (
        [service(ip="None")],
        [part(endpoint("198.18.0.2", hostname="node-0-0"))],
        {
            "web.lab.svc.cluster.local": ["198.18.0.2"],
            "node-0-0.web.lab.svc.cluster.local": ["198.18.0.2"],
        },
    ),
    "a headless service without endpoints exists": (
        [service(ip="None")],
        [],
        {"web.lab.svc.cluster.local": []},
    ),
    "a service that is only a name elsewhere has no address": (
        [{"metadata": {"namespace": "lab", "name": "far"}, "spec": {"type": "ExternalName"}}],
        [],
        {},
    ),
}


@pytest.mark.parametrize("sentence", RECORDS)
def test_records(sentence):
    services, slices, want = RECORDS[sentence]
    assert records(services, slices) == {name: tuple(addresses) for name, addresses in want.items()}
