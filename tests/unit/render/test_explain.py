"""A plan, retold."""

from dataclasses import asdict
from types import SimpleNamespace

import pytest

from kfp_trainer.runtime_operator.render.draw import draw
from kfp_trainer.runtime_operator.render.explain import explain
from kfp_trainer.runtime_operator.render.plan import Gang, Plan, PodSet

JOB = {
    "metadata": {"name": "bert", "namespace": "lab"},
    "spec": {"runtimeRef": {"kind": "ClusterTrainingRuntime", "name": "torch"}},
}
FETCH = {
    "name": "dataset-initializer",
    "image": "fetch:1",
    "envFrom": [{"secretRef": {"name": "hf"}}],
    "env": [{"name": "STORAGE_URI", "value": "hf://a/b"}],
    "volumeMounts": [{"name": "ws", "mountPath": "/workspace"}],
}
TRAIN = {
    "name": "node",
    "image": "train:1",
    "command": ["torchrun"],
    "args": ["train.py", "--note=two words"],
    "env": [{"name": "PET_NNODES", "value": "2"}, {"name": "EMPTY"}],
    "ports": [{"containerPort": 29500}],
    "volumeMounts": [
        {"name": "ws", "mountPath": "/workspace", "readOnly": True},
        {"name": "scratch", "mountPath": "/tmp/s", "subPathExpr": "$(INDEX)"},
        {"name": "gone", "mountPath": "/gone", "subPath": "a"},
    ],
}
PROXY = {"name": "proxy", "image": "proxy:1", "restartPolicy": "Always"}
SETUP = {"name": "setup", "image": "setup:1"}


def rjob(name, *containers, first=(), depends=(), volumes=()):
    pod = {"containers": list(containers), "initContainers": list(first), "volumes": list(volumes)}
    edges = [{"name": other, "status": status} for other, status in depends]
    return {"name": name, "dependsOn": edges, "template": {"spec": {"template": {"spec": pod}}}}


def jobset(*rjobs, suspend=False, claims=True):
    template = {"metadata": {"name": "ws"}, "spec": {"resources": {"requests": {"storage": "20Gi"}}}}
    policies = [{"templates": [template]}] if claims else []
    spec = {"replicatedJobs": list(rjobs), "suspend": suspend, "volumeClaimPolicies": policies}
    return {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": "bert"},
        "spec": spec,
    }


def hosts(name, count):
    return tuple(f"bert-{name}-0-{index}.bert" for index in range(count))


def plan(*objects, sets, gang=None, decisions=(), warnings=()):
    told = SimpleNamespace(
        gang=gang,
        warnings=warnings,
        decisions=decisions,
        pod_sets=lambda: tuple(sets),
        endpoints=lambda: {each.name: hosts(each.name, each.count) for each in sets},
    )
    return Plan(tuple(objects), told)


TWO_WAVES = plan(
    jobset(
        rjob("dataset-initializer", FETCH),
        rjob(
            "node",
            TRAIN,
            first=[SETUP, PROXY],
            depends=[("dataset-initializer", "Complete")],
            volumes=[{"name": "scratch", "emptyDir": {}}],
        ),
    ),
    sets=[
        PodSet("dataset-initializer", "dataset-initializer", 1, {}, 0),
        PodSet("node", "trainer", 2, {"cpu": "4", "nvidia.com/gpu": "1"}, 1),
    ],
    gang=Gang("volcano", ("node",), 2, {}),
    decisions=[
        ("numNodes", 1, "taken back later", ()),
        ("numNodes", 2, "spec.trainer.numNodes of the %s", ("job",)),
        ("numProcPerNode", 4, "one for each of nvidia.com/gpu", ()),
    ],
    warnings=["one word of warning"],
)

PICTURE = """\
TrainJob bert in namespace lab, from ClusterTrainingRuntime torch
becomes JobSet bert

What runs, in this order
  1  dataset-initializer  1 pod, fetches the dataset
     │
     ▼  node starts once dataset-initializer is complete
  2  node                 2 pods, trains, 4 processes in each
     └─ a gang: volcano places all of these 2 pods at once, or none

Where the numbers come from
  numNodes = 2        spec.trainer.numNodes of the job
  numProcPerNode = 4  one for each of nvidia.com/gpu

Pods of dataset-initializer: it fetches the dataset
  found at bert-dataset-initializer-0-0.bert
  dataset-initializer: fetch:1
    env              all of Secret hf
        STORAGE_URI  hf://a/b
    at /workspace  claim ws-bert, made for this job (20Gi)

Pods of node: it trains
  each asks for 4 cpu, 1 nvidia.com/gpu
  found at bert-node-0-0.bert … bert-node-0-1.bert
  setup, runs first: setup:1
  proxy, beside the others: proxy:1
  node: train:1
    $ torchrun train.py '--note=two words'
    env PET_NNODES  2
        EMPTY       (empty)
    at /workspace  claim ws-bert, made for this job (20Gi), read only
       /tmp/s      an empty folder, of it $(INDEX)
       /gone       volume gone, which the pod does not have, of it a
    listens on 29500

Warnings
  ! said at admission
  ! one word of warning
"""


