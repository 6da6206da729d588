"""The ports this process listens on, opened one by one and closed together.

An API server keeps its connections and sends the next question over them, so a server that simply closes cuts
one off now and then. Who is about to close says so in each answer: then a connection ends after an answer,
and the next question is sent to another replica.
"""

from __future__ import annotations

import ssl

from aiohttp import web
from aiohttp.typedefs import Handler

from ..errors import SetupError

LAST_ANSWERS = 3.0  # seconds in which requests that have begun are still answered


class Servers:
    """Applications that are served, by the option that names their port."""

    def __init__(self, host: str) -> None:
        self._host = host or None
        self._runners: list[web.AppRunner] = []
        self.will_close = False
        """whether each answer is the last one of its connection"""

    async def open(
        self, application: web.Application, option: str, port: int, *, tls: ssl.SSLContext | None = None
    ) -> int:
        """Serve an application; the port it got, SetupError if it cannot have it."""
        application.middlewares.append(self._last_answers)
        runner = web.AppRunner(application, access_log=None, shutdown_timeout=LAST_ANSWERS)
        await runner.setup()
        self._runners.append(runner)
        try:
            await web.TCPSite(runner, self._host, port, ssl_context=tls).start()
        except OSError as error:
            why = (error.strerror or str(error)).lower()
            raise SetupError(f"{option}: cannot listen on {port}: {why}; give another port") from error
        return int(runner.addresses[0][1])

    @web.middleware
    async def _last_answers(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        answer = await handler(request)
        if self.will_close:
            answer.force_close()
        return answer

    async def close(self) -> None:
        """Answer what was asked, and listen no longer."""
        for runner in reversed(self._runners):
            await runner.cleanup()
