"""A job runs on the runtime it first met."""

from __future__ import annotations

import pytest
import yaml

from kfp_trainer.runtime_operator.errors import Retryable, SpecError
from kfp_trainer.runtime_operator.render.facts import Facts

POLICY = {"torch": {}, "numNodes": 2}


def held(text, *, uid="uid-1", **owner):
    owners = [{"kind": "TrainJob", "name": "bert", "uid": uid, "controller": True, **owner}]
    data = {} if text is None else {"runtime": text}
    config = {
        "kind": "ConfigMap",
        "metadata": {"name": "bert-runtime-snapshot", "ownerReferences": owners},
        "data": data,
    }
    return Facts(existing={("ConfigMap", "bert-runtime-snapshot"): config})


def test_the_first_plan_writes_the_whole_runtime_down(world):
    runtime = world.runtime_of(POLICY)
    runtime["metadata"] |= {"resourceVersion": "7", "managedFields": [{"manager": "kubectl"}]}
    snapshot = world.plan_of(runtime, world.train_job()).objects[0]
    assert snapshot["metadata"]["name"] == "bert-runtime-snapshot"
    del runtime["metadata"]["managedFields"]
    assert yaml.safe_load(snapshot["data"]["runtime"]) == runtime


def test_what_stands_twice_is_written_twice(world):
    mounts = [{"name": "v", "mountPath": "/v"}]
    jobs = [world.replicated_job(container={"volumeMounts": mounts})]
    jobs.append(world.replicated_job("side", step="", container={"volumeMounts": mounts}))
    text = world.plan_of(world.runtime_of(POLICY, *jobs), world.train_job()).objects[0]["data"]["runtime"]
    assert "&" not in text
    assert text.count("mountPath: /v") == 2


def test_upstreams_snapshot_forgets_zeros(world):
    runtime = world.runtime_of(POLICY, spec={"failurePolicy": {"maxRestarts": 0}})
    for compat, want in ((None, {"maxRestarts": 0}), ("upstream", {})):
        text = world.plan_of(runtime, world.train_job(), compat=compat).objects[0]["data"]["runtime"]
        assert yaml.safe_load(text)["spec"]["template"]["spec"]["failurePolicy"] == want


def test_a_later_plan_is_the_same_whatever_became_of_the_runtime(world):
    first = world.plan_of(world.runtime_of(POLICY), world.train_job())
    facts = held(first.objects[0]["data"]["runtime"])
    changed = world.runtime_of({"torch": {}, "numNodes": 9})
    assert world.plan_of(changed, world.train_job(), facts=facts) == first
    assert world.plan_of(None, world.train_job(), facts=facts) == first


def test_a_snapshot_of_an_older_file_is_understood(world):
    runtime = world.runtime_of({"torch": {"numProcPerNode": 4}}, version="v2alpha1")
    first = world.plan_of(runtime, world.train_job())
    facts = held(first.objects[0]["data"]["runtime"])
    assert world.plan_of(None, world.train_job(), facts=facts) == first
    assert world.env_of(first)["PET_NPROC_PER_NODE"] == "4"


GOOD = """
apiVersion: trainer.kubeflow.org/v1alpha1
kind: ClusterTrainingRuntime
metadata: {name: rt}
spec: {}
"""
REFUSED = {
    "of another owner": (
        held(GOOD, uid="other"),
        "a snapshot configmap exists but is owned by another object",
    ),
    "of an owner that is no controller": (
        held(GOOD, controller=False),
        "a snapshot configmap exists but is owned by another object",
    ),
    "without a runtime": (held(None), 'snapshot ConfigMap missing "runtime" data key'),
    "of broken YAML": (held("{a: "), "unable to unmarshal the snapshot: while parsing"),
    "of a list": (held("[1]"), "unable to unmarshal the snapshot: it holds no object"),
    "of a TrainJob": (
        held(GOOD.replace("ClusterTrainingRuntime", "TrainJob").replace("{}", "{runtimeRef: {name: a}}")),
        "it holds a TrainJob, not a runtime",
    ),
    "of another runtime": (
        held(GOOD.replace("name: rt", "name: old")),
        "the snapshot refers to the wrong runtime: expecting a runtime with name, api group and kind of "
        '"rt", "trainer.kubeflow.org", "ClusterTrainingRuntime" but found runtime with name, api group and '
        'kind of "old", "trainer.kubeflow.org", "ClusterTrainingRuntime"',
    ),
}


@pytest.mark.parametrize("sentence", REFUSED)
def test_refused(sentence, world):
    facts, want = REFUSED[sentence]
    with pytest.raises(SpecError) as caught:
        world.plan_of(world.runtime_of(POLICY), world.train_job(), facts=facts)
    assert str(caught.value).startswith(f"invalid runtime snapshot: {want}")


def test_neither_runtime_nor_snapshot(world):
    with pytest.raises(Retryable, match=r"spec\.runtimeRef: ClusterTrainingRuntime 'rt' is not found"):
        world.plan_of(None, world.train_job())


UNSERVED = {
    "a kind of another project": {"name": "rt", "kind": "Recipe"},
    "a group of another project": {"name": "rt", "apiGroup": "acme.io"},
}


@pytest.mark.parametrize("sentence", UNSERVED)
def test_a_runtime_that_nobody_serves_will_never_come(sentence, world):
    job = world.train_job()
    job["spec"]["runtimeRef"] = UNSERVED[sentence]
    with pytest.raises(SpecError, match=r"spec\.runtimeRef: nobody serves"):
        world.plan_of(None, job)