def test_the_picture_of_two_waves():
    assert draw(explain(JOB, TWO_WAVES, warnings=["said at admission"])) == PICTURE


def test_the_picture_is_no_wider_than_it_may_be():
    lines = draw(explain(JOB, TWO_WAVES, warnings=["word " * 40]), width=68).splitlines()
    assert max(len(line) for line in lines) <= 68
    assert len(lines) > len(PICTURE.splitlines())


def test_what_is_told_is_data_as_well():
    story = asdict(explain(JOB, TWO_WAVES))
    assert story["pods"][1]["waits_for"] == ({"name": "dataset-initializer", "text": "Complete"},)
    assert story["pods"][1]["processes"] == "4"
    assert story["decisions"][0] == {
        "field": "numNodes",
        "value": "2",
        "reason": "spec.trainer.numNodes of the job",
    }


def sets(*named):
    return [PodSet(name, step, count, {}, wave) for name, step, count, wave in named]


LINES = {
    "nobody, nowhere": (
        plan(jobset(rjob("node", TRAIN)), sets=sets(("node", "", 0, 0))),
        ["  1  node  0 pods, trains", "  node: train:1"],
    ),
    "a job without anything": (plan(sets=[]), ["What runs, in this order"]),
    "a suspended job says so": (
        plan(jobset(rjob("node", TRAIN), suspend=True), sets=sets(("node", "trainer", 1, 0))),
        ["It is suspended: nothing runs until spec.suspend is false."],
    ),
    "a launcher, and nodes that are ready": (
        plan(
            jobset(rjob("node", TRAIN), rjob("launcher", TRAIN, depends=[("node", "Ready")])),
            sets=sets(("node", "", 3, 0), ("launcher", "trainer", 1, 1)),
            decisions=[("slots", 1, "processes on one node", ())],
        ),
        [
            "  1  node      3 pods, trains, 1 process in each",
            "     ▼  launcher starts once node is ready",
            "  2  launcher  1 pod, starts the training on the others",
        ],
    ),
    "devices that the framework counts": (
        plan(
            jobset(rjob("node", TRAIN)),
            sets=sets(("node", "trainer", 1, 0)),
            decisions=[("numProcPerNode", "auto", "torchrun counts", ())],
        ),
        ["  1  node  1 pod, trains, a process for each of its devices"],
    ),
    "a gang of one": (
        plan(
            jobset(rjob("node", TRAIN)),
            sets=sets(("node", "trainer", 1, 0)),
            gang=Gang("coscheduling", ("node",), 1, {}),
        ),
        ["     └─ a gang: coscheduling places this pod at once, or none"],
    ),
    "a gang that can start with fewer": (
        plan(
            jobset(rjob("node", TRAIN)),
            sets=sets(("node", "trainer", 8, 0)),
            gang=Gang("volcano", ("node",), 4, {}),
        ),
        ["     └─ a gang: volcano places at least 4 of these 8 pods at once, or none"],
    ),
    "two that are waited for, and one of another kind": (
        plan(
            jobset(
                rjob("a", TRAIN),
                rjob("b", TRAIN),
                rjob("c", TRAIN),
                rjob("d", TRAIN, depends=[("a", "Complete"), ("b", "Complete"), ("c", "Ready")]),
                claims=False,
            ),
            sets=sets(("a", "", 1, 0), ("b", "", 1, 0), ("c", "", 1, 0), ("d", "", 1, 1)),
        ),
        ["  1  a  1 pod", "     b  1 pod", "     ▼  d starts once a and b are complete and c is ready"],
    ),
}


@pytest.mark.parametrize("sentence", LINES)
def test_the_picture_has_these_lines(sentence):
    told, want = LINES[sentence]
    lines = draw(explain(JOB, told)).splitlines()
    assert [line for line in want if line not in lines] == []


def test_a_painter_paints_what_it_is_told():
    def brackets(text, style):
        return f"<{style}>{text}</>"

    picture = draw(explain(JOB, TWO_WAVES), paint=brackets)
    assert "<title>TrainJob bert</>" in picture
    assert "<name>node               </>" in picture
    assert "<warning>! one word of warning</>" in picture


def test_a_namespace_that_is_left_out_is_default():
    story = explain({**JOB, "metadata": {"name": "bert"}}, plan(sets=[]))
    assert story.namespace == "default"
