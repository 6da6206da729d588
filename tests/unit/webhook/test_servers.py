"""Both endpoints over HTTP, and a certificate that is renewed while they serve."""

from __future__ import annotations

import asyncio
import base64
import ssl
from datetime import UTC, datetime, timedelta
from typing import Any

import aiohttp
import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer
from prometheus_client import CollectorRegistry, generate_latest

from kfp_trainer.runtime_operator.kube.errors import Invalid, ServerTrouble
from kfp_trainer.runtime_operator.kube.resource import MUTATING_WEBHOOKS, SECRETS
from kfp_trainer.runtime_operator.webhook import serving as module
from kfp_trainer.runtime_operator.webhook.certificate_store import SecretStore
from kfp_trainer.runtime_operator.webhook.certificates import names_of
from kfp_trainer.runtime_operator.webhook.metrics import AdmissionMetrics
from kfp_trainer.runtime_operator.webhook.progress_server import progress_application
from kfp_trainer.runtime_operator.webhook.server import admission_application
from kfp_trainer.runtime_operator.webhook.serving import Serving

NOW = "2026-01-02T03:04:05Z"
NEW = {"lastUpdatedTime": NOW}
VALIDATE = "/validate-trainer-kubeflow-org-v1alpha1-"
STATUS = "/apis/trainer.kubeflow.org/v1alpha1/namespaces/team/trainjobs/bert/status"


@pytest.fixture
def registry() -> CollectorRegistry:
    return CollectorRegistry()


@pytest.fixture
async def hooks(world: Any, registry: CollectorRegistry) -> Any:
    application = admission_application(world, AdmissionMetrics(registry), now=lambda: NOW)
    async with TestClient(TestServer(application)) as client:
        yield client


async def test_a_job_is_judged_and_counted(
    hooks: Any, world: Any, job: Any, runtime: Any, review_of: Any, registry: CollectorRegistry
) -> None:
    world.add(runtime)
    answer = await hooks.post(f"{VALIDATE}trainjob", data=review_of(job))
    assert (await answer.json())["response"] == {"uid": "q-1", "allowed": True}
    job["spec"]["runtimeRef"]["name"] = "other"
    answer = await hooks.post(f"{VALIDATE}trainjob", data=review_of(job))
    response = (await answer.json())["response"]
    assert (response["allowed"], response["status"]["code"]) == (False, 403)
    lines = generate_latest(registry).decode()
    assert 'kfp_trainer_admission_verdicts_total{allowed="false",kind="TrainJob"} 1.0' in lines
    assert 'kfp_trainer_admission_seconds_count{kind="TrainJob"} 2.0' in lines


async def test_a_runtime_is_judged(hooks: Any, runtime: Any, review_of: Any) -> None:
    answer = await hooks.post(f"{VALIDATE}clustertrainingruntime", data=review_of(runtime))
    assert (await answer.json())["response"]["allowed"] is True


async def test_patches_get_their_time(hooks: Any, job: Any, review_of: Any) -> None:
    job["spec"]["runtimePatches"] = [{"manager": "a.b/c"}]
    path = "/mutate-trainer-kubeflow-org-v1alpha1-trainjob"
    response = (await (await hooks.post(path, data=review_of(job))).json())["response"]
    assert response["allowed"] is True
    assert response["patchType"] == "JSONPatch"


WRONG: dict[str, tuple[str, bytes, int, str]] = {
    "a path that nobody serves": ("/validate-nothing", b"{}", 404, ""),
    "no review": (f"{VALIDATE}trainjob", b"hello", 400, "the body must be JSON"),
}


@pytest.mark.parametrize("sentence", WRONG)
async def test_what_is_no_question_is_refused(sentence: str, hooks: Any) -> None:
    path, body, code, words = WRONG[sentence]
    answer = await hooks.post(path, data=body)
    assert answer.status == code
    assert words in await answer.text()


async def test_another_kind_is_refused(hooks: Any, runtime: Any, review_of: Any) -> None:
    answer = await hooks.post(f"{VALIDATE}trainjob", data=review_of(runtime))
    assert answer.status == 400
    assert "must be TrainJob on this path, got 'ClusterTrainingRuntime'" in await answer.text()


class Keeping:
    """A keeper that does as it is told."""

    error: Exception | None = None

    async def may_post(self, namespace: str, name: str, token: str) -> bool:
        return token == "good"

    async def keep(self, namespace: str, name: str, progress: Any) -> bool:
        if self.error is not None:
            raise self.error
        return True


POSTS: dict[str, tuple[Any, dict[str, str], int]] = {
    "progress of the job itself": ({**NEW, "progressPercentage": 5}, {"Authorization": "Bearer good"}, 200),
    "no token": ({**NEW, "progressPercentage": 5}, {}, 403),
    "progress of more than all": ({**NEW, "progressPercentage": 500}, {"Authorization": "Bearer good"}, 422),
    "more than is taken": ("x" * 70_000, {"Authorization": "Bearer good"}, 413),
}


@pytest.mark.parametrize("sentence", POSTS)
async def test_posts_of_progress(sentence: str, registry: CollectorRegistry) -> None:
    progress, headers, code = POSTS[sentence]
    application = progress_application(Keeping(), AdmissionMetrics(registry))
    async with TestClient(TestServer(application)) as client:
        answer = await client.post(STATUS, json={"trainerStatus": progress}, headers=headers)
        assert answer.status == code
    assert f'kfp_trainer_progress_posts_total{{code="{code}"}} 1.0' in generate_latest(registry).decode()


