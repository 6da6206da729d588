"""What keeps pods from running."""

import pytest

from kfp_trainer.runtime_operator.controller.pod_view import PodView, Trouble
from kfp_trainer.runtime_operator.controller.trouble import trouble_of


def pod(name, reason=None, message="", container="", image="", node=""):
    trouble = reason and Trouble(reason, message, container, image)
    return PodView(name, "bert", "u", node or ("gpu-1" if container else ""), "Pending", 0, trouble, ())


CASES = {
    "no pods": ([], [], None),
    "pods without trouble": ([pod("a")], [], None),
    "a refusal counts before the pods there are": (
        [pod("a", "Unschedulable", "m")],
        ["exceeded quota"],
        "its pods are refused: exceeded quota",
    ),
    "one without room": (
        [pod("a"), pod("b", "Unschedulable", "0/3 nodes")],
        [],
        "pod b cannot be placed: 0/3 nodes",
    ),
    "several alike": (
        [pod("c", "Unschedulable", "m"), pod("b", "Unschedulable", "m")],
        [],
        "pod b (and 1 more) cannot be placed: m",
    ),
    "an image says more than a scheduler": (
        [pod("a", "Unschedulable", "m"), pod("b", "ImagePullBackOff", "no such manifest", "node", "x:1")],
        [],
        "pod b on node gpu-1, container node: ImagePullBackOff of x:1: no such manifest; "
        "check the image's name, its registry and imagePullSecrets",
    ),
    "the image is not told twice": (
        [pod("b", "ImagePullBackOff", "pulling x:1", "node", "x:1")],
        [],
        "pod b on node gpu-1, container node: ImagePullBackOff: pulling x:1; "
        "check the image's name, its registry and imagePullSecrets",
    ),
    "a member without room says more than those that wait for it": (
        [
            pod("a", "Schedulable", "fits once minAvailable is satisfied"),
            pod("b", "Unschedulable", "0/7 nodes"),
        ],
        [],
        "pod b cannot be placed: 0/7 nodes",
    ),
    "members that would fit": (
        [pod("a", "Schedulable", "fits once minAvailable is satisfied"), pod("b", "Schedulable")],
        [],
        "pod a (and 1 more) waits for room for the rest of its gang",
    ),
    "a node that is lost": (
        [pod("b", "DeletionByTaintManager", "the node does not answer", node="gpu-3")],
        [],
        "pod b on node gpu-3 is ended from outside: DeletionByTaintManager: the node does not answer",
    ),
    "gates": ([pod("b", "SchedulingGated")], [], "pod b is held back by its scheduling gates"),
    "another word of a scheduler": ([pod("b", "Odd", "m")], [], "pod b is not placed: Odd: m"),
    "a secret that is not there": (
        [pod("b", "CreateContainerConfigError", 'secret "x" not found', "node")],
        [],
        'pod b on node gpu-1, container node: CreateContainerConfigError: secret "x" not found; '
        "create the Secret or ConfigMap that it names",
    ),
}


@pytest.mark.parametrize("sentence", CASES)
def test_trouble_of(sentence):
    pods, refusals, want = CASES[sentence]
    assert trouble_of(pods, refusals) == want
