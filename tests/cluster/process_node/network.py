"""The network of the nodes: one bridge, a range of addresses for each node, a namespace for each pod.

All of it lies in the namespace that `network_part` makes. A pod that has ended gives its address back, and it
is given again as late as possible.
"""

import asyncio
import re
from collections import deque
from ipaddress import IPv4Address
from pathlib import Path

from ..control_plane.addresses import NODE, PODS

BRIDGE = "pods"
WIDTH = 15
"""bits of the range that holds pods and Services: the bridge carries both, and there is nothing else"""
NODE_WIDTH = 22
"""bits of a node's own range: room for 32 nodes of a thousand addresses"""
_STEP = 2 ** (32 - NODE_WIDTH)


class NetworkError(Exception):
    """The kernel refused to make a part of the network."""


def node_address(index: int) -> IPv4Address:
    """The address of a node; the first one's is that of the network itself."""
    address = IPv4Address(int(NODE) + index * _STEP)
    if address not in PODS:
        raise NetworkError(f"node {index}: there is room for {PODS.num_addresses // _STEP} nodes")
    return address


class PodNetwork:
    """The namespace of one pod, held by a process that only sleeps."""

    def __init__(self, address: IPv4Address, holder: asyncio.subprocess.Process, free: deque[int]) -> None:
        self.address = str(address)
        self.path = f"/proc/{holder.pid}/ns/net"
        self._number = int(address) - int(PODS.network_address)
        self._holder = holder
        self._free = free

    async def remove(self) -> None:
        """Give the namespace and the address back; the interface goes with the namespace."""
        if self._holder.returncode is None:
            self._holder.kill()
            await self._holder.wait()
            self._free.append(self._number)


class Hub:
    """Makes the networks of one node's pods."""

    def __init__(self, index: int) -> None:
        self.address = node_address(index)
        first = int(self.address) - int(PODS.network_address)
        self._free = deque(range(first + 1, first + _STEP - 2))

    async def set_up(self) -> None:
        """Take the node's address, and remove what a node that was killed has left at our places."""
        await run("ip", "address", "replace", f"{self.address}/{WIDTH}", "dev", BRIDGE)
        there = re.findall(r"(\w+):", Path("/proc/self/net/dev").read_text(encoding="ascii"))
        for name in {interface(number) for number in self._free}.intersection(there):
            await run("sh", "-c", f"ip link delete {name} || true")  # the kernel may be quicker

    async def attach(self) -> PodNetwork:
        """Make a namespace with an address of its own."""
        number = self._free.popleft()
        address = IPv4Address(int(PODS.network_address) + number)
        holder = await asyncio.create_subprocess_exec("unshare", "--net", "sleep", "infinity")
        await _wait_for_namespace(holder.pid)
        outer = interface(number)
        await batch(
            f"link add {outer} type veth peer name eth0 netns {holder.pid}",
            f"link set {outer} master {BRIDGE} up",
        )
        await batch(
            f"address add {address}/{WIDTH} dev eth0",
            "link set eth0 up",
            "link set lo up",
            inside=("nsenter", f"--net=/proc/{holder.pid}/ns/net"),
        )
        return PodNetwork(address, holder, self._free)


def interface(number: int) -> str:
    """The name of the bridge's end of a pod's cable."""
    return f"pod{number}"


async def _wait_for_namespace(pid: int) -> None:
    """Until the holder has left our namespace, an interface would be put into it."""
    ours = Path("/proc/self/ns/net").readlink()
    while Path(f"/proc/{pid}/ns/net").readlink() == ours:
        await asyncio.sleep(0.002)


async def batch(*lines: str, inside: tuple[str, ...] = ()) -> None:
    """Several commands of `ip` in one go."""
    await run(*inside, "ip", "-batch", "-", told="\n".join(lines))


async def run(*command: str, told: str = "") -> None:
    """Run a command that must succeed."""
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    said, _ = await process.communicate(told.encode())
    if process.returncode:
        raise NetworkError(f"{' '.join(command)}: {told} {said.decode().strip()}")
