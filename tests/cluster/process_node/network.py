"""The node's network: a bridge in the node's own namespace, and a namespace with an address for each pod.

The addresses are of the range for benchmarks (198.18.0.0/15); nothing outside the node's namespace has one.
"""

import asyncio
import itertools
from ipaddress import IPv4Address
from pathlib import Path

GATEWAY = IPv4Address("198.18.0.1")
"""the node itself; the API server answers there"""
API_PORT = 443
BRIDGE = "pods"
WIDTH = 15


class NetworkError(Exception):
    """The kernel refused to make a part of the network."""


class PodNetwork:
    """The namespace of one pod, held by a process that only sleeps."""

    def __init__(self, address: str, holder: asyncio.subprocess.Process) -> None:
        self.address = address
        self.path = f"/proc/{holder.pid}/ns/net"
        self._holder = holder

    async def remove(self) -> None:
        """Give the namespace back; its interface goes with it."""
        self._holder.kill()
        await self._holder.wait()


class Hub:
    """Makes the network of one node."""

    def __init__(self) -> None:
        self._numbers = itertools.count(1)

    async def set_up(self) -> None:
        """Make the bridge, in the namespace of this process."""
        await _ip("link", "set", "lo", "up")
        await _ip("link", "add", BRIDGE, "type", "bridge")
        await _ip("address", "add", f"{GATEWAY}/{WIDTH}", "dev", BRIDGE)
        await _ip("link", "set", BRIDGE, "up")

    async def attach(self) -> PodNetwork:
        """Make a namespace with an address that has never been given before."""
        number = next(self._numbers)
        address, outer = str(GATEWAY + number), f"pod{number}"
        holder = await asyncio.create_subprocess_exec("unshare", "--net", "sleep", "infinity")
        inside = ("nsenter", f"--net=/proc/{holder.pid}/ns/net", "ip")
        await _wait_for_namespace(holder.pid)
        await _ip("link", "add", outer, "type", "veth", "peer", "name", "eth0", "netns", str(holder.pid))
        await _ip("link", "set", outer, "master", BRIDGE, "up")
        await _run(*inside, "address", "add", f"{address}/{WIDTH}", "dev", "eth0")
        await _run(*inside, "link", "set", "eth0", "up")
        await _run(*inside, "link", "set", "lo", "up")
        return PodNetwork(address, holder)


async def _wait_for_namespace(pid: int) -> None:
    """Until the holder has left our namespace, an interface would be put into it."""
    ours = Path("/proc/self/ns/net").readlink()
    while Path(f"/proc/{pid}/ns/net").readlink() == ours:
        await asyncio.sleep(0.002)


async def _ip(*words: str) -> None:
    await _run("ip", *words)


async def _run(*command: str) -> None:
    process = await asyncio.create_subprocess_exec(
        *command, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
    )
    told, _ = await process.communicate()
    if process.returncode:
        raise NetworkError(f"{' '.join(command)}: {told.decode().strip()}")
