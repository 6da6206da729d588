"""The node as the API server knows it: its object, and the lease that says again that it is there."""

import asyncio
import os
from datetime import UTC, datetime
from typing import Any

from ..control_plane.programs import KUBERNETES_VERSION
from .api import APPLY, MERGE, TROUBLE, Api, Json

NODES = "/api/v1/nodes"
LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"
OWNER = "fieldManager=process-node&force=true"
KUBELET_PORT = 10250
RENEW_SECONDS = 3.0
LEASE_SECONDS = 8
AGAIN_SECONDS = 0.5


def machine_memory() -> str:
    """This machine's memory, as a quantity."""
    return f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') // 2**20}Mi"


def node_info() -> dict[str, str]:
    """What `kubectl get nodes` shows of it."""
    machine = os.uname()
    unknown = ("bootID", "machineID", "systemUUID", "kubeProxyVersion")
    return {
        "architecture": machine.machine,
        "operatingSystem": "linux",
        "osImage": "processes of this machine",
        "kernelVersion": machine.release,
        "kubeletVersion": f"v{'.'.join(map(str, KUBERNETES_VERSION))}",
        "containerRuntimeVersion": "process://1",
        **dict.fromkeys(unknown, ""),
    }


def node_document(config: dict[str, Any], address: str) -> Json:
    """The node as it registers."""
    name, pool = config["name"], config["pool"]
    room = {
        "cpu": str(config["cpu"]),
        "memory": config["memory"] or machine_memory(),
        "ephemeral-storage": "100Gi",
        "pods": "110",
    }
    if config["gpus"]:
        room["nvidia.com/gpu"] = str(config["gpus"])
    labels = {"kubernetes.io/hostname": name, "kubernetes.io/os": "linux", "pool": pool}
    status = {
        "capacity": room,
        "allocatable": room,
        "conditions": [{"type": "Ready", "status": "True", "reason": "ProcessNode"}],
        "addresses": [{"type": "InternalIP", "address": address}],
        "nodeInfo": node_info(),
        "daemonEndpoints": {"kubeletEndpoint": {"Port": KUBELET_PORT}},
    }
    metadata = {"name": name, "labels": labels}
    return {"apiVersion": "v1", "kind": "Node", "metadata": metadata, "status": status}


async def keep_registered(api: Api, node: Json) -> None:
    """Make the node known, and say every few seconds that it is there and ready.

    While the API server was away the node may have been held for lost: a kubelet says its state again, too.
    It costs no event while nothing has changed.
    """
    name = node["metadata"]["name"]
    while True:
        try:
            await _register(api, node)
            await api.ask("PATCH", f"{LEASES}/{name}?{OWNER}", _lease(name), kind=APPLY)
        except TROUBLE as problem:
            print(f"node: {problem}", flush=True)
            await asyncio.sleep(AGAIN_SECONDS)
            continue
        await asyncio.sleep(RENEW_SECONDS)


async def _register(api: Api, node: Json) -> None:
    path = f"{NODES}/{node['metadata']['name']}"
    if await api.find(path) is None:
        await api.ask("POST", NODES, node)
    else:
        await api.ask("PATCH", f"{path}/status", {"status": node["status"]}, kind=MERGE)


def _lease(name: str) -> Json:
    moment = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    spec = {"holderIdentity": name, "leaseDurationSeconds": LEASE_SECONDS, "renewTime": moment}
    return {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {"name": name},
        "spec": spec,
    }
