"""What Prometheus asks for."""

from __future__ import annotations

from collections.abc import Callable

from aiohttp import web
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest


def metrics_application(registry: CollectorRegistry, look: Callable[[], None]) -> web.Application:
    """Serve a registry; `look` brings up to date what is only counted when somebody asks."""

    async def page(request: web.Request) -> web.Response:
        look()
        return web.Response(body=generate_latest(registry), headers={"Content-Type": CONTENT_TYPE_LATEST})

    application = web.Application()
    application.router.add_get("/metrics", page)
    return application
