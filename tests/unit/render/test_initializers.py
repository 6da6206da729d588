"""Initializers fetch what the job wants, with its credentials."""

from __future__ import annotations

import pytest

SOURCES = {
    # what the job says: env and envFrom of the container
    "nothing": (None, {"STORAGE_URI": "hf://old"}, [{"secretRef": {"name": "a"}}]),
    "a URI": ({"storageUri": "hf://new"}, {"STORAGE_URI": "hf://new"}, [{"secretRef": {"name": "a"}}]),
    "an empty URI": ({"storageUri": ""}, {"STORAGE_URI": ""}, [{"secretRef": {"name": "a"}}]),
    "env": (
        {"env": [{"name": "X", "value": "1"}]},
        {"STORAGE_URI": "hf://old", "X": "1"},
        [{"secretRef": {"name": "a"}}],
    ),
    "env that beats the URI": (
        {"storageUri": "hf://new", "env": [{"name": "STORAGE_URI", "value": "hf://env"}]},
        {"STORAGE_URI": "hf://env"},
        [{"secretRef": {"name": "a"}}],
    ),
    "a Secret": (
        {"secretRef": {"name": "b"}},
        {"STORAGE_URI": "hf://old"},
        [{"secretRef": {"name": "a"}}, {"secretRef": {"name": "b"}}],
    ),
}


def runtime_with(world, name, step):
    main = "model-initializer"
    container = {
        "name": main,
        "env": [{"name": "STORAGE_URI", "value": "hf://old"}],
        "envFrom": [{"secretRef": {"name": "a"}}],
    }
    fetch = world.replicated_job(name, step=step, container=container)
    return world.runtime_of({"torch": {}}, fetch, world.replicated_job())


@pytest.mark.parametrize("compat", [None, "upstream"])
@pytest.mark.parametrize("sentence", SOURCES)
def test_sources(sentence, compat, world):
    source, env, env_from = SOURCES[sentence]
    runtime = runtime_with(world, "fetch", "model-initializer")
    plan = world.plan_of(
        runtime, world.train_job(initializer={"model": source} if source else {}), compat=compat
    )
    assert world.env_of(plan, "model-initializer", "fetch") == env
    assert world.container_of(plan, "model-initializer", "fetch")["envFrom"] == env_from


def test_by_name(world):
    runtime = runtime_with(world, "model-initializer", "")
    job = world.train_job(initializer={"model": {"storageUri": "hf://new"}}, trainer={})
    for compat, want in ((None, "hf://new"), ("upstream", "hf://old")):
        plan = world.plan_of(runtime, job, compat=compat)
        assert world.env_of(plan, "model-initializer", "model-initializer")["STORAGE_URI"] == want


def test_a_secret_where_there_was_none(world):
    fetch = world.replicated_job("d", step="dataset-initializer")
    job = world.train_job(initializer={"dataset": {"secretRef": {"name": "b"}}})
    plan = world.plan_of(world.runtime_of({"torch": {}}, fetch, world.replicated_job()), job)
    made = world.container_of(plan, "dataset-initializer", "d")
    assert made["envFrom"] == [{"secretRef": {"name": "b"}}]
    assert "env" not in made


def test_an_initializer_without_its_container_stays(world):
    fetch = world.replicated_job("d", step="dataset-initializer", container={"name": "x"})
    job = world.train_job(initializer={"dataset": {"storageUri": "hf://new"}})
    plan = world.plan_of(world.runtime_of({"torch": {}}, fetch, world.replicated_job()), job)
    assert world.env_of(plan, "x", "d") == {}


def test_upstream_copies_the_env_it_knows(world):
    env = [{"name": "K", "valueFrom": {"fileKeyRef": {"key": "k"}}}]
    runtime = runtime_with(world, "fetch", "model-initializer")
    for compat, want in ((None, env[0]["valueFrom"]), ("upstream", {})):
        plan = world.plan_of(runtime, world.train_job(initializer={"model": {"env": env}}), compat=compat)
        assert world.container_of(plan, "model-initializer", "fetch")["env"][-1]["valueFrom"] == want
