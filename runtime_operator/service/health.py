"""Probes that say whether this process is alive, and whether it may be sent requests.

It is not alive when a collection it lives by has shown nothing for twice the time of a resync: every bookmark
counts, so that is a watch which hangs, and a new process is the cure. It is ready when everything it serves
with is there: the caches, the certificate that the API server trusts, the listening webhook.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from aiohttp import web

Look = Callable[[], Iterable[str]]
"""the sentences that speak against it"""


def health_application(*, against_life: Look, against_readiness: Look) -> web.Application:
    """Everything that is answered on the port of the probes."""

    async def live(request: web.Request) -> web.Response:
        return _answer(against_life())

    async def ready(request: web.Request) -> web.Response:
        return _answer(against_readiness())

    application = web.Application()
    application.router.add_get("/healthz", live)
    application.router.add_get("/readyz", ready)
    return application


def _answer(against: Iterable[str]) -> web.Response:
    told = list(against)
    return web.Response(text="\n".join(told) or "ok", status=503 if told else 200)


def silent(since: dict[str, float], *, now: float, longest: float) -> list[str]:
    """What has shown nothing for too long: a sentence each."""
    return [
        f"watch of {name}: no progress for {now - last:.0f} s, at most {longest:.0f} s are allowed"
        for name, last in since.items()
        if now - last > longest
    ]
