"""The network that process nodes share, in a network namespace of the test's own."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cluster.process_node.starting import no_namespaces

ROOT = Path(__file__).resolve().parents[2]
PORTS = """
import asyncio, subprocess
from tests.cluster.process_node.network import BRIDGE, batch
from tests.cluster.process_node.network_part import make_network

def address():
    told = subprocess.run(["ip", "-o", "link", "show", BRIDGE], capture_output=True, text=True, check=True)
    return told.stdout.split("link/ether ")[1].split()[0]

async def main():
    await make_network()
    print(address())
    await batch("link add port address 00:00:00:00:00:02 type veth", f"link set port master {BRIDGE} up")
    print(address())
    await batch("link delete port")
    print(address())

asyncio.run(main())
"""


@pytest.mark.skipif(bool(no_namespaces()), reason=f"no namespaces here: {no_namespaces()}")
def test_the_bridge_keeps_its_address_when_pods_come_and_go() -> None:
    command = ["unshare", "--net", sys.executable, "-c", PORTS]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert len(set(done.stdout.split())) == 1, done.stdout
