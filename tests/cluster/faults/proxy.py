"""The proxy: ends the client's TLS, passes each request on with its token, breaks those that a fault meets.

It serves with the plane's own pair, so that a client trusts it as the API server, and runs in a thread of its
own. A client must show a bearer token: a certificate would not be passed on.
"""

import asyncio
import json
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import aiohttp
from aiohttp import web

from tests.cluster.control_plane.site import HOST, Site

from .rules import Fault, Faults

NOT_PASSED = {"host", "transfer-encoding", "content-length", "content-encoding", "connection"}
GONE = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Expired", "code": 410}


class FaultProxy:
    """Where a client connects instead of the API server, and what goes wrong there."""

    def __init__(self, site: Site, port: int) -> None:
        self.port = port
        self.faults = Faults()
        self._site = site
        self._known: dict[str, tuple[int, bytes]] = {}

    async def serve(self, up: threading.Event, over: asyncio.Event) -> None:
        """Serve until it is over."""
        pki = self._site.pki
        trust = ssl.create_default_context(cafile=str(pki / "ca.crt"))
        base = f"https://{self._site.address('api')}"
        own = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        own.load_cert_chain(pki / "server.crt", pki / "server.key")
        timeout = aiohttp.ClientTimeout(total=None)
        connector = aiohttp.TCPConnector(ssl=trust, limit=0)
        async with aiohttp.ClientSession(base, connector=connector, timeout=timeout) as session:

            async def answer(request: web.Request) -> web.StreamResponse:
                return await self._answer(request, session)

            application = web.Application(client_max_size=2**24)
            application.router.add_route("*", "/{path:.*}", answer)
            runner = web.AppRunner(application, access_log=None, shutdown_timeout=0.1)
            await runner.setup()
            await web.TCPSite(runner, HOST, self.port, ssl_context=own).start()
            up.set()
            await over.wait()
            await runner.cleanup()

    async def _answer(self, request: web.Request, session: aiohttp.ClientSession) -> web.StreamResponse:
        fault = self.faults.take(request.method, request.path_qs)
        is_watch = request.query.get("watch") in ("1", "true")
        if fault is None or (fault.kind == "hang" and is_watch):
            return await self._pass_on(request, session, hang=fault is not None)
        if fault.kind == "slow":
            await asyncio.sleep(fault.seconds)
            return await self._pass_on(request, session)
        if fault.kind == "stale":
            return await self._stale(request, session)
        return await _break(request, fault)

    async def _stale(self, request: web.Request, session: aiohttp.ClientSession) -> web.StreamResponse:
        if request.path_qs not in self._known:
            return await self._pass_on(request, session)
        status, body = self._known[request.path_qs]
        return web.Response(status=status, body=body, content_type="application/json")

    async def _pass_on(
        self, request: web.Request, session: aiohttp.ClientSession, *, hang: bool = False
    ) -> web.StreamResponse:
        """Ask the API server, and hand on what comes as it comes."""
        headers = {name: text for name, text in request.headers.items() if name.lower() not in NOT_PASSED}
        body = await request.read()
        sent = session.request(
            request.method,
            request.rel_url,
            data=body or None,
            headers=headers,
            skip_auto_headers=("Content-Type", "User-Agent"),
        )
        async with sent as theirs:
            kept = {name: text for name, text in theirs.headers.items() if name.lower() not in NOT_PASSED}
            ours = web.StreamResponse(status=theirs.status, headers=kept)
            await ours.prepare(request)
            if request.query.get("watch") in ("1", "true"):
                async for chunk in theirs.content.iter_any():
                    if hang:
                        await asyncio.Event().wait()
                    await ours.write(chunk)
            else:
                whole = await theirs.read()
                if request.method == "GET":
                    self._known[request.path_qs] = (theirs.status, whole)
                await ours.write(whole)
            await ours.write_eof()
            return ours


async def _break(request: web.Request, fault: Fault) -> web.StreamResponse:
    """Answer as the fault says."""
    if fault.kind == "hang":
        await asyncio.Event().wait()
    if fault.kind == "gone":
        event = json.dumps({"type": "ERROR", "object": {**GONE, "message": "too old resource version"}})
        return web.Response(text=event + "\n", content_type="application/json")
    if fault.kind == "status":
        status = {**GONE, "code": fault.code, "reason": "", "message": "broken on purpose"}
        headers = {"Retry-After": str(fault.retry_after)} if fault.retry_after is not None else {}
        return web.json_response(status, status=fault.code, headers=headers)
    assert request.transport is not None
    request.transport.abort()
    return web.Response()


@contextmanager
def fault_proxy(site: Site) -> Iterator[FaultProxy]:
    """A proxy that serves while the block runs."""
    proxy = FaultProxy(site, site.port("fault-proxy"))
    up, told = threading.Event(), threading.Event()
    handle: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = []

    async def run() -> None:
        over = asyncio.Event()
        handle.append((asyncio.get_running_loop(), over))
        told.set()
        await proxy.serve(up, over)

    thread = threading.Thread(target=lambda: asyncio.run(run()))
    thread.start()
    told.wait()
    loop, over = handle[0]
    try:
        assert up.wait(60), "the proxy does not serve"
        yield proxy
    finally:
        loop.call_soon_threadsafe(over.set)
        thread.join()
