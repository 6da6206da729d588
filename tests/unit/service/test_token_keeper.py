"""Whose token lets progress in, and where the progress goes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kfp_trainer.runtime_operator.controller.kinds import JOBSETS, TRAIN_JOBS
from kfp_trainer.runtime_operator.kube.errors import ServerTrouble
from kfp_trainer.runtime_operator.kube.resource import PODS, TOKEN_REVIEWS
from kfp_trainer.runtime_operator.service.token_keeper import BAD_FOR, GOOD_FOR, TokenKeeper
from tests.fake_api import FakeApi, Fault

AUDIENCE = "trainer.kubeflow.org/v1alpha1/namespaces/team/trainjobs/bert/status"
BOUND = "authentication.kubernetes.io/"
JOBSET = "jobset.sigs.k8s.io/"
NAME = {"name": "bert"}
PROGRESS = {"progressPercentage": 5}
Json = dict[str, Any]


PODS_OF = {
    "bert-node-0-0": ("bert", "of the JobSet"),
    "notebook": ("", ""),
    "of-a-namesake": ("bert", "of another JobSet"),
}


def user(pod: str = "bert-node-0-0", *, uid: str = "", username: str = "") -> Json:
    """Who a token says it is; `uid` stands for that of the pod."""
    extra = {f"{BOUND}pod-name": [pod], f"{BOUND}pod-uid": [uid or f"uid of {pod}"]} if pod else {}
    return {"username": username or "system:serviceaccount:team:default", "extra": extra}


def reviewed(**changes: Any) -> Json:
    """What the API server says of a token of that pod."""
    return {"authenticated": True, "audiences": [AUDIENCE], "user": user(), **changes}


REFUSED: dict[str, Json] = {
    "a token that the API server does not know": {"authenticated": False, "error": "unknown"},
    "a token for another job": reviewed(audiences=[AUDIENCE.replace("bert", "other")]),
    "a token for the API server": reviewed(audiences=["https://kubernetes.default.svc"]),
    "an account of another namespace": reviewed(user=user(username="system:serviceaccount:other:default")),
    "a person": reviewed(user=user(username="alice")),
    "a token that is bound to no pod": reviewed(user=user("")),
    "a pod that is gone": reviewed(user=user("gone")),
    "an earlier pod of that name": reviewed(user=user(uid="another")),
    "a pod of the namespace that is not of the job": reviewed(user=user("notebook")),
    "a pod of a JobSet that is gone": reviewed(user=user("of-a-namesake")),
}


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def tokens() -> dict[str, Json]:
    """What the API server says of each token."""
    return {"good": reviewed()}


@pytest.fixture
async def keeper(api: FakeApi, clock: Clock, tokens: dict[str, Json]) -> TokenKeeper:
    """With a job `bert`, its JobSet, a pod of it and two other pods."""
    job = api.create(TRAIN_JOBS, {"metadata": NAME | {"namespace": "team"}, "status": {"why": "it trains"}})
    owner = {"kind": "TrainJob", **NAME, "uid": job["metadata"]["uid"], "controller": True}
    metadata = {**NAME, "namespace": "team", "ownerReferences": [owner]}
    jobset = api.create(JOBSETS, {"metadata": metadata})
    uids = {"of the JobSet": jobset["metadata"]["uid"], "of another JobSet": "another", "": ""}
    pods: dict[str, str] = {}
    for name, (of, jobset_uid) in PODS_OF.items():
        labels = {f"{JOBSET}jobset-name": of, f"{JOBSET}jobset-uid": uids[jobset_uid]} if of else {}
        pod = api.create(PODS, {"metadata": {"name": name, "namespace": "team", "labels": labels}})
        pods[f"uid of {name}"] = pod["metadata"]["uid"]

    def review(asked: Json) -> Json:
        said = json.dumps(tokens.get(asked["spec"]["token"], {}))
        for name, uid in pods.items():
            said = said.replace(name, uid)
        return {"status": json.loads(said)}

    api.answers[TOKEN_REVIEWS] = review
    return TokenKeeper(api.transport(), clock=clock)


def reviews(api: FakeApi) -> int:
    return sum(verb == "create" for verb, _ in api.calls)


async def test_a_pod_of_the_job_may_post(keeper: TokenKeeper, api: FakeApi) -> None:
    assert await keeper.may_post("team", "bert", "good")
    assert await keeper.keep("team", "bert", PROGRESS)
    status = api.need(TRAIN_JOBS, "team", "bert")["status"]
    assert status == {"why": "it trains", "trainerStatus": PROGRESS}


@pytest.mark.parametrize("sentence", REFUSED)
async def test_nobody_else_may(sentence: str, keeper: TokenKeeper, tokens: dict[str, Json]) -> None:
    tokens["bad"] = REFUSED[sentence]
    assert not await keeper.may_post("team", "bert", "bad")


async def test_a_verdict_is_kept_for_a_while(
    keeper: TokenKeeper, api: FakeApi, clock: Clock, tokens: dict[str, Json]
) -> None:
    for _ in range(5):
        assert await keeper.may_post("team", "bert", "good")
    assert reviews(api) == 1
    clock.now = GOOD_FOR + 1
    tokens["good"] = {"authenticated": False}
    assert not await keeper.may_post("team", "bert", "good")


async def test_a_refusal_is_kept_for_less(
    keeper: TokenKeeper, api: FakeApi, clock: Clock, tokens: dict[str, Json]
) -> None:
    for _ in range(5):
        assert not await keeper.may_post("team", "bert", "early")
    assert reviews(api) == 1
    tokens["early"] = reviewed()
    clock.now = BAD_FOR + 1
    assert await keeper.may_post("team", "bert", "early")


async def test_a_token_of_one_job_is_no_good_for_another(keeper: TokenKeeper) -> None:
    assert await keeper.may_post("team", "bert", "good")
    assert not await keeper.may_post("team", "other", "good")


async def test_a_namesake_does_not_get_the_progress(keeper: TokenKeeper, api: FakeApi) -> None:
    assert await keeper.may_post("team", "bert", "good")
    api.remove(TRAIN_JOBS, "team", "bert")
    api.create(TRAIN_JOBS, {"metadata": {**NAME, "namespace": "team"}})
    assert not await keeper.keep("team", "bert", PROGRESS)
    assert "status" not in api.need(TRAIN_JOBS, "team", "bert")


async def test_progress_of_a_job_that_is_gone(keeper: TokenKeeper, api: FakeApi) -> None:
    assert await keeper.may_post("team", "bert", "good")
    api.remove(TRAIN_JOBS, "team", "bert")
    assert not await keeper.keep("team", "bert", PROGRESS)


async def test_an_api_server_in_trouble_is_no_verdict(keeper: TokenKeeper, api: FakeApi) -> None:
    api.faults.add(Fault("refuse", verb="create", error=ServerTrouble(503, "", "not now")))
    with pytest.raises(ServerTrouble):
        await keeper.may_post("team", "bert", "good")
    assert await keeper.may_post("team", "bert", "good")
