import json
import math
from collections.abc import Iterator
from typing import Any

import pytest

from kfp_trainer.runtime_operator.workloads.finetune.progress import StepEvent
from kfp_trainer.runtime_operator.workloads.finetune.torchtune import endpoint as module
from kfp_trainer.runtime_operator.workloads.finetune.torchtune.endpoint import Endpoint, status_of
from kfp_trainer.runtime_operator.workloads.finetune.torchtune.logger import Follower


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def follow(steps: int, *, every: int = 1, first: int = 1, **more: Any) -> list[StepEvent]:
    """A run that takes two seconds a step and loses one from a loss of a hundred at each."""
    said: list[StepEvent] = []
    clock = Clock()
    follower = Follower(said.append, every=every, clock=clock, **more)
    follower.begin(steps=steps, steps_an_epoch=5)
    for number in range(first, steps + 1):
        clock.now += 2
        follower.step(number, {"loss": 100 - number, "lr": 0.5, "tokens_per_second_per_gpu": 7})
    return said


def test_steps_are_told_at_their_turn_and_the_first_and_the_last() -> None:
    assert [event.step for event in follow(12, every=5)] == [1, 5, 10, 12]


def test_a_loss_is_the_mean_since_the_one_before() -> None:
    assert [event.loss for event in follow(12, every=5)] == [99, 96.5, 92, 88.5]


def test_what_remains_is_reckoned_from_the_steps_taken_here() -> None:
    assert [event.remaining_seconds for event in follow(4)] == [6, 4, 2, 0]
    assert [event.remaining_seconds for event in follow(13, first=11)] == [4, 2, 0]


def test_tokens_are_counted_where_the_rows_are_known() -> None:
    events = follow(12, every=5, tokens_at=lambda step: 10 * step)
    assert [event.tokens for event in events] == [10, 50, 100, 120]
    assert {event.tokens_per_second for event in events} == {5.0}
    assert [event.epoch for event in events] == [0.2, 1.0, 2.0, 2.4]


def test_elsewhere_the_recipe_is_believed() -> None:
    assert {(event.tokens, event.tokens_per_second) for event in follow(3)} == {(0, 7.0)}


def test_a_status_is_that_of_a_train_job() -> None:
    status = status_of(follow(4)[0])
    assert status["progressPercentage"] == 25
    assert status["estimatedRemainingSeconds"] == 6
    assert {"name": "loss", "value": "99.0"} in status["metrics"]  # type: ignore[operator]


@pytest.fixture
def posted(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Any]]:
    posts: list[Any] = []

    def refuse(request: Any, **named: Any) -> None:
        posts.append(json.loads(request.data))
        raise ConnectionRefusedError

    monkeypatch.setattr(module.urllib.request, "urlopen", refuse)
    yield posts


def test_an_endpoint_is_told_every_five_seconds_and_the_end_whatever_it_answers(posted: list[Any]) -> None:
    clock = Clock()
    endpoint = Endpoint({"KUBEFLOW_TRAINER_SERVER_URL": "http://127.0.0.1:9/"}, clock=clock)
    for event in follow(9):
        clock.now += 2
        endpoint.tell(event)
    told = [post["trainerStatus"]["progressPercentage"] for post in posted]
    assert told == [math.floor(100 * step / 9) for step in (1, 4, 7, 9)]


def test_without_an_address_nobody_is_told(posted: list[Any]) -> None:
    Endpoint({}).tell(follow(1)[0])
    assert posted == []
