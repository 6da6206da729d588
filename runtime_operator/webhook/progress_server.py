"""The endpoint that trainers post to, on aiohttp: the same answers as on one machine, behind TLS."""

from __future__ import annotations

import logging

from aiohttp import web

from ..kube.errors import ApiError, Invalid
from ..progress.answer import MOST_BYTES, Keeper, answer, refusal
from .metrics import AdmissionMetrics

LOG = logging.getLogger(__name__)
TRY_AGAIN, UNPROCESSABLE = 503, 422


def progress_application(keeper: Keeper, metrics: AdmissionMetrics) -> web.Application:
    """Everything that is answered on the port of the progress endpoint."""

    async def handle(request: web.Request) -> web.Response:
        body = await request.content.read(MOST_BYTES + 1)
        while len(body) <= MOST_BYTES and (more := await request.content.read(MOST_BYTES + 1 - len(body))):
            body += more
        authorization = request.headers.get("Authorization", "")
        try:
            given = await answer(
                request.method, request.path_qs, authorization=authorization, body=body, keeper=keeper
            )
        except Invalid as error:
            given = refusal(UNPROCESSABLE, error.message)
        except ApiError as error:
            LOG.warning("the API server could not take progress", extra={"why": str(error)})
            given = refusal(TRY_AGAIN, "The API server does not answer; post again later")
        metrics.posted(given.code)
        return web.Response(body=given.body, status=given.code, content_type="application/json")

    application = web.Application()
    application.router.add_route("*", "/{path:.*}", handle)
    return application
