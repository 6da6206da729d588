"""Ports open, are named when they cannot, and close without cutting anybody off."""

from __future__ import annotations

import aiohttp
import pytest
from aiohttp import web

from kfp_trainer.runtime_operator.errors import SetupError
from kfp_trainer.runtime_operator.service.servers import Servers


async def hello(request: web.Request) -> web.Response:
    return web.Response(text="hello")


def application() -> web.Application:
    made = web.Application()
    made.router.add_get("/", hello)
    return made


async def test_a_connection_is_kept_until_the_server_will_close() -> None:
    servers = Servers("127.0.0.1")
    port = await servers.open(application(), "--port", 0)
    async with aiohttp.ClientSession(f"http://127.0.0.1:{port}") as session:
        async with session.get("/") as answer:
            assert answer.headers.get("Connection") != "close"
        servers.will_close = True
        async with session.get("/") as answer:
            assert answer.headers["Connection"] == "close"
    await servers.close()
    async with aiohttp.ClientSession() as session:
        with pytest.raises(aiohttp.ClientConnectionError):
            await session.get(f"http://127.0.0.1:{port}/")


async def test_a_port_that_is_taken() -> None:
    servers = Servers("127.0.0.1")
    port = await servers.open(application(), "--one", 0)
    with pytest.raises(SetupError, match=f"--other: cannot listen on {port}: .*; give another port"):
        await servers.open(application(), "--other", port)
    await servers.close()
