"""Carries connections between the machine's network and the node's, over Unix sockets in a folder.

python -m tests.cluster.process_node.gate FOLDER API_PORT KUBELET_PORT
"""

import asyncio
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

HOST = "127.0.0.1"
API_SOCKET = "api.sock"
KUBELET_SOCKET = "kubelet.sock"
BLOCK = 1 << 16

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]
Connect = Callable[[], Awaitable[Streams]]


def carry_to(connect: Connect) -> Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]:
    """A server's callback that connects each client with what `connect` opens."""

    async def carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            far_reader, far_writer = await connect()
        except OSError:
            writer.close()
            return
        await asyncio.gather(_pump(reader, far_writer), _pump(far_reader, writer))

    return carry


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while data := await reader.read(BLOCK):
            writer.write(data)
            await writer.drain()
    except OSError:
        pass  # one end is gone, so the other is closed too
    finally:
        writer.close()


async def main(folder: Path, api_port: int, kubelet_port: int) -> None:
    """Serve until killed."""
    to_api = carry_to(lambda: asyncio.open_connection(HOST, api_port))
    to_kubelet = carry_to(lambda: asyncio.open_unix_connection(str(folder / KUBELET_SOCKET)))
    (folder / API_SOCKET).unlink(missing_ok=True)
    servers = (
        await asyncio.start_unix_server(to_api, str(folder / API_SOCKET)),
        await asyncio.start_server(to_kubelet, HOST, kubelet_port),
    )
    await asyncio.gather(*(server.serve_forever() for server in servers))


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])))
