"""The job client: adopt, replace, cancel, delete, follow, from whichever process asks."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from kfp_trainer.runtime_operator.errors import JobFailed, SpecError
from kfp_trainer.runtime_operator.jobs import Event, Line, LocalJobs, Progress

PATIENCE = 120.0
COUNT = 'echo run >> "$LEDGER"; '


@pytest.fixture
def job(workshop, tmp_path: Path):
    """Makes a TrainJob that notes each of its runs; returns its documents."""

    def make(script: str = "true", name: str = "bert", **spec):
        runtime = workshop.runtime()
        node = runtime["spec"]["template"]["spec"]["replicatedJobs"][0]["template"]["spec"]
        node["backoffLimit"] = 0
        node["template"]["spec"]["restartPolicy"] = "Never"
        env = {"env": [{"name": "LEDGER", "value": str(tmp_path / "ledger")}]}
        return [runtime, workshop.train_job(name, COUNT + script, trainer=env, **spec)]

    return make


def runs(folder: Path) -> int:
    return len((folder / "ledger").read_text().splitlines())


def test_a_job_that_has_succeeded_is_adopted(workshop, job, tmp_path: Path) -> None:
    for _ in range(2):
        assert workshop.jobs.wait(workshop.jobs.create(job()), timeout=PATIENCE).phase == "Complete"
    assert runs(tmp_path) == 1


def test_a_job_that_runs_is_adopted_by_another_client(workshop, job, tmp_path: Path) -> None:
    workshop.jobs.create(job("sleep 1"))
    other = LocalJobs(tmp_path / "jobs")
    assert other.wait(other.create(job("sleep 1")), timeout=PATIENCE).phase == "Complete"
    assert runs(tmp_path) == 1


def test_a_job_that_failed_is_replaced(workshop, job, tmp_path: Path) -> None:
    for _ in range(2):
        with pytest.raises(JobFailed):
            workshop.jobs.wait(workshop.jobs.create(job("exit 1")), timeout=PATIENCE)
    assert runs(tmp_path) == 2


def test_another_spec_under_the_name_of_a_job_that_runs_is_refused(workshop, job) -> None:
    workshop.jobs.create(job("sleep 5"))
    with pytest.raises(SpecError, match="TrainJob bert: runs already, with another spec"):
        workshop.jobs.create(job("sleep 6"))


def test_a_failed_job_is_replaced_within_the_retry_budget_of_its_owner(workshop, job, tmp_path: Path) -> None:
    for _ in range(4):
        name = workshop.jobs.adopt_or_create(job("exit 1"), owner="run-1/task", retries=2)
        with pytest.raises(JobFailed):
            workshop.jobs.wait(name, timeout=PATIENCE)
    assert runs(tmp_path) == 3


def test_a_job_of_somebody_else_is_not_touched(workshop, job) -> None:
    workshop.jobs.adopt_or_create(job(), owner="run-1/task")
    with pytest.raises(SpecError, match="belongs to run-1/task, not to run-2/task"):
        workshop.jobs.adopt_or_create(job(), owner="run-2/task")


def test_an_owner_that_asks_for_something_else_gets_a_new_job(workshop, job, tmp_path: Path) -> None:
    workshop.jobs.adopt_or_create(job("sleep 30"), owner="run-1/task")
    name = workshop.jobs.adopt_or_create(job("echo other"), owner="run-1/task")
    workshop.jobs.wait(name, timeout=PATIENCE)
    assert [line.text for line in workshop.jobs.logs(name)] == ["other"]


def test_cancelling_ends_the_processes_and_keeps_what_is_known(workshop, job) -> None:
    name = workshop.jobs.create(job("echo begun; sleep 60"))
    next(news for news in workshop.jobs.follow(name) if isinstance(news, Line))
    workshop.jobs.cancel(name)
    with pytest.raises(JobFailed, match="cancelled by a person"):
        workshop.jobs.wait(name, timeout=PATIENCE)
    assert [line.text for line in workshop.jobs.logs(name)] == ["begun"]
    assert workshop.jobs.get(name).reason == "Cancelled"
    assert workshop.left_behind() == []


def test_a_job_rests_and_goes_on_when_it_is_asked_for_again(workshop, job, tmp_path: Path) -> None:
    script = "while [ ! -e $LEDGER.go ]; do sleep 0.05; done"
    name = workshop.jobs.create(job(script))
    while workshop.jobs.get(name).phase != "Running":
        time.sleep(0.05)
    workshop.jobs.create(job(script, suspend=True))
    assert workshop.jobs.wait(name, timeout=PATIENCE).phase == "Suspended"
    assert workshop.left_behind() == []
    (tmp_path / "ledger.go").touch()
    assert workshop.jobs.wait(workshop.jobs.create(job(script)), timeout=PATIENCE).phase == "Complete"


def test_a_job_that_is_made_suspended_starts_when_it_is_resumed(workshop, job, tmp_path: Path) -> None:
    assert workshop.jobs.wait(workshop.jobs.create(job(suspend=True)), timeout=PATIENCE).phase == "Suspended"
    assert not (tmp_path / "ledger").exists()
    assert workshop.jobs.wait(workshop.jobs.create(job()), timeout=PATIENCE).phase == "Complete"


def test_deleting_leaves_nothing(workshop, job, tmp_path: Path) -> None:
    name = workshop.jobs.create(job("sleep 60"))
    workshop.jobs.delete(name, timeout=PATIENCE)
    assert list((tmp_path / "jobs" / "default").iterdir()) == []
    assert workshop.left_behind() == []
    with pytest.raises(SpecError, match="job bert: not found in namespace default"):
        workshop.jobs.get(name)


def test_following_tells_lines_events_and_progress(workshop, job) -> None:
    post = (
        "import json, os, urllib.request as u; "
        'status = {"trainerStatus": {"progressPercentage": 7, "lastUpdatedTime": "2026-01-01T00:00:00Z"}}; '
        'token = open(os.environ["KUBEFLOW_TRAINER_SERVER_TOKEN"]).read(); '
        'u.urlopen(u.Request(os.environ["KUBEFLOW_TRAINER_SERVER_URL"], json.dumps(status).encode(), '
        '{"Authorization": "Bearer " + token}))'
    )
    name = workshop.jobs.create(job(f"echo hello; {sys.executable} -c '{post}'; sleep 0.5"))
    news = list(workshop.jobs.follow(name))
    assert [each.text for each in news if isinstance(each, Line)] == ["hello"]
    assert [each.percent for each in news if isinstance(each, Progress)] == [7]
    assert {"Started", "AllJobsCompleted"} <= {each.reason for each in news if isinstance(each, Event)}


def test_a_deadline_ends_a_job(workshop, job) -> None:
    name = workshop.jobs.create(job("sleep 60", activeDeadlineSeconds=1))
    with pytest.raises(JobFailed, match="TrainJob exceeded its active deadline"):
        workshop.jobs.wait(name, timeout=PATIENCE)
    assert workshop.left_behind() == []


def test_every_command_works_from_another_terminal(workshop, job, tmp_path: Path) -> None:
    environment = {"KFP_TRAINER_HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
    program = str(Path(sys.executable).with_name("kfp-trainer"))

    def command(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [program, *words], env=environment, capture_output=True, text=True, timeout=PATIENCE
        )

    file = tmp_path / "job.yaml"
    script = "echo hello; while [ ! -e $LEDGER.go ]; do sleep 0.05; done; exit 3"
    file.write_text("---\n".join(json.dumps(each) + "\n" for each in job(script)))
    assert command("run", "--detach", "-f", str(file)).stdout == "bert\n"
    waiting = time.monotonic()
    while "of 1 pods 1 run" not in command("describe", "bert").stdout:
        assert time.monotonic() - waiting < PATIENCE
    assert json.loads(command("get", "bert", "-o", "json").stdout)["status"]["startTime"]
    follows = [program, "logs", "-f", "bert"]
    with subprocess.Popen(follows, env=environment, stdout=subprocess.PIPE, text=True) as followed:
        assert followed.stdout and followed.stdout.readline() == "hello\n"
        (tmp_path / "ledger.go").touch()
        assert (followed.wait(PATIENCE), followed.stdout.read()) == (3, "")
    assert command("wait", "bert").returncode == 3
    assert "exit code 3" in command("get").stdout
    assert json.loads(command("describe", "bert", "-o", "json").stdout)["pods"][0]["exit"] == "node 3 (Error)"
    assert "Started" in command("events", "bert").stdout
    assert command("run", "-f", str(file)).returncode == 3
    assert command("delete", "bert").stdout == "bert: deleted\n"
    assert command("get", "bert").returncode == 2
