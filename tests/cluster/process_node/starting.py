"""Starts process nodes for a plane: the network that all share, and as many nodes as are asked for."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ..control_plane.client import Client, eventually
from ..control_plane.nodes import NODES, remove_nodes
from ..control_plane.site import Site

if TYPE_CHECKING:
    from ..control_plane.plane import Plane

PROCESS_NODE = "process-node"
NETWORK = "process-node-network"
SPACE = "process-node-space"
OURS = Path("/proc/self/ns/net")
NAMESPACES = ("unshare", "--pid", "--fork", "--kill-child", "--mount-proc")
PACKAGE = __package__
CONFIG = ".node.json"
CPUS, GPUS = 64, 8


def start_process_node(site: Site) -> None:
    """The network, and the first node, whose pool has its name."""
    site.run_command(SPACE, ["unshare", "--net", "sleep", "infinity"])
    eventually("there is a network namespace", lambda: _space(site).readlink() != OURS.readlink())
    config = {
        "folder": str(site.folder / NETWORK),
        "space": str(_space(site)),
        "pki": str(site.pki),
        "api_port": site.port("api"),
    }
    path = site.write(f"{NETWORK}.json", config)
    site.run_module(NETWORK, f"{PACKAGE}.network_part", [path])
    eventually("the network of the nodes is there", lambda: _is_ready(site), limit=60)
    add_process_node(site, PROCESS_NODE, pool=PROCESS_NODE)


def add_process_node(
    site: Site, name: str, *, pool: str, cpu: int = CPUS, memory: str = "", gpus: int = GPUS
) -> None:
    """One more node with this room; without a memory it promises the machine's."""
    site.become(name, f"system:node:{name}", "system:nodes")
    config = {
        "name": name,
        "index": _index(site, name),
        "pool": pool,
        "cpu": cpu,
        "memory": memory,
        "gpus": gpus,
        "folder": str(site.folder / name),
        "claims": str(site.folder / NETWORK / "claims"),
        "pki": str(site.pki),
    }
    path = site.write(f"{name}{CONFIG}", config)
    site.run_module(name, PACKAGE, [path], inside=("nsenter", f"--net={_space(site)}", *NAMESPACES))


def _space(site: Site) -> Path:
    """The network namespace of all nodes, which outlives each of their programs."""
    return Path(f"/proc/{site.processes[SPACE].pid}/ns/net")


def _index(site: Site, name: str) -> int:
    """The node's number, which says its addresses: of before, if there was one of this name."""
    texts = [path.read_text(encoding="utf-8") for path in site.folder.glob(f"*{CONFIG}")]
    taken = {config["name"]: int(config["index"]) for config in map(json.loads, texts)}
    return taken.get(name, len(taken))


@contextmanager
def process_nodes(
    plane: Plane, count: int, *, pool: str, cpu: int = CPUS, memory: str = "", gpus: int = GPUS
) -> Iterator[list[str]]:
    """So many more nodes, which only pods that select the pool get; afterwards they are gone."""
    names = [f"{pool}-{number}" for number in range(count)]
    for name in names:
        add_process_node(plane.site, name, pool=pool, cpu=cpu, memory=memory, gpus=gpus)
    try:
        eventually("the nodes take pods", lambda: takes_pods(plane.client) >= set(names), limit=60)
        yield names
    finally:
        for name in names:
            plane.kill(name)
        remove_nodes(plane.client, names)


def takes_pods(client: Client) -> set[str]:
    """The names of the nodes that are ready and have no taint."""
    return {
        node["metadata"]["name"]
        for node in client.items(NODES)
        if not node["spec"].get("taints")
        and any(each["type"] == "Ready" and each["status"] == "True" for each in node["status"]["conditions"])
    }


def _is_ready(site: Site) -> bool:
    process = site.processes[NETWORK]
    if process.pid is None:
        raise RuntimeError(f"{NETWORK}: ended while it started\n{process.last_words()}")
    return Path(site.folder, NETWORK, "ready").exists()


def no_namespaces() -> str:
    """Why process nodes cannot have their namespaces here."""
    command = ("unshare", "--net", *NAMESPACES[1:], "ip", "link", "add", "pods", "type", "bridge")
    try:
        tried = subprocess.run(command, capture_output=True)
        subprocess.run(["nsenter", "--version"], capture_output=True)
    except FileNotFoundError as missing:
        return f"process node: {missing.filename}: not on the PATH"
    return f"process node: {tried.stderr.decode().strip()}" if tried.returncode else ""
