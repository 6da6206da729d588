"""A step has one job after the other within its budget, waits for one that rests, and tells all it knows."""

from collections.abc import Iterator
from typing import Any

import pytest

from kfp_trainer.runtime_operator.errors import JobFailed
from kfp_trainer.runtime_operator.jobs import Event, Job, Line, News, Progress, Waiting
from kfp_trainer.runtime_operator.kube.errors import Forbidden, Unreachable
from kfp_trainer.runtime_operator.launch import following
from kfp_trainer.runtime_operator.launch.launching import Attempts, times_of
from kfp_trainer.runtime_operator.launch.stopping import Watch
from kfp_trainer.runtime_operator.launch.telling import Teller

ASKED = {"metadata": {"name": "job"}, "spec": {}}


class FakeJobs:
    """Jobs whose lives are written down: each is what happens, then how it ends."""

    namespace = "lab"

    def __init__(self, *lives: tuple[list[News], str], found: str = "") -> None:
        self._lives, self._attempt, self.calls = list(lives), 0, []
        self._phase = found
        self.trouble: list[Exception] = []

    def adopt_or_create(self, _documents: Any, *, owner: str, retries: int) -> str:
        self.calls.append("ask")
        if self.trouble:
            raise self.trouble.pop(0)
        if not self._phase or (self._phase == "Failed" and self._attempt < retries):
            self._attempt += bool(self._phase)
            self.calls.append("make")
            self._phase = "Running"
        return "job"

    def get(self, name: str) -> Job:
        uid = str(self.calls.count("make"))
        return Job(name, "lab", self._phase, {"metadata": {"uid": uid}}, "", f"is {self._phase}")

    def follow(self, _name: str) -> Iterator[News]:
        if self._phase == "Suspended":
            self._phase = "Running"
        if self._phase == "Running":
            news, self._phase = self._lives.pop(0)
            yield from news

    def digest(self, name: str) -> str:
        return f"{name} died"

    def delete(self, _name: str) -> None:
        self.calls.append("delete")
        self._phase, self._attempt = "", 0


@pytest.fixture(autouse=True)
def no_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(following.time, "sleep", lambda _seconds: None)


def run(jobs: FakeJobs, *, retries: int = 0) -> tuple[Job, list[str]]:
    said: list[str] = []
    teller = Teller(said.append)
    return Attempts(jobs, ASKED, teller, owner="o", retries=retries).run(Watch()), said


def test_a_job_that_ends_well_is_made_once_and_told_as_it_goes() -> None:
    news = [
        Waiting("0/3 nodes have a GPU"),
        Line("pod", "node", "loss=0.5"),
        Event(0.0, "Pod/x", "Pulled", "image", False),
        Event(0.0, "Pod/x", "BackOff", "no image", True),
    ]
    jobs = FakeJobs((news, "Complete"))
    job, said = run(jobs)
    assert job.phase == "Complete"
    assert jobs.calls == ["ask", "make"]
    assert said == ["waits: 0/3 nodes have a GPU", "loss=0.5", "warning: Pod/x: BackOff: no image"]


def test_a_job_that_has_ended_is_taken_as_it_is() -> None:
    jobs = FakeJobs(found="Complete")
    assert run(jobs)[0].phase == "Complete"
    assert jobs.calls == ["ask"]


def test_a_failure_is_made_good_within_the_budget() -> None:
    jobs = FakeJobs(([], "Failed"), ([], "Failed"), ([], "Complete"))
    job, said = run(jobs, retries=2)
    assert job.phase == "Complete"
    assert said == ["job died\nanother try"] * 2


def test_behind_the_budget_the_failure_is_told_with_its_warnings() -> None:
    warning = Event(0.0, "Pod/x", "OOMKilled", "node", True)
    jobs = FakeJobs(([], "Failed"), ([warning], "Failed"))
    with pytest.raises(JobFailed) as failed:
        run(jobs, retries=1)
    assert str(failed.value) == "job died\nwarnings:\n  Pod/x: OOMKilled: node"
    assert jobs.calls.count("make") == 2


def test_a_step_that_is_started_again_begins_a_failed_job_with_its_whole_budget() -> None:
    jobs = FakeJobs(([], "Failed"), ([], "Complete"), found="Failed")
    jobs._attempt = 1
    job, _ = run(jobs, retries=1)
    assert job.phase == "Complete"
    assert jobs.calls == ["ask", "delete", "ask", "make", "ask", "make"]


def test_a_job_that_rests_is_waited_for_and_why_is_told_once() -> None:
    jobs = FakeJobs(([], "Suspended"), ([], "Complete"))
    looks = iter(["Suspended"] * 5 + ["Running"])
    get = jobs.get

    def looked(name: str) -> Job:
        if jobs._phase == "Suspended":
            jobs._phase = next(looks)
        return get(name)

    jobs.get = looked  # type: ignore[method-assign]
    job, said = run(jobs)
    assert job.phase == "Complete"
    assert said == ["waits: is Suspended"]


def test_an_api_server_that_is_away_is_waited_for_and_a_refusal_is_not() -> None:
    jobs = FakeJobs(([], "Complete"))
    jobs.trouble = [Unreachable("no answer")] * 3
    job, said = run(jobs)
    assert job.phase == "Complete"
    assert said == ["the API server gives no answer, and is waited for: no answer"]
    jobs = FakeJobs(([], "Complete"))
    jobs.trouble = [Forbidden(403, "Forbidden", "not allowed")]
    with pytest.raises(Forbidden):
        run(jobs)


def test_progress_is_told_when_it_has_grown_and_its_numbers_are_kept() -> None:
    said: list[str] = []
    teller = Teller(said.append)
    teller.tell(Progress(10, 90, {"loss": "0.5", "note": "warm"}))
    teller.tell(Progress(10, 80, {"loss": "0.4"}))
    teller.tell(Progress(None, None, {"eval_loss": "0.3"}))
    teller.take_status({"trainerStatus": {"metrics": [{"name": "loss", "value": "0.2"}]}})
    assert said == ["progress: 10 %, 90 s left, loss 0.5, note warm"]
    assert teller.metrics == {"loss": 0.2, "eval_loss": 0.3}


TIMES = {
    "a job that has run": (
        {"startTime": "2026-01-01T00:00:09Z", "completionTime": "2026-01-01T00:01:09Z"},
        {"waiting": 9.0, "running": 60.0},
    ),
    "a job that never ran": ({"completionTime": "2026-01-01T00:01:09Z"}, {}),
    "a job of another operator": ({}, {}),
}


@pytest.mark.parametrize("sentence", TIMES)
def test_times_are_what_is_known_of_them(sentence: str) -> None:
    status, want = TIMES[sentence]
    job = {"metadata": {"creationTimestamp": "2026-01-01T00:00:00Z"}, "status": status}
    assert times_of(job) == want
