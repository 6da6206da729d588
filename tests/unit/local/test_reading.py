import pytest

from kfp_trainer.runtime_operator.errors import SpecError
from kfp_trainer.runtime_operator.local.folder import JobFolder
from kfp_trainer.runtime_operator.local.reading import STEP, Tails, first_place, role_places


class Logs:
    """Writes logs as launchers do."""

    def __init__(self, path) -> None:
        self.folder = JobFolder(path)
        self._second = 0

    def add(self, pod: str, *lines: str, container: str = "node", run: int = 0, tag: str = "F") -> None:
        path = self.folder.pod(pod) / "containers" / container / str(run) / "log"
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a") as file:
            for line in lines:
                self._second += 1
                file.write(f"2026-01-01T00:00:{self._second:02d}Z stdout {tag} {line}\n")


@pytest.fixture
def logs(tmp_path):
    return Logs(tmp_path)


def texts(tails: Tails) -> list[str]:
    return [line.text for line in tails.more()]


def test_lines_come_once_in_the_order_of_time(logs):
    tails = Tails(logs.folder)
    logs.add("bert-node-0-0-aaaaa", "one")
    logs.add("bert-node-0-1-bbbbb", "two")
    assert texts(tails) == ["one", "two"]
    logs.add("bert-node-0-0-aaaaa", "three")
    assert texts(tails) == ["three"]
    assert texts(tails) == []


def test_pods_of_one_place_follow_each_other(logs):
    logs.add("bert-node-0-0-aaaaa", "before")
    logs.add("bert-node-0-0-ccccc", "after the restart")
    logs.add("bert-node-0-1-bbbbb", "another")
    assert texts(Tails(logs.folder, ["bert-node-0-0"])) == ["before", "after the restart"]
    assert texts(Tails(logs.folder, ["bert-node-0-1-bbbbb"])) == ["another"]


def test_one_container_of_several(logs):
    logs.add("bert-node-0-0-aaaaa", "train")
    logs.add("bert-node-0-0-aaaaa", "watch", container="sidecar")
    assert texts(Tails(logs.folder, container="sidecar")) == ["watch"]


def test_parts_of_a_long_line_are_joined(logs):
    logs.add("bert-node-0-0-aaaaa", "begin ", tag="P")
    logs.add("bert-node-0-0-aaaaa", "end")
    assert texts(Tails(logs.folder)) == ["begin end"]


def jobset(*names: str, trainer: str = "") -> dict:
    def labels(name: str) -> dict:
        return {"metadata": {"labels": {STEP: "trainer"} if name == trainer else {}}}

    jobs = [{"name": name, "template": labels(name)} for name in names]
    return {"metadata": {"name": "bert"}, "spec": {"replicatedJobs": jobs}}


SPEAKERS = {
    "the trainer": (jobset("data", "node", "more", trainer="node"), "bert-node-0-0"),
    "the launcher of MPI": (jobset("node", "launcher", trainer="node"), "bert-launcher-0-0"),
    "the last where none is the trainer": (jobset("a", "b"), "bert-b-0-0"),
}


@pytest.mark.parametrize("sentence", SPEAKERS)
def test_who_speaks_for_a_job(sentence):
    document, expected = SPEAKERS[sentence]
    assert first_place(document) == expected


ROLES = {
    "tfjob-chief-0-0": ("Chief", 1, 1, "tfjob"),
    "tfjob-worker-0-0 tfjob-worker-1-0": ("worker", 2, 1, "tfjob"),
    "bert-node-0-0 bert-node-0-1": ("node", 1, 2, "bert"),
}


@pytest.mark.parametrize("expected", ROLES)
def test_the_places_of_a_role(expected):
    role, replicas, completions, name = ROLES[expected]
    spec = {"completions": completions, "template": {"spec": {}}}
    jobs = [
        {"name": "other", "template": {"spec": spec}},
        {"name": role.lower(), "replicas": replicas, "template": {"spec": spec}},
    ]
    document = {"metadata": {"name": name}, "spec": {"replicatedJobs": jobs}}
    assert role_places(document, role) == expected.split()
    with pytest.raises(SpecError, match=f"--role: must be one of other, {role.lower()}, got 'launcher'"):
        role_places(document, "launcher")


def test_a_role_of_two_replicated_jobs_is_one(logs):
    labels = {"training.kubeflow.org/replica-type": "worker"}
    template = {"spec": {"template": {"metadata": {"labels": labels}}}}
    jobs = [
        {"name": "worker", "template": template},
        {"name": "worker-n", "replicas": 2, "template": template},
    ]
    document = {"metadata": {"name": "paddle"}, "spec": {"replicatedJobs": jobs}}
    places = ["paddle-worker-0-0", "paddle-worker-n-0-0", "paddle-worker-n-1-0"]
    assert role_places(document, "worker") == places
    logs.add("paddle-worker-n-1-0-aaaaa", "mine")
    logs.add("paddle-master-0-0-bbbbb", "another")
    assert texts(Tails(logs.folder, places)) == ["mine"]
