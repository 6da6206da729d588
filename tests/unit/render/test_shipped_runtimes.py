"""Every runtime we ship is accepted without a word, and becomes a JobSet that the real CRD accepts."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from kfp_trainer.runtime_operator.api import check, check_runtime, read
from kfp_trainer.runtime_operator.images import IMAGES, REGISTRY
from kfp_trainer.runtime_operator.render.admission import admit
from kfp_trainer.runtime_operator.render.facts import Facts
from tests.real_jobset import refusals

FOLDER = Path(__file__).parents[3] / "manifests" / "runtimes"
FILES = {path.stem: path for path in sorted(FOLDER.glob("*.yaml")) if path.stem != "kustomization"}
DOCUMENTS = {name: yaml.safe_load(path.read_text()) for name, path in FILES.items()}
UPSTREAMS = {
    "deepspeed-distributed",
    "flux-distributed",
    "jax-distributed",
    "mlx-distributed",
    "torch-distributed",
    "torch-distributed-with-cache",
    "torchtune-llama3.2-1b",
    "torchtune-llama3.2-3b",
    "torchtune-qwen2.5-1.5b",
    "xgboost-distributed",
}
KEYS = Facts(keys={"ssh-privatekey": "a", "ssh-publickey": "b", "curve-cert": "c"})


def test_all_of_upstreams_and_ours():
    assert set(DOCUMENTS) == {*UPSTREAMS, "trl-finetune"}
    for name, document in DOCUMENTS.items():
        assert document["metadata"]["name"] == name
        assert document["metadata"]["labels"]["trainer.kubeflow.org/framework"]


@pytest.mark.parametrize("name", DOCUMENTS)
@pytest.mark.parametrize("compat", [None, "upstream"])
def test_accepted_without_a_word(name, compat):
    checked = check(DOCUMENTS[name], compat=compat)
    ruled = check_runtime(checked.stored, compat=compat)
    assert (checked.errors, checked.unknown_fields, ruled.errors) == ((), (), ())
    assert (checked.warnings, ruled.warnings) == ((), ())


@pytest.mark.parametrize("nodes", [1, 2])
@pytest.mark.parametrize("name", DOCUMENTS)
def test_becomes_a_jobset(name, nodes, world):
    if name.startswith("torchtune"):
        nodes = 1
    trainer = {"numNodes": nodes, "command": ["python", "train.py"]}
    stored = check(world.train_job(runtime=name, trainer=trainer)).stored
    job, runtime = read(stored), read(check(DOCUMENTS[name]).stored)
    assert admit(job, runtime, KEYS).errors == ()
    plan = world.plan_of(DOCUMENTS[name], stored, facts=KEYS)
    assert refusals(world.jobset_of(plan)) == []
    assert sum(each.count for each in plan.pod_sets if not each.step.endswith("initializer")) == nodes


def test_our_images_are_those_of_the_table():
    text = "\n".join(path.read_text() for path in FILES.values())
    ours = set(re.findall(rf"image: ({re.escape(REGISTRY)}/\S+)", text))
    assert ours
    assert ours <= set(IMAGES.values())


def test_kustomize_installs_all_but_the_cache():
    listed = yaml.safe_load((FOLDER / "kustomization.yaml").read_text())["resources"]
    assert {Path(each).stem for each in listed} == set(FILES) - {"torch-distributed-with-cache"}


def test_the_cache_runtime_takes_a_dataset(world):
    name = "torch-distributed-with-cache"
    initializer = {"dataset": {"storageUri": "cache://schema/table"}}
    job = read(world.train_job(runtime=name, initializer=initializer))
    assert admit(job, read(DOCUMENTS[name])).errors == ()
