"""The host names of a JobSet's pods, before there is any pod, and the address each gets on this machine.

On Linux every address of 127.0.0.0/8 is this machine, so each pod gets one of its own, and the addresses of
two jobs rarely meet. Elsewhere only 127.0.0.1 is there.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from typing import Any

from .semantics.labels import JOB_INDEX, JOBSET_NAME, REPLICATED_JOB

LOOPBACK = "127.0.0.1"
CLUSTER_DOMAIN = "cluster.local"
LAUNCHER = "launcher"
"""mpirun starts what is on its own host without ssh, and knows that host by the address of an interface"""
_HALF = 1 << 23
"""the upper half of 127.0.0.0/8: the lower one is where people put their own services"""


def short_names(jobset: Mapping[str, Any]) -> Iterator[str]:
    """The host names of all indexed pods, in the order of the replicated jobs."""
    for replicated_job in jobset["spec"].get("replicatedJobs") or ():
        spec = replicated_job["template"]["spec"]
        pods = spec.get("completions") or spec.get("parallelism") or 1
        for replica in range(int(replicated_job.get("replicas", 1))):
            for index in range(pods):
                yield f"{jobset['metadata']['name']}-{replicated_job['name']}-{replica}-{index}"


def addresses(jobset: Mapping[str, Any], *, platform: str = sys.platform) -> dict[str, str]:
    """The address of each host name."""
    seed = sha256(f"{jobset['metadata'].get('namespace')}/{jobset['metadata']['name']}".encode()).digest()
    first = int.from_bytes(seed[:3])
    launcher = f"{jobset['metadata']['name']}-{LAUNCHER}-"
    return {
        name: _address(first + number) if platform == "linux" and not name.startswith(launcher) else LOOPBACK
        for number, name in enumerate(short_names(jobset))
    }


def service_names(
    services: Iterable[Mapping[str, Any]], jobset: Mapping[str, Any], short: Mapping[str, str]
) -> dict[str, str]:
    """The address by every name of the Services that find one Job of the JobSet each."""
    found: dict[str, str] = {}
    for service in services:
        chosen = service["spec"].get("selector") or {}
        if chosen.get(JOBSET_NAME) != jobset["metadata"]["name"]:
            continue
        host = f"{chosen[JOBSET_NAME]}-{chosen.get(REPLICATED_JOB)}-{chosen.get(JOB_INDEX)}-0"
        if (address := short.get(host)) is not None:
            name, namespace = service["metadata"]["name"], service["metadata"].get("namespace", "default")
            inside = f"{name}.{namespace}"
            names = (name, inside, f"{inside}.svc", f"{inside}.svc.{CLUSTER_DOMAIN}")
            found |= dict.fromkeys(names, address)
    return found


def _address(number: int) -> str:
    """One of the addresses from 127.128.0.1 on."""
    place = number % (_HALF - 2) + 1 + _HALF
    return f"127.{place >> 16}.{place >> 8 & 255}.{place & 255}"


def all_names(jobset: Mapping[str, Any], short: Mapping[str, str]) -> dict[str, str]:
    """The address by every name under which a pod finds another, short and with its domain."""
    metadata = jobset["metadata"]
    network = jobset["spec"].get("network") or {}
    subdomain = network.get("subdomain") or metadata["name"]
    namespace = metadata.get("namespace", "default")
    found: dict[str, str] = {}
    for name, address in short.items():
        domain = f"{name}.{subdomain}"
        for alias in (
            name,
            domain,
            f"{domain}.{namespace}.svc",
            f"{domain}.{namespace}.svc.{CLUSTER_DOMAIN}",
        ):
            found[alias] = address
    return found
