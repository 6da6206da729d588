"""Older habits in a template are put right once, and nothing else is touched."""

from __future__ import annotations

import pytest

from kfp_trainer.runtime_operator.render.template import modern_spec


def spec(*containers, init=()):
    pod = {"containers": list(containers)}
    if init:
        pod["initContainers"] = list(init)
    job = {"name": "node", "template": {"spec": {"template": {"spec": pod}}}}
    return {"network": {}, "replicatedJobs": [{"name": "other"}, job]}


def first(made, key="containers"):
    return made["replicatedJobs"][1]["template"]["spec"]["template"]["spec"][key][0]


GPU = {"nvidia.com/gpu": 2}
CHANGED = {
    "a command in one string": ({"command": ["torchrun train.py"]}, {"command": ["torchrun", "train.py"]}),
    "a GPU that is only requested": (
        {"resources": {"requests": {**GPU, "cpu": 1}}},
        {"resources": {"requests": {**GPU, "cpu": 1}, "limits": GPU}},
    ),
}


@pytest.mark.parametrize("sentence", CHANGED)
@pytest.mark.parametrize("key", ["containers", "initContainers"])
def test_changed(sentence, key):
    given, want = CHANGED[sentence]
    document = spec(given) if key == "containers" else spec({"image": "i"}, init=[given])
    before = repr(document)
    assert first(modern_spec(document), key) == want
    assert repr(document) == before


SAME = {
    "words": {"command": ["torchrun", "train.py"]},
    "a shell's line": {"command": ["torchrun train.py && sync"]},
    "a GPU with its limit": {"resources": {"requests": GPU, "limits": {"nvidia.com/gpu": 2}}},
    "CPUs that are only requested": {"resources": {"requests": {"cpu": 1}}},
    "nothing said": {"image": "i"},
}


@pytest.mark.parametrize("sentence", SAME)
def test_shared(sentence):
    document = spec(SAME[sentence])
    assert modern_spec(document) is document


def test_no_jobs():
    assert modern_spec({}) == {}