ERRORS: dict[str, tuple[Exception, int, str]] = {
    "the schema says no": (Invalid(422, "Invalid", "too much"), 422, "too much"),
    "the API server is away": (ServerTrouble(503, "", "not now"), 503, "post again later"),
}


@pytest.mark.parametrize("sentence", ERRORS)
async def test_progress_that_cannot_be_kept(sentence: str, registry: CollectorRegistry) -> None:
    error, code, words = ERRORS[sentence]
    keeper = Keeping()
    keeper.error = error
    async with TestClient(TestServer(progress_application(keeper, AdmissionMetrics(registry)))) as client:
        headers = {"Authorization": "Bearer good"}
        answer = await client.post(STATUS, json={"trainerStatus": NEW}, headers=headers)
        assert answer.status == code
        assert words in (await answer.json())["message"]


async def hello(request: web.Request) -> web.Response:
    return web.Response(text="hello")


async def served_certificate(port: int, authority: bytes) -> bytes:
    """The certificate of a new connection, checked against an authority."""
    trust = ssl.create_default_context(cadata=authority.decode())
    _, writer = await asyncio.open_connection("127.0.0.1", port, ssl=trust, server_hostname="hook.system.svc")
    found: bytes = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
    writer.close()
    await writer.wait_closed()
    return found


async def test_a_certificate_is_renewed_while_it_serves(server: Any, registry: CollectorRegistry) -> None:
    clock = [datetime.now(UTC) - timedelta(days=2.1)]
    store = SecretStore(
        server, "system", "pair", names_of("hook", "system"), now=lambda: clock[0], life=timedelta(days=3)
    )
    hook = {"name": "a.b.c", "clientConfig": {}}
    name = "defaulter.trainer.kubeflow.org"
    server.put(MUTATING_WEBHOOKS, "", {"metadata": {"name": name}, "webhooks": [hook]})
    serving = Serving(store, server, AdmissionMetrics(registry))
    assert serving.authority == b""
    await serving.look()
    assert serving.ready.is_set()
    application = web.Application()
    application.router.add_get("/", hello)
    runner = web.AppRunner(application)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=serving.context)
    await site.start()
    port = runner.addresses[0][1]
    trust = ssl.create_default_context(cadata=serving.authority.decode())
    trust.check_hostname = False
    async with aiohttp.ClientSession() as session:  # one connection, kept open
        assert (await session.get(f"https://127.0.0.1:{port}/", ssl=trust)).status == 200
        first = await served_certificate(port, serving.authority)
        clock[0] = datetime.now(UTC)
        await serving.look()
        assert await served_certificate(port, serving.authority) != first
        assert (await session.get(f"https://127.0.0.1:{port}/", ssl=trust)).status == 200
    await runner.cleanup()


async def test_a_failed_look_is_mended_by_the_next(server: Any, registry: CollectorRegistry) -> None:
    store = SecretStore(server, "system", "pair", names_of("hook", "system"), now=lambda: datetime.now(UTC))
    serving = Serving(store, server, AdmissionMetrics(registry))
    server.refusals = [ServerTrouble(503, "", "not now"), ServerTrouble(503, "", "not now")]
    task = asyncio.create_task(serving.keep(every=0.001, again=0.001))
    await asyncio.wait_for(serving.ready.wait(), 10)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert server.refusals == []


async def test_a_new_authority_is_trusted_before_it_serves(
    server: Any, registry: CollectorRegistry, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "HEARD_AFTER", 0.001)
    name = "defaulter.trainer.kubeflow.org"
    hook = {"name": "a.b.c", "clientConfig": {}}
    server.put(MUTATING_WEBHOOKS, "", {"metadata": {"name": name}, "webhooks": [hook]})
    store = SecretStore(server, "system", "pair", names_of("hook", "system"), now=lambda: datetime.now(UTC))
    serving = Serving(store, server, AdmissionMetrics(registry))
    told: list[tuple[bytes, bytes]] = []

    def trusted() -> bytes:
        (only,) = server.find(MUTATING_WEBHOOKS, "", name)["webhooks"]
        return base64.b64decode(only["clientConfig"]["caBundle"])

    def loaded(context: ssl.SSLContext, pair: Any) -> None:
        told.append((pair.authority, trusted()))

    monkeypatch.setattr(module, "_load", loaded)
    await serving.look()
    server.put(SECRETS, "system", {"metadata": {"name": "pair"}, "data": {}})
    await serving.look()
    (first, at_first), (second, at_second) = told
    assert at_first == first
    assert at_second == second + first
    await serving.look()
    assert trusted() == second


async def test_what_cannot_be_looked_up_now_is_no_verdict(
    hooks: Any, world: Any, job: Any, review_of: Any
) -> None:
    async def away(job: Any) -> Any:
        raise ServerTrouble(503, "", "not now")

    world.runtime = away
    answer = await hooks.post(f"{VALIDATE}trainjob", data=review_of(job))
    assert (answer.status, await answer.json()) == (503, {"error": "cannot judge now: not now"})
