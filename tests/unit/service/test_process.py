"""A process from its start to its end, on an API server in memory."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Callable
from typing import Any

import pytest

from kfp_trainer.runtime_operator.controller.kinds import JOBSETS, TRAIN_JOBS
from kfp_trainer.runtime_operator.errors import SetupError
from kfp_trainer.runtime_operator.kube.election import LeadershipLost
from kfp_trainer.runtime_operator.kube.resource import EVENTS, LEASES, SECRETS, VALIDATING_WEBHOOKS
from kfp_trainer.runtime_operator.service import process
from tests.fake_api import FakeApi

Start = Callable[..., Any]
VALIDATE = "/validate-trainer-kubeflow-org-v1alpha1-trainjob"


@pytest.fixture(autouse=True)
def no_drain(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody calls after the end of these tests."""
    monkeypatch.setattr(process, "DRAIN", 0.0)


@pytest.fixture(autouse=True)
def no_frozen_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """This process goes on with other tests."""
    monkeypatch.setattr(process, "_settle_memory", lambda: None)


def review(job: Any) -> str:
    request = {"uid": "q", "operation": "CREATE", "namespace": "team", "name": "bert", "object": job}
    return json.dumps({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request})


async def eventually(condition: Callable[[], Any]) -> None:
    async with asyncio.timeout(30):
        while not condition():
            await asyncio.sleep(0.02)


def leads(one: Any) -> bool:
    return bool(one.parts.registry.get_sample_value("kfp_trainer_is_leader") == 1.0)


async def test_it_serves_and_acts(api: FakeApi, job: Any, running: Start) -> None:
    one = running()
    await one.is_ready()
    code, text = await one.asks(VALIDATE, port="webhook", data=review(job))
    assert (code, json.loads(text)["response"]["allowed"]) == (200, True)
    job["spec"]["runtimeRef"]["name"] = "plane"
    _, text = await one.asks(VALIDATE, port="webhook", data=review(job))
    assert "not found" in json.loads(text)["response"]["status"]["message"]
    job["spec"]["runtimeRef"]["name"] = "plain"
    api.create(TRAIN_JOBS, job)
    await eventually(lambda: api.get(JOBSETS, "team", "bert"))
    assert "kfp_trainer_is_leader 1.0" in (await one.asks("/metrics", port="metrics"))[1]
    assert (await one.asks("/healthz"))[0] == 200
    trusted = api.need(VALIDATING_WEBHOOKS, "", "validator.trainer.kubeflow.org")
    bundle = trusted["webhooks"][0]["clientConfig"]["caBundle"]
    secret = api.need(SECRETS, "system", "kubeflow-trainer-webhook-cert")
    assert base64.b64decode(bundle) == base64.b64decode(secret["data"]["ca.crt"])


async def test_told_to_stop_it_lets_go_of_leadership(api: FakeApi, running: Start) -> None:
    one = running()
    await one.is_ready()
    await eventually(lambda: leads(one))
    one.stop.set()
    await one.task
    assert api.need(LEASES, "system", "trainer.kubeflow.org")["spec"]["holderIdentity"] == ""
    assert await one.asks("/readyz") == (0, "")


async def test_the_second_replica_answers_and_does_not_act(api: FakeApi, job: Any, running: Start) -> None:
    one = running()
    await one.is_ready()
    await eventually(lambda: leads(one))
    other = running()
    await other.is_ready()
    assert one.parts.serving.authority == other.parts.serving.authority
    code, text = await other.asks(VALIDATE, port="webhook", data=review(job))
    assert (code, json.loads(text)["response"]["allowed"]) == (200, True)
    assert "kfp_trainer_is_leader 0.0" in (await other.asks("/metrics", port="metrics"))[1]
    one.stop.set()
    await one.task
    api.create(TRAIN_JOBS, job)
    await eventually(lambda: api.get(JOBSETS, "team", "bert"))


async def test_who_loses_leadership_ends(api: FakeApi, running: Start) -> None:
    one = running()
    await one.is_ready()
    await eventually(lambda: leads(one))

    def another(lease: Any) -> None:
        lease["spec"]["holderIdentity"] = "another"

    api.change(LEASES, "system", "trainer.kubeflow.org", another)
    with pytest.raises(LeadershipLost, match="is held by another"):
        await asyncio.wait_for(one.task, 30)


async def test_a_port_that_is_taken_is_named(api: FakeApi, running: Start) -> None:
    one = running()
    await one.is_ready()
    taken = one.settings.health_port
    other = running(health_port=taken)
    with pytest.raises(SetupError, match=f"--health-port: cannot listen on {taken}: .*in use; give another"):
        await asyncio.wait_for(other.task, 30)


