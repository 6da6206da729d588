"""What the probes say."""

from __future__ import annotations

from aiohttp.test_utils import TestClient, TestServer
from prometheus_client import CollectorRegistry, Counter

from kfp_trainer.runtime_operator.service.health import health_application, silent
from kfp_trainer.runtime_operator.service.metrics_page import metrics_application


def test_a_watch_that_shows_nothing_is_named() -> None:
    since = {"trainjobs": 100.0, "pods": 690.0}
    assert silent(since, now=700.0, longest=600.0) == []
    assert silent(since, now=701.0, longest=600.0) == [
        "watch of trainjobs: no progress for 601 s, at most 600 s are allowed"
    ]


async def test_both_probes() -> None:
    against: dict[str, list[str]] = {"life": [], "readiness": []}
    application = health_application(
        against_life=lambda: against["life"], against_readiness=lambda: against["readiness"]
    )
    async with TestClient(TestServer(application)) as client:
        for path, kind in (("/healthz", "life"), ("/readyz", "readiness")):
            answer = await client.get(path)
            assert (answer.status, await answer.text()) == (200, "ok")
            against[kind] = ["one", "two"]
            answer = await client.get(path)
            assert (answer.status, await answer.text()) == (503, "one\ntwo")


async def test_metrics_are_brought_up_to_date_when_asked() -> None:
    registry = CollectorRegistry()
    looks = Counter("looks", "How often somebody asked.", registry=registry)
    async with TestClient(TestServer(metrics_application(registry, looks.inc))) as client:
        await client.get("/metrics")
        answer = await client.get("/metrics")
        assert "looks_total 2.0" in await answer.text()
        assert answer.headers["Content-Type"].startswith("text/plain")
