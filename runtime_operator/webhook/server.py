"""The HTTP side of admission: six paths, one question and one answer each.

    POST /mutate-trainer-kubeflow-org-v1alpha1-trainjob                  the times of runtime patches
    POST /validate-trainer-kubeflow-org-v1alpha1-trainjob                yes or no
    POST /validate-trainer-kubeflow-org-v1alpha1-trainingruntime
    POST /validate-trainer-kubeflow-org-v1alpha1-clustertrainingruntime
    POST /mutate-kubeflow-org-v1                                         whose a job of an older kind is
    POST /validate-kubeflow-org-v1

What is no review is told so with 400; what cannot be looked up now, with 503. A mistake of our own is logged
and answered with 500, which the API server shows to whoever asked: nobody's object is stored unjudged, and
nobody is told that it is his fault.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable

from aiohttp import web

from ..api.legacy import LEGACY_KINDS
from ..api.legacy.names import API_VERSION as OLDER_VERSION
from ..api.names import CLUSTER_TRAINING_RUNTIME, GROUP, TRAIN_JOB, TRAINING_RUNTIME, VERSION
from ..kube.errors import ApiError
from ..render.admission import Verdict
from .admission import ALLOWED, World, judge, stamp
from .metrics import AdmissionMetrics
from .older_kinds import judge_older, mark
from .review import BadReview, Review, answered, read_review
from .wording import refusal

LOG = logging.getLogger(__name__)
MOST_BYTES = 8 * 1024 * 1024
"""an API server sends an object and the old one, of 1.5 MiB each at most as etcd holds them"""

Answering = Callable[[Review], Awaitable[bytes]]
Handler = Callable[[web.Request], Awaitable[web.Response]]


def path_of(verb: str, kind: str) -> str:
    """The path under which an API server asks about a kind; upstream's, so that configurations stay valid."""
    return f"/{verb}-{GROUP.replace('.', '-')}-{VERSION}-{kind.lower()}"


def path_of_older_kinds(verb: str) -> str:
    """The path under which an API server asks about all the older kinds."""
    return f"/{verb}-{OLDER_VERSION.replace('.', '-').replace('/', '-')}"


def admission_application(
    world: World,
    metrics: AdmissionMetrics,
    *,
    now: Callable[[], str],
    older_kinds: frozenset[str] = frozenset(),
) -> web.Application:
    """Everything that is answered on the port of the webhook; `older_kinds` are those that are served."""

    async def mutate(review: Review) -> bytes:
        return answered(review.uid, ALLOWED, patch=stamp(review, now=now()))

    async def mark_older(review: Review) -> bytes:
        return answered(review.uid, ALLOWED, patch=mark(review, older_kinds))

    async def validate(review: Review) -> bytes:
        verdict = await judge(review, world)
        note(review, verdict)
        return answered(review.uid, verdict)

    async def validate_older(review: Review) -> bytes:
        verdict = judge_older(review, older_kinds)
        note(review, verdict)
        return answered(review.uid, verdict, message=refusal(review.object, verdict.errors))

    def note(review: Review, verdict: Verdict) -> None:
        if verdict.errors:
            metadata = review.object["metadata"]
            LOG.info(
                "refused",
                extra={
                    "kind": review.kind,
                    "namespace": metadata.get("namespace", ""),
                    "object": metadata["name"],
                    "why": "; ".join(str(each) for each in verdict.errors),
                },
            )
        metrics.judged(review.kind, allowed=not verdict.errors)

    application = web.Application(client_max_size=MOST_BYTES)
    serve = application.router.add_post
    serve(path_of("mutate", TRAIN_JOB), _handler(mutate, (TRAIN_JOB,), metrics))
    for kind in (TRAIN_JOB, TRAINING_RUNTIME, CLUSTER_TRAINING_RUNTIME):
        serve(path_of("validate", kind), _handler(validate, (kind,), metrics))
    serve(path_of_older_kinds("mutate"), _handler(mark_older, (*LEGACY_KINDS,), metrics))
    serve(path_of_older_kinds("validate"), _handler(validate_older, (*LEGACY_KINDS,), metrics))
    return application


def _handler(answer: Answering, kinds: tuple[str, ...], metrics: AdmissionMetrics) -> Handler:
    async def handle(request: web.Request) -> web.Response:
        began = time.perf_counter()
        try:
            review = read_review(await request.read())
        except BadReview as error:
            return web.json_response({"error": str(error)}, status=400)
        if review.kind not in kinds:
            text = f"request.object.kind: must be {' or '.join(kinds)} on this path, got {review.kind!r}"
            return web.json_response({"error": text}, status=400)
        try:
            body = await answer(review)
        except ApiError as error:
            LOG.warning("cannot judge now", extra={"kind": review.kind, "why": str(error)})
            return web.json_response({"error": f"cannot judge now: {error}"}, status=503)
        metrics.took(review.kind, time.perf_counter() - began)
        return web.Response(body=body, content_type="application/json")

    return handle
