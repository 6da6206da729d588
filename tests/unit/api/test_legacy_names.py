from __future__ import annotations

import pytest

from kfp_trainer.runtime_operator.api.legacy_names import (
    is_extended,
    launcher_container,
    launcher_job,
    limits_from_requests,
    limits_notice,
    split_command,
    stale_master_address,
    trainer_container,
    trainer_job,
)
from kfp_trainer.runtime_operator.errors import SpecError

LABEL = "trainer.kubeflow.org/trainjob-ancestor-step"

COMMANDS = {
    "words stay words": (["torchrun", "train.py"], None),
    "one word is one word": (["train.sh"], None),
    "no command": ([], None),
    "a word with blanks around it": ([" torchrun "], None),
    "something that is no string": ([7], None),
    "a whole line of torchrun": (["torchrun train.py --lr=1e-3"], ["torchrun", "train.py", "--lr=1e-3"]),
    "a tab separates too": (["python3\tx.py"], ["python3", "x.py"]),
    "a program we do not know": (["my prog"], ["my prog"]),
    "what only a shell understands": (["python train.py && echo done"], ["python train.py && echo done"]),
    "a variable": (["torchrun $X"], ["torchrun $X"]),
    "quotes": (["python -c 'x'"], ["python -c 'x'"]),
    "an env before the program": (["A=1 python x.py"], ["A=1 python x.py"]),
}


@pytest.mark.parametrize("sentence", COMMANDS)
def test_a_line_in_one_string_is_split_only_where_that_is_safe(sentence):
    given, want = COMMANDS[sentence]
    words, warning = split_command(given, path="spec.trainer.command")
    if want is None:
        assert words is given
        assert warning is None
    else:
        assert list(words) == want
        assert warning.startswith(f"CommandSplit: spec.trainer.command: {given[0]!r}")


def _job(name, *, job_label=None, pod_label=None):
    return {
        "name": name,
        "template": {
            "metadata": {"labels": {LABEL: job_label} if job_label else {}},
            "spec": {"template": {"metadata": {"labels": {LABEL: pod_label} if pod_label else {}}}},
        },
    }


TRAINERS = {
    "the label of the Job template": ([_job("a"), _job("b", job_label="trainer")], (1,), None),
    "two jobs with the label": (
        [_job("a", job_label="trainer"), _job("b", job_label="trainer")],
        (0, 1),
        None,
    ),
    "another step's label is none": (
        [_job("node", job_label="dataset-initializer"), _job("b", job_label="trainer")],
        (1,),
        None,
    ),
    "the label of the pod template": (
        [_job("node"), _job("b", pod_label="trainer")],
        (1,),
        "[1].template.spec.template.metadata.labels: taken from the pod template for 'b'",
    ),
    "the job called node": ([_job("a"), _job("node")], (1,), "[1]: 'node' is taken for the trainer"),
    "the job called trainer-node": ([_job("a"), _job("trainer-node")], (1,), "[1]: 'trainer-node' is taken"),
    "the only job": ([_job("a")], (0,), "[0]: 'a' is taken for the trainer"),
    "several jobs and no sign": ([_job("a"), _job("b")], (), None),
    "no jobs": (None, (), None),
}


@pytest.mark.parametrize("sentence", TRAINERS)
def test_the_job_that_trains_is_found_by_label_then_by_name(sentence):
    jobs, indices, warning = TRAINERS[sentence]
    found = trainer_job(jobs)
    assert found.indices == indices
    assert found.index == (indices[0] if indices else None)
    if warning is None:
        assert found.warning is None
    else:
        assert found.warning.startswith(f"TrainerJobGuessed: spec.template.spec.replicatedJobs{warning}")


def test_the_launcher_is_found_by_name():
    assert launcher_job([{"name": "node"}, {"name": "mpi-launcher"}, {"name": "launcher"}]) == 2
    assert launcher_job([{"name": "node"}, {"name": "mpi-launcher"}]) == 1
    assert launcher_job([{"name": "node"}]) is None


CONTAINERS = {
    "node beside others": (trainer_container, ["proxy", "node"], 1, None),
    "trainer as once": (trainer_container, ["proxy", "trainer"], 1, "containers[1].name: 'trainer'"),
    "the only one": (trainer_container, ["main"], 0, "containers[0].name: 'main'"),
    "none at all": (trainer_container, [], None, None),
    "node of a launcher": (launcher_container, ["launcher", "node"], 1, None),
    "mpi-launcher": (launcher_container, ["x", "mpi-launcher"], 1, "containers[1].name: 'mpi-launcher'"),
}


@pytest.mark.parametrize("sentence", CONTAINERS)
def test_the_main_container_is_found_by_name(sentence):
    find, names, index, warning = CONTAINERS[sentence]
    found = find({"containers": [{"name": name} for name in names]}, path="p")
    assert found.index == index
    assert (found.warning or "").startswith(f"ContainerName: p.{warning}" if warning else "")
    assert (found.warning is None) == (warning is None)


def test_several_containers_and_no_sign_are_refused_with_the_list():
    with pytest.raises(
        SpecError, match=r"p.containers: cannot tell which .* got a, b: name one of them node"
    ):
        trainer_container({"containers": [{"name": "a"}, {"name": "b"}]}, path="p")


def test_devices_that_are_requested_only_are_limited_too():
    resources = {"requests": {"nvidia.com/gpu": 2, "cpu": 1, "acme.io/nic": 1}, "limits": {"acme.io/nic": 1}}
    limited, missing = limits_from_requests(resources)
    assert limited == resources | {"limits": {"acme.io/nic": 1, "nvidia.com/gpu": 2}}
    assert missing == ("nvidia.com/gpu",)
    assert resources["limits"] == {"acme.io/nic": 1}
    assert limits_notice(missing, path="x").startswith(
        "LimitsFromRequests: x.requests: nvidia.com/gpu requested"
    )
    whole = {"requests": {"cpu": 1}}
    assert limits_from_requests(whole)[0] is whole


@pytest.mark.parametrize(
    ("resource", "extended"),
    [
        ("nvidia.com/gpu", True),
        ("nvidia.com/mig-1g.5gb", True),
        ("cpu", False),
        ("hugepages-2Mi", False),
        ("kubernetes.io/x", False),
        ("node.kubernetes.io/x", False),
        ("requests.nvidia.com/gpu", False),
    ],
)
def test_devices_are_told_by_their_names(resource, extended):
    assert is_extended(resource) is extended


@pytest.mark.parametrize(
    ("value", "stale"),
    [
        ("pytorch-node-0-0.pytorch", True),
        ("bert-node-0-0.bert", False),
        ("head.example.com", False),
        ("a-node-0-0.b", False),
        (None, False),
    ],
)
def test_an_address_of_another_jobs_node_is_stale(value, stale):
    assert stale_master_address(value, job="bert") is stale
