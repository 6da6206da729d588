"""The network that all process nodes of a plane share, and what a cluster has besides its nodes.

python -m tests.cluster.process_node.network_part CONFIG

Goes into a network namespace that was made for it and keeps there: the API server's place, a forwarder from
ClusterIPs to endpoints, an answer for every name of the cluster, a volume for every claim. The file `ready`
in its folder says that nodes may come.
"""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

from kfp_trainer.runtime_operator.local.process.launcher import kernel

from ..control_plane.addresses import API_PORT, MACHINE, NODE, SERVICES
from .api import TROUBLE, Api, Kept
from .carrying import Machine, Streams, carry_to
from .claims import provide
from .domain_names import Server
from .network import BRIDGE, WIDTH, batch
from .services import Address, forwards, records

HARDWARE_ADDRESS = "02:00:00:00:00:01"
"""of the bridge, which else has the lowest of its ports: it would change as pods come and go"""
NAMES_PORT = 53
RETRY_SECONDS = 1.0
CLAIMS = "/api/v1/persistentvolumeclaims"
SERVICES_PATH = "/api/v1/services"
SLICES_PATH = "/apis/discovery.k8s.io/v1/endpointslices"


class Forwarder:
    """Listens at every ClusterIP that has a ready endpoint, and connects to one, each in its turn."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._targets: dict[Address, tuple[Address, ...]] = {}
        self._servers: dict[Address, asyncio.Server] = {}
        self._turn = 0

    async def update(self, targets: dict[Address, tuple[Address, ...]]) -> None:
        """Forward to these from now on; connections that are open stay."""
        self._targets = targets
        for gone in self._servers.keys() - targets.keys():
            self._servers.pop(gone).close()
        for fresh in targets.keys() - self._servers.keys():
            carry = carry_to(lambda at=fresh: self._connect(at))  # type: ignore[misc]
            self._servers[fresh] = await asyncio.start_server(carry, fresh.host, fresh.port)

    async def _connect(self, at: Address) -> Streams:
        targets = self._targets.get(at)
        if not targets:
            raise ConnectionRefusedError(f"{at}: no endpoint any more")
        self._turn += 1
        target = targets[self._turn % len(targets)]
        if target.host == str(MACHINE):
            return await self._machine.connect(target.port)
        return await asyncio.open_connection(target.host, target.port)


async def serve_services(api: Api, machine: Machine) -> None:
    """Keep the forwarder and the names as the Services and their endpoints are."""
    changed = asyncio.Event()
    services, slices = (Kept(api, path, changed.set) for path in (SERVICES_PATH, SLICES_PATH))
    forwarder, known = Forwarder(machine), dict[str, tuple[str, ...]]()
    loop = asyncio.get_running_loop()
    await loop.create_datagram_endpoint(lambda: Server(known.get), (str(NODE), NAMES_PORT))
    async with asyncio.TaskGroup() as group:
        group.create_task(services.run())
        group.create_task(slices.run())
        while True:
            await changed.wait()
            changed.clear()
            now = services.by_uid.values(), slices.by_uid.values()
            fresh = records(*now)
            known.update(fresh)
            for gone in known.keys() - fresh.keys():
                del known[gone]
            await forwarder.update(forwards(*now))


async def serve_claims(api: Api, folder: Path) -> None:
    """Give each claim its volume."""
    changed = asyncio.Event()
    claims = Kept(api, CLAIMS, changed.set)
    async with asyncio.TaskGroup() as group:
        group.create_task(claims.run())
        while True:
            await changed.wait()
            changed.clear()
            for claim in list(claims.by_uid.values()):
                try:
                    await provide(api, claim, folder)
                except TROUBLE as problem:
                    print(f"claim: {problem}", flush=True)
                    asyncio.get_running_loop().call_later(RETRY_SECONDS, changed.set)


async def make_network() -> None:
    """A bridge with the first node's address; all ClusterIPs are ours, to be listened at."""
    if f"{BRIDGE}:" in Path("/proc/self/net/dev").read_text(encoding="ascii"):
        return  # by one before us
    await batch(
        "link set lo up",
        f"link add {BRIDGE} address {HARDWARE_ADDRESS} type bridge",
        f"address add {NODE}/{WIDTH} dev {BRIDGE}",
        f"link set {BRIDGE} up",
        f"route add local {SERVICES} dev lo",
    )


async def main(config: dict[str, Any]) -> None:
    """Serve until killed."""
    folder, pki, api_port = Path(config["folder"]), Path(config["pki"]), config["api_port"]
    machine = Machine()
    with open(config["space"], "rb") as space:
        kernel.setns(space.fileno(), kernel.CLONE_NEWNET)
    await make_network()
    to_api = carry_to(lambda: machine.connect(api_port))
    await asyncio.start_server(to_api, str(NODE), API_PORT)
    (folder / "ready").touch()
    async with asyncio.TaskGroup() as group:
        group.create_task(serve_services(Api(pki, "kube-proxy"), machine))
        group.create_task(serve_claims(Api(pki, "provisioner"), folder / "claims"))


if __name__ == "__main__":
    asyncio.run(main(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))))
