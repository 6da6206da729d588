"""The tunnel connects the API server with the machine and with pods, and with nobody else."""

import asyncio
import os
from pathlib import Path

import pytest

from tests.cluster.control_plane.addresses import MACHINE
from tests.cluster.control_plane.egress import Tunnel

REFUSED = {
    "an address that nobody has": ("198.18.200.1:80", "nobody answers at 198.18.200.1"),
    "an address of the world outside": ("192.0.2.1:443", "nobody answers at 192.0.2.1"),
    "a pod while no node runs": ("198.18.0.7:443", "No such file or directory"),
    "a pod while the node makes its network": ("198.18.0.8:443", "the node has no network yet"),
    "a name": ("example.com:443", "no CONNECT to an address"),
    "a port of the machine where nobody listens": (f"{MACHINE}:1", "Connect call failed"),
}


async def ask(path: Path, pid_file: Path, target: str, said: bytes = b"") -> bytes:
    """What a client hears who asks a tunnel for a connection."""
    server = await asyncio.start_unix_server(Tunnel(pid_file).answer, str(path))
    async with server:
        reader, writer = await asyncio.open_unix_connection(str(path))
        writer.write(f"CONNECT {target} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
        head = await reader.readuntil(b"\r\n\r\n")
        writer.write(said)
        heard = await reader.read() if head.startswith(b"HTTP/1.1 200") else b""
        writer.close()
        return head + heard


def test_a_port_of_the_machine_is_one_of_loopback(tmp_path: Path) -> None:
    async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write((await reader.readexactly(5)).upper())
        writer.close()

    async def heard() -> bytes:
        far = await asyncio.start_server(echo, "127.0.0.1", 0)
        async with far:
            port = far.sockets[0].getsockname()[1]
            return await ask(tmp_path / "s", tmp_path / "pid", f"{MACHINE}:{port}", b"hello")

    assert asyncio.run(heard()) == b"HTTP/1.1 200 OK\r\n\r\nHELLO"


@pytest.mark.parametrize("sentence", REFUSED)
def test_it_refuses(tmp_path: Path, sentence: str) -> None:
    target, reason = REFUSED[sentence]
    pid_file = tmp_path / "pid"
    if "makes its network" in sentence:
        pid_file.write_text(str(os.getpid()), encoding="ascii")
    told = asyncio.run(ask(tmp_path / "s", pid_file, target)).decode()
    assert told.startswith("HTTP/1.1 502 ")
    assert reason in told
