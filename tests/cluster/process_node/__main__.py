"""Run a node, inside namespaces that were made for it.

python -m tests.cluster.process_node NAME FOLDER PKI KUBELET_PORT GPUS
"""

import asyncio
import os
import sys
from datetime import UTC, datetime
from pathlib import Path

import aiohttp

from .api import APPLY, MERGE, Api, Json, Refused
from .claims import provide
from .gate import API_SOCKET, HOST, carry_to
from .network import API_PORT, GATEWAY, Hub
from .pods import Pods
from .server import serve

LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"
OWNER = "fieldManager=process-node&force=true"
BETWEEN_LOOKS = 0.2
RENEW_SECONDS = 3.0


def node_document(name: str, port: int, gpus: int) -> Json:
    """The node as it registers."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2**20
    room = {"cpu": "64", "memory": f"{memory}Mi", "pods": "110"}
    if gpus:
        room["nvidia.com/gpu"] = str(gpus)
    labels = {"kubernetes.io/hostname": name, "kubernetes.io/os": "linux", "pool": name}
    status = {
        "capacity": room,
        "allocatable": room,
        "conditions": [{"type": "Ready", "status": "True", "reason": "ProcessNode"}],
        "addresses": [{"type": "InternalIP", "address": HOST}],
        "daemonEndpoints": {"kubeletEndpoint": {"Port": port}},
    }
    metadata = {"name": name, "labels": labels}
    return {"apiVersion": "v1", "kind": "Node", "metadata": metadata, "status": status}


async def register(api: Api, node: Json) -> None:
    """Make the node known, or ready again if it was known before."""
    name = node["metadata"]["name"]
    if await api.find(f"/api/v1/nodes/{name}") is None:
        await api.ask("POST", "/api/v1/nodes", node)
    else:
        await api.ask("PATCH", f"/api/v1/nodes/{name}/status", {"status": node["status"]}, kind=MERGE)


async def keep_lease(api: Api, name: str) -> None:
    """Say again and again that the node is there."""
    while True:
        moment = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        spec = {"holderIdentity": name, "leaseDurationSeconds": 8, "renewTime": moment}
        lease = {
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": {"name": name},
            "spec": spec,
        }
        try:
            await api.ask("PATCH", f"{LEASES}/{name}?{OWNER}", lease, kind=APPLY)
        except (Refused, aiohttp.ClientError) as problem:
            print(f"lease: {problem}", flush=True)
        await asyncio.sleep(RENEW_SECONDS)


async def main(name: str, folder: Path, pki: Path, port: int, gpus: int) -> None:
    """Run until killed."""
    hub = Hub()
    await hub.set_up()
    to_api = carry_to(lambda: asyncio.open_unix_connection(str(folder / API_SOCKET)))
    await asyncio.start_server(to_api, str(GATEWAY), API_PORT)
    api = Api(pki)
    pods = Pods(api, folder / "pods", name, hub)
    await serve(folder, pki, pods)
    await register(api, node_document(name, port, gpus))
    lease = asyncio.create_task(keep_lease(api, name))
    mine = f"/api/v1/pods?fieldSelector=spec.nodeName={name}"
    while not lease.done():
        try:
            await provide(api, pods.claims)
            await pods.take_in((await api.ask("GET", mine))["items"])
        except (Refused, aiohttp.ClientError) as problem:
            print(f"pods: {problem}", flush=True)
        await asyncio.sleep(BETWEEN_LOOKS)


if __name__ == "__main__":
    name, folder, pki, port, gpus = sys.argv[1:]
    asyncio.run(main(name, Path(folder), Path(pki), int(port), int(gpus)))
