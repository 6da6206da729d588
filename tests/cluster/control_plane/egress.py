"""The tunnel through which the API server reaches pods and Services: HTTP CONNECT over a Unix socket.

python -m tests.cluster.control_plane.egress SOCKET PID_FILE

Kubernetes has it for control planes that are not part of their cluster's network. A connection to a pod is
opened in the network namespace of the process whose id the file holds; the file is read each time, for a node
may be killed and started again.
"""

import asyncio
import ctypes
import os
import re
import socket
import sys
from concurrent.futures import ThreadPoolExecutor
from ipaddress import IPv4Address
from pathlib import Path

from .addresses import MACHINE, PODS

LOOPBACK = IPv4Address("127.0.0.1")
CLONE_NEWNET = 0x40000000
CONNECT_SECONDS = 5.0
BLOCK = 1 << 16
OPENED = b"HTTP/1.1 200 OK\r\n\r\n"
REQUEST = re.compile(rb"CONNECT ([\d.]+):(\d+) HTTP/1\.1\r\n")

_LIBC = ctypes.CDLL(None, use_errno=True)


class Tunnel:
    """Opens the connections that the API server asks for."""

    def __init__(self, pid_file: Path) -> None:
        self._pid_file = pid_file
        self._thread = ThreadPoolExecutor(1)  # of its own, for it changes its namespace

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection of the API server."""
        try:
            asked = REQUEST.match(await reader.readuntil(b"\r\n\r\n"))
            if asked is None:
                raise OSError("no CONNECT to an address")
            far_reader, far_writer = await asyncio.wait_for(
                self._open(IPv4Address(asked[1].decode()), int(asked[2])), CONNECT_SECONDS
            )
        except (OSError, ValueError, EOFError, TimeoutError) as problem:
            reason = str(problem) or type(problem).__name__
            writer.write(f"HTTP/1.1 502 {reason}\r\nContent-Length: 0\r\n\r\n".encode())
            writer.close()
            return
        writer.write(OPENED)
        await asyncio.gather(_pump(reader, far_writer), _pump(far_reader, writer))

    async def _open(
        self, address: IPv4Address, port: int
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        if address in (LOOPBACK, MACHINE):
            return await asyncio.open_connection(str(LOOPBACK), port)
        if address not in PODS:
            raise OSError(f"nobody answers at {address}")
        loop = asyncio.get_running_loop()
        opened = await loop.run_in_executor(self._thread, self._socket_at_the_node)
        try:
            await loop.sock_connect(opened, (str(address), port))
        except BaseException:
            opened.close()
            raise
        return await asyncio.open_connection(sock=opened)

    def _socket_at_the_node(self) -> socket.socket:
        """A socket stays in the namespace in which it was made, whatever its thread does later."""
        namespace = Path("/proc") / self._pid_file.read_text(encoding="ascii") / "ns" / "net"
        if namespace.readlink() == Path("/proc/self/ns/net").readlink():
            raise OSError("the node has no network yet")
        with namespace.open("rb") as file:
            if _LIBC.setns(file.fileno(), CLONE_NEWNET):
                raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
        made = socket.socket()
        made.setblocking(False)
        return made


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while data := await reader.read(BLOCK):
            writer.write(data)
            await writer.drain()
    except OSError:
        pass  # one end is gone, so the other is closed too
    finally:
        writer.close()


async def main(path: Path, pid_file: Path) -> None:
    """Serve until killed."""
    path.unlink(missing_ok=True)
    server = await asyncio.start_unix_server(Tunnel(pid_file).answer, str(path))
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), Path(sys.argv[2])))
