import json
import os
import signal
from collections.abc import Iterator

import pytest

from kfp_trainer.runtime_operator.cli.following import follow_job
from kfp_trainer.runtime_operator.errors import Retryable
from kfp_trainer.runtime_operator.jobs import Event, Job, Line, News, Progress, Whose

NEWS = (
    Line("bert-node-0-0-abcde", "node", "hello"),
    Event(0.0, "Pod/a", "Started", "node", False),
    Event(0.0, "Pod/a", "Error", "node", True),
    Progress(50, 10, {"loss": "0.5"}),
)


class Jobs:
    """A back end whose one job ends as the test says."""

    def __init__(self, *, phase: str = "Complete", code: int = 0, interrupts: int = 0) -> None:
        self.phase, self.code, self.interrupts = phase, code, interrupts
        self.cancelled: list[str] = []

    def follow(
        self, name: str, whose: Whose, *, tail: int | None = None, until: float | None = None
    ) -> Iterator[News]:
        for _ in range(self.interrupts):
            os.kill(os.getpid(), signal.SIGINT)
        yield from NEWS

    def get(self, name: str) -> Job:
        return Job(name, "default", self.phase, {"metadata": {}, "status": {}}, "", "as it was")

    def exit_code(self, name: str) -> int:
        return self.code

    def digest(self, name: str) -> str:
        return f"job {name} failed: pod a: exit code {self.code}"

    def cancel(self, name: str) -> None:
        self.cancelled.append(name)


@pytest.fixture(autouse=True)
def ctrl_c_counts() -> Iterator[None]:
    """A shell starts what runs in its background with Ctrl-C ignored, and Python then leaves it so."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_lines_and_warnings_are_shown_plainly_where_nobody_looks(capsys):
    assert follow_job(Jobs(), "bert", output=None) == 0
    out, err = capsys.readouterr()
    assert out == "hello\n"
    assert err == "Pod/a: Error: node\nbert: as it was\n"


@pytest.mark.parametrize("whose", [Whose(everybody=True), Whose(role="worker")], ids=["all", "a role"])
def test_lines_of_several_pods_stand_behind_their_names(whose, capsys):
    follow_job(Jobs(), "bert", output=None, whose=whose)
    assert capsys.readouterr().out == "bert-node-0-0-abcde: hello\n"


def test_wait_shows_no_lines(capsys):
    follow_job(Jobs(), "bert", output=None, lines=False)
    assert capsys.readouterr().out == ""


def test_the_exit_code_is_the_jobs_and_the_digest_is_last(capsys):
    assert follow_job(Jobs(phase="Failed", code=7), "bert", output=None) == 7
    assert capsys.readouterr().err.endswith("kfp-trainer: job bert failed: pod a: exit code 7\n")


def test_programs_get_one_value_a_line(capsys):
    follow_job(Jobs(phase="Failed", code=7), "bert", output="json")
    values = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [each["kind"] for each in values] == ["line", "event", "event", "progress", "end"]
    assert values[-1] == {"kind": "end", "phase": "Failed", "message": "as it was", "exit_code": 7}


def test_ctrl_c_asks_once(capsys):
    jobs = Jobs(interrupts=1)
    follow_job(jobs, "bert", output=None)
    assert jobs.cancelled == []
    assert "Ctrl-C again within 5 s cancels bert; otherwise it goes on" in capsys.readouterr().err


def test_ctrl_c_twice_cancels():
    jobs = Jobs(interrupts=2)
    follow_job(jobs, "bert", output=None)
    assert jobs.cancelled == ["bert"]


def test_ctrl_c_ends_a_command_that_only_looks():
    jobs = Jobs(interrupts=1)
    with pytest.raises(KeyboardInterrupt):
        follow_job(jobs, "bert", output=None, owns=False)
    assert jobs.cancelled == []


def test_a_job_that_has_not_ended_in_time_goes_on():
    with pytest.raises(Retryable, match="has not ended; it goes on"):
        follow_job(Jobs(phase="Running"), "bert", output=None)
