"""The trainer is found where people have put it, and upstream's way only where they did as upstream says."""

from __future__ import annotations

import pytest

from kfp_trainer.runtime_operator.errors import SpecError
from kfp_trainer.runtime_operator.render.steps import main_container, steps

STEP = "trainer.kubeflow.org/trainjob-ancestor-step"


def job(name, *containers, step="", pod_step=""):
    template = {"spec": {"containers": [{"name": each} for each in containers or ("node",)]}}
    if pod_step:
        template["metadata"] = {"labels": {STEP: pod_step}}
    outer = {"spec": {"template": template}}
    if step:
        outer["metadata"] = {"labels": {STEP: step}}
    return {"name": name, "template": outer}


STEPS = {
    # jobs, mpi: ours, upstream's
    "a label on the Job template": ([job("workers", step="trainer")], False, ["trainer"], ["trainer"]),
    "a label on the pod template": (
        [job("a"), job("b", pod_step="trainer")],
        False,
        ["", "trainer"],
        ["", ""],
    ),
    "a job called node": ([job("a"), job("node")], False, ["", "trainer"], ["", ""]),
    "a job called trainer-node": ([job("a"), job("trainer-node")], False, ["", "trainer"], ["", ""]),
    "the only job": ([job("train")], False, ["trainer"], [""]),
    "the only job, with two containers of which none is the main one": (
        [job("serve", "web", "db")],
        False,
        [""],
        [""],
    ),
    "two jobs that say nothing": ([job("a"), job("b")], False, ["", ""], ["", ""]),
    "no job": ([], False, [], []),
    "a label nobody knows": ([job("a", step="coffee"), job("b")], False, ["", ""], ["coffee", ""]),
    "initializers by name": (
        [job("dataset-initializer"), job("model-initializer"), job("n", step="trainer")],
        False,
        ["dataset-initializer", "model-initializer", "trainer"],
        ["", "", "trainer"],
    ),
    "initializers by label": (
        [job("fetch", step="dataset-initializer"), job("node")],
        False,
        ["dataset-initializer", "trainer"],
        ["dataset-initializer", ""],
    ),
    "an initializer alone trains nobody": ([job("model-initializer")], False, ["model-initializer"], [""]),
    "the launcher of MPI": ([job("node"), job("launcher")], True, ["", "trainer"], ["", ""]),
    "MPI without a launcher": ([job("node")], True, ["trainer"], [""]),
}


@pytest.mark.parametrize("sentence", STEPS)
def test_steps(sentence):
    jobs, mpi, ours, upstreams = STEPS[sentence]
    assert steps(jobs, mpi=mpi, upstream=False) == ours
    assert steps(jobs, mpi=mpi, upstream=True) == upstreams


MAIN = {
    # job, step, mpi: ours, upstream's
    "node": (job("w", "side", "node"), "trainer", False, "node", "node"),
    "trainer": (job("w", "side", "trainer"), "trainer", False, "trainer", "node"),
    "the only one": (job("w", "torch"), "trainer", False, "torch", "node"),
    "none": ({"name": "w"}, "trainer", False, "", "node"),
    "an initializer": (
        job("d", "x"),
        "dataset-initializer",
        False,
        "dataset-initializer",
        "dataset-initializer",
    ),
    "a job on the side": (job("side", "x"), "", False, "", "node"),
    "nodes of MPI": (job("node", "trainer"), "", True, "trainer", "node"),
    "a launcher of MPI": (job("launcher", "side", "mpi-launcher"), "trainer", True, "mpi-launcher", "node"),
    "a launcher that is no trainer": (job("launcher", "launcher"), "", True, "launcher", "node"),
    "a job beside MPI": (job("side", "x"), "", True, "", "node"),
}


@pytest.mark.parametrize("sentence", MAIN)
def test_main_container(sentence):
    one, step, mpi, ours, upstreams = MAIN[sentence]
    assert main_container(one, step, mpi=mpi, upstream=False) == ours
    assert main_container(one, step, mpi=mpi, upstream=True) == upstreams


def test_several_containers_and_none_is_the_main_one():
    with pytest.raises(SpecError, match=r"replicatedJobs\[w\].*cannot tell which container.*a, b"):
        main_container(job("w", "a", "b"), "trainer", mpi=False, upstream=False)
