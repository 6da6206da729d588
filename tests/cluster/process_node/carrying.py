"""Carries connections: what one side says goes to the other, until one of them is gone."""

import asyncio
import socket
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor

from ..control_plane.site import HOST

BLOCK = 1 << 16
CONNECT_SECONDS = 5.0

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]
Connect = Callable[[], Awaitable[Streams]]


class Machine:
    """The network in which this process was started, for one that leaves it: a thread stays behind."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1)
        self._thread.submit(int).result()  # threads start with their first work: now, before we leave

    async def connect(self, port: int) -> Streams:
        """Connect to a port of the machine's loopback."""
        loop = asyncio.get_running_loop()
        opened = await loop.run_in_executor(self._thread, socket.socket)
        opened.setblocking(False)
        try:
            await loop.sock_connect(opened, (HOST, port))
        except BaseException:
            opened.close()
            raise
        return await asyncio.open_connection(sock=opened)


def carry_to(connect: Connect) -> Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]:
    """A server's callback that connects each client with what `connect` opens."""

    async def carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            far_reader, far_writer = await asyncio.wait_for(connect(), CONNECT_SECONDS)
        except (OSError, TimeoutError):
            writer.transport.abort()  # the client sees a reset, as where nobody listens
            return
        try:
            await asyncio.gather(_pump(reader, far_writer), _pump(far_reader, writer))
        finally:
            writer.close()
            far_writer.close()

    return carry


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Copy one direction; an end of what is said is passed on, and the other direction goes on."""
    try:
        while data := await reader.read(BLOCK):
            writer.write(data)
            await writer.drain()
        if writer.can_write_eof():
            writer.write_eof()
    except OSError:
        writer.transport.abort()  # one end is gone, so the other is closed too
