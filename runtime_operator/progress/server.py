"""A small HTTP server for one machine: one request a connection, over loopback, standard library alone.

The operator serves the same answers by aiohttp, behind TLS.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from http import HTTPStatus

from .answer import MOST_BYTES, Answer, Keeper, answer, refusal

_LIMIT = 10.0
"""seconds for one request"""
_MOST_HEADERS = 100
_MOST_DISCARDED = 16 * 1024 * 1024


async def serve(port: int, keeper: Keeper, *, host: str = "127.0.0.1") -> asyncio.Server:
    """Serve until the server is closed."""

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, TimeoutError, ValueError, asyncio.IncompleteReadError):
            async with asyncio.timeout(_LIMIT):
                writer.write(_written(await _handle(reader, keeper)))
                await writer.drain()
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()

    return await asyncio.start_server(connected, host, port, reuse_address=True)


async def _handle(reader: asyncio.StreamReader, keeper: Keeper) -> Answer:
    """Read a request and answer it."""
    method, path, _ = (await reader.readline()).decode("latin-1").split(" ", 2)
    headers = await _headers(reader)
    length = int(headers.get("content-length") or 0)
    body = await reader.readexactly(min(length, MOST_BYTES + 1)) if length > 0 else b""
    if length > len(body):  # a client that is still writing would not read the answer
        await _discard(reader, min(length, _MOST_DISCARDED) - len(body))
    if headers.get("transfer-encoding"):
        return refusal(422, "Invalid payload")
    return await answer(
        method, path, authorization=headers.get("authorization", ""), body=body, keeper=keeper
    )


async def _discard(reader: asyncio.StreamReader, count: int) -> None:
    while count > 0 and (data := await reader.read(min(count, MOST_BYTES))):
        count -= len(data)


async def _headers(reader: asyncio.StreamReader) -> dict[str, str]:
    headers: dict[str, str] = {}
    for _ in range(_MOST_HEADERS):
        name, colon, value = (await reader.readline()).decode("latin-1").partition(":")
        if not colon:
            return headers
        headers[name.strip().lower()] = value.strip()
    raise ValueError("too many headers")


def _written(given: Answer) -> bytes:
    body = given.body
    head = (
        f"HTTP/1.1 {given.code} {HTTPStatus(given.code).phrase}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    )
    return head.encode("latin-1") + body
