"""What is written again, and what of a JobSet can still change."""

import pytest

from kfp_trainer.runtime_operator.controller.applied import covers, fitted, is_as_wanted

JOB = {"metadata": {"uid": "u"}}
OURS = [{"uid": "u", "controller": True}]


def jobset(*, owner="u", suspend=True, labels=None, metadata=None, pods=None, **container):
    pod = {"spec": {"containers": [{"name": "node", "image": "i", **container}], **(pods or {})}}
    if metadata:
        pod["metadata"] = metadata
    node = {"name": "node", "template": {"spec": {"parallelism": 1, "template": pod}}}
    owners = [{"uid": owner, "controller": True}] if owner else []
    return {
        "kind": "JobSet",
        "metadata": {"name": "bert", "labels": labels or {}, "ownerReferences": owners},
        "spec": {"suspend": suspend, "replicatedJobs": [node]},
    }


ZONE = {"nodeSelector": {"zone": "a"}}
# stored, wanted, whether nothing needs to be written
CASES = {
    "the same": (jobset(), jobset(), True),
    "defaults that a webhook filled in": (jobset(terminationMessagePath="/x"), jobset(), True),
    "a label of somebody else": (jobset(labels={"a": "b"}), jobset(), True),
    "a label of ours is missing": (jobset(), jobset(labels={"a": "b"}), False),
    "it is to go on": (jobset(), jobset(suspend=False), False),
    "a selector more": (jobset(), jobset(pods=ZONE), False),
    "a selector less": (jobset(pods=ZONE), jobset(), False),
    "an empty one is none": (jobset(pods={"tolerations": []}), jobset(), True),
    "an annotation of its pods": (jobset(), jobset(metadata={"annotations": {"a": "b"}}), False),
    "what can't change is no reason to write": (jobset(image="old"), jobset(image="new"), True),
    "nobody's": (jobset(owner=None), jobset(), False),
}


@pytest.mark.parametrize("sentence", CASES)
def test_jobsets(sentence):
    stored, wanted, want = CASES[sentence]
    assert is_as_wanted(stored, wanted, JOB) is want


def config_map(**data):
    return {"kind": "ConfigMap", "metadata": {"name": "hosts", "ownerReferences": OURS}, "data": data}


@pytest.mark.parametrize(
    ("stored", "want"),
    [(config_map(a="1"), True), (config_map(a="2"), False), (config_map(a="1", b="2"), False)],
    ids=["the same", "another value", "one too many"],
)
def test_config_maps(stored, want):
    assert is_as_wanted(stored, config_map(a="1"), JOB) is want


COVERS = {
    "fields of others": ({"a": 1, "b": 2}, {"a": 1}, True),
    "another value": ({"a": 1}, {"a": 2}, False),
    "a missing one": ({}, {"a": 1}, False),
    "nothing wanted of what is missing": ({}, {"a": {}, "b": []}, True),
    "false, which an API server leaves out": ({}, {"a": False, "b": 0}, True),
    "false where true stands": ({"a": True}, {"a": False}, False),
    "lists item by item": ({"a": [{"x": 1, "y": 2}]}, {"a": [{"x": 1}]}, True),
    "a longer list": ({"a": [1, 2]}, {"a": [1]}, False),
}


@pytest.mark.parametrize("sentence", COVERS)
def test_covers(sentence):
    stored, wanted, want = COVERS[sentence]
    assert covers(stored, wanted) is want


def test_a_jobset_is_sent_back_as_it_stands_but_for_what_may_change():
    stored = jobset(
        image="old",
        metadata={"labels": {"gone": "yes"}},
        pods={"nodeSelector": {"gone": "yes"}, "tolerations": [{"key": "gone"}], "dnsPolicy": "Default"},
    )
    wanted = jobset(
        image="new",
        suspend=False,
        metadata={"labels": {"a": "b"}},
        pods={**ZONE, "schedulingGates": [{"name": "g"}]},
    )
    got = fitted(stored, wanted)
    assert got["spec"]["suspend"] is False
    pod = got["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]
    assert pod["metadata"] == {"labels": {"a": "b"}}
    assert pod["spec"] == {
        "containers": [{"name": "node", "image": "old"}],
        "dnsPolicy": "Default",
        "nodeSelector": {"zone": "a"},
        "schedulingGates": [{"name": "g"}],
    }


def test_a_job_that_the_stored_jobset_lacks_is_not_added():
    stored, wanted = jobset(), jobset()
    wanted["spec"]["replicatedJobs"] = [*wanted["spec"]["replicatedJobs"], {"name": "new"}]
    assert [each["name"] for each in fitted(stored, wanted)["spec"]["replicatedJobs"]] == ["node"]
