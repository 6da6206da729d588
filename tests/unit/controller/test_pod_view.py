"""What is remembered of a pod."""

import pytest

from kfp_trainer.runtime_operator.controller.pod_view import Death, view

LABELS = {
    "jobset.sigs.k8s.io/jobset-name": "bert",
    "jobset.sigs.k8s.io/jobset-uid": "u",
    "jobset.sigs.k8s.io/restart-attempt": "2",
}


def pod(**status):
    container = {"name": "node", "image": "a/b:1", "resources": {"limits": {"memory": "64Gi"}}}
    return {
        "metadata": {"name": "p", "namespace": "lab", "labels": LABELS},
        "spec": {"nodeName": "gpu-1", "containers": [container]},
        "status": status,
    }


def container(name="node", **states):
    return {"name": name, **states}


def ended(code, **more):
    return {"terminated": {"exitCode": code, **more}}


def test_it_knows_where_it_belongs():
    seen = view(pod(phase="Running"))
    assert (seen.name, seen.job, seen.job_uid, seen.node, seen.attempt) == ("p", "bert", "u", "gpu-1", 2)
    assert seen.trouble is None and seen.deaths == ()


UNPLACED = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/3 nodes"}
TROUBLES = {
    "the scheduler has no room": ({"conditions": [UNPLACED]}, ("Unschedulable", "0/3 nodes", "", "")),
    "an image that cannot be pulled": (
        {"containerStatuses": [container(state={"waiting": {"reason": "ErrImagePull", "message": "m"}})]},
        ("ImagePullBackOff", "m", "node", "a/b:1"),
    ),
    "a container that is being made": (
        {"containerStatuses": [container(state={"waiting": {"reason": "ContainerCreating"}})]},
        None,
    ),
    "a pod whose node is lost": (
        {"phase": "Running", "conditions": [{**UNPLACED, "type": "DisruptionTarget", "status": "True"}]},
        ("Unschedulable", "0/3 nodes", "", ""),
    ),
    "a pod that has failed": ({"phase": "Failed", "conditions": [UNPLACED]}, None),
    "a pod that is placed": ({"conditions": [{**UNPLACED, "status": "True"}]}, None),
}


@pytest.mark.parametrize("sentence", TROUBLES)
def test_trouble(sentence):
    status, want = TROUBLES[sentence]
    got = view(pod(**status)).trouble
    assert (got and (got.reason, got.message, got.container, got.image)) == want


GONE = {"type": "DisruptionTarget", "status": "True", "reason": "DeletionByTaintManager", "message": "lost"}
DEATHS = {
    "a container that ended well": ({"containerStatuses": [container(state=ended(0))]}, []),
    "one that ended badly, with its memory": (
        {"containerStatuses": [container(state=ended(137, reason="OOMKilled", finishedAt="t"))]},
        [("node", 137, "OOMKilled", "64Gi", False)],
    ),
    "one that runs again": (
        {"containerStatuses": [container(lastState=ended(1, reason="Error"), state={"running": {}})]},
        [("node", 1, "Error", "64Gi", True)],
    ),
    "an init container": (
        {"initContainerStatuses": [container("fetch", state=ended(2, reason="Error"))]},
        [("fetch", 2, "Error", "", False)],
    ),
    "a node that was lost": ({"conditions": [GONE]}, [("", None, "DeletionByTaintManager", "", False)]),
    "an eviction, which ends its containers too": (
        {
            "phase": "Failed",
            "reason": "Evicted",
            "containerStatuses": [container(state=ended(137, reason="Error"))],
        },
        [("", None, "Evicted", "", False), ("node", 137, "Error", "64Gi", False)],
    ),
}


@pytest.mark.parametrize("sentence", DEATHS)
def test_deaths(sentence):
    status, want = DEATHS[sentence]
    got = view(pod(**status)).deaths
    assert [(one.container, one.exit_code, one.reason, one.memory, one.is_restarted) for one in got] == want


def test_of_a_message_the_end_is_kept():
    status = container(state=ended(1, message="x" * 5000 + "end"))
    (death,) = view(pod(containerStatuses=[status])).deaths
    assert isinstance(death, Death)
    assert len(death.message) == 1000 and death.message.endswith("end")