async def test_it_is_not_ready_while_a_kind_is_missing(api: FakeApi, running: Start) -> None:
    api.withdraw(JOBSETS)
    one = running()
    async with asyncio.timeout(30):
        while "jobsets.jobset.x-k8s.io: not read yet: " not in (await one.asks("/readyz"))[1]:
            await asyncio.sleep(0.02)
    api.serve(JOBSETS)
    await one.is_ready()


async def test_for_one_namespace_it_judges_when_it_builds(api: FakeApi, job: Any, running: Start) -> None:
    one = running(namespace="team")
    await one.is_ready()
    job["spec"]["trainer"] = {"env": [{"name": "PET_NNODES", "value": "2"}]}
    api.create(TRAIN_JOBS, job)
    await eventually(lambda: api.need(TRAIN_JOBS, "team", "bert").get("status", {}).get("conditions"))
    (condition,) = api.need(TRAIN_JOBS, "team", "bert")["status"]["conditions"]
    assert (condition["type"], condition["status"]) == ("Failed", "True")
    assert "spec.trainer.env" in condition["message"]
    assert api.get(JOBSETS, "team", "bert") is None
    assert api.get(SECRETS, "system", "kubeflow-trainer-webhook-cert") is None
    assert (await one.asks(VALIDATE, port="webhook", data=review(job)))[0] == 0


async def test_progress_of_a_trainer_is_kept(api: FakeApi, job: Any, running: Start) -> None:
    path = "/apis/trainer.kubeflow.org/v1alpha1/namespaces/team/trainjobs/bert/status"
    one = running(features=frozenset({"TrainJobStatus"}))
    await one.is_ready()
    body = {"trainerStatus": {"progressPercentage": 5}}
    assert (await one.asks(path, port="progress", json=body))[0] == 403
    api.create(TRAIN_JOBS, job)
    await eventually(lambda: api.get(JOBSETS, "team", "bert"))
    (replicated,) = api.need(JOBSETS, "team", "bert")["spec"]["replicatedJobs"]
    (container,) = replicated["template"]["spec"]["template"]["spec"]["containers"]
    env = {each["name"]: each.get("value") for each in container["env"]}
    assert env["KUBEFLOW_TRAINER_SERVER_URL"].endswith(f".system.svc:{one.settings.progress_port}{path}")


async def test_a_deaf_watch_is_the_end(api: FakeApi, running: Start) -> None:
    one = running()
    await one.is_ready()
    assert (await one.asks("/healthz"))[0] == 200
    caches = one.parts.operator.caches
    longest = 2 * one.parts.operator.settings.resync_every
    caches.limit_ranges.last_progress -= longest + 1
    assert (await one.asks("/healthz"))[0] == 200
    caches.jobs.last_progress -= longest + 1
    code, text = await one.asks("/healthz")
    assert code == 503
    assert text.startswith("watch of trainjobs.trainer.kubeflow.org: no progress for ")
    assert (await one.asks("/readyz"))[0] == 200


async def test_events_that_wait_are_told_at_the_end(api: FakeApi, job: Any, running: Start) -> None:
    one = running()
    await one.is_ready()
    await eventually(lambda: leads(one))
    one.parts.recorder.record({"apiVersion": "v1", **job}, "Last", "the last word")
    one.stop.set()
    await one.task
    assert "Last" in {each["reason"] for each in api.all(EVENTS)}


def test_a_container_that_starts_again_is_the_same_replica() -> None:
    assert process.who_holds({"POD_NAME": "manager-1"}) == "manager-1"
    assert process.who_holds({}) != process.who_holds({})


async def test_each_decision_is_a_line_of_the_log(
    api: FakeApi, job: Any, running: Start, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    one = running()
    await one.is_ready()
    api.create(TRAIN_JOBS, job)

    def told() -> list[Any]:
        return [each for each in caplog.records if getattr(each, "reason", "") == "JobSetCreated"]

    await eventually(told)
    (line,) = told()
    assert (line.getMessage(), line.namespace, line.job) == ("created JobSet bert", "team", "bert")
    assert not any(getattr(each, "reason", "") == "ConfigMapCreated" for each in caplog.records)


async def test_it_stops_before_it_is_ready(
    api: FakeApi, running: Start, caplog: pytest.LogCaptureFixture
) -> None:
    api.withdraw(JOBSETS)
    one = running()
    await eventually(lambda: "the cluster serves no jobsets.jobset.x-k8s.io: install JobSet" in caplog.text)
    one.stop.set()
    await asyncio.wait_for(one.task, 30)
