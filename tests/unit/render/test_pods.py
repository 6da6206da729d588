"""The pods of a replicated job while plug-ins work on them."""

from __future__ import annotations

import pytest

from kfp_trainer.runtime_operator.render.overlay import Container
from kfp_trainer.runtime_operator.render.pods import Pods, draft, is_doubtful, pod_spec

POD = {
    "containers": [{"name": "node", "image": "a"}, {"name": "side", "image": "b"}],
    "initContainers": [{"name": "side", "image": "c"}, {"name": "warm", "image": "d"}],
    "volumes": [{"name": "v", "emptyDir": {}}],
}


def pods(pod=POD, step="trainer", metadata=None, job=(), **more):
    template = {"spec": pod}
    if metadata is not None:
        template["metadata"] = metadata
    outer = {"name": "node", "template": {"spec": {"template": template, **dict(job)}}, **more}
    return Pods(draft(outer, step=step, size=2, wave=0, labelled=True, main="node"))


def test_containers_by_name():
    made = pods(replicas=3)
    assert made.main is made.containers[0]
    assert made.container("side") is made.containers[1], "a regular container goes before an init container"
    assert made.container("warm") is made.init_containers[1]
    assert made.container("x") is None
    assert (made.replicas, pods(step="", replicas=3).replicas) == (1, 3)


CHANGES = {
    "nothing": (lambda made: None, {}),
    "a volume of the same name": (
        lambda made: made.add_volumes({"name": "v", "secret": {}}),
        {"volumes": [{"name": "v", "secret": {}}]},
    ),
    "a field of the pod": (
        lambda made: made.put("schedulerName", "s"),
        {"schedulerName": "s"},
    ),
    "a container": (
        lambda made: made.main.put("image", "x"),
        {"containers": [{"name": "node", "image": "x"}, POD["containers"][1]]},
    ),
    "an init container": (
        lambda made: made.init_containers[1].put("image", "x"),
        {"initContainers": [POD["initContainers"][0], {"name": "warm", "image": "x"}]},
    ),
    "one more init container": (
        lambda made: made.init_containers.append(Container({"name": "new"})),
        {"initContainers": [*POD["initContainers"], {"name": "new"}]},
    ),
}


@pytest.mark.parametrize("sentence", CHANGES)
def test_built(sentence):
    change, want = CHANGES[sentence]
    made = pods()
    change(made)
    assert made.built() == {**POD, **want}


METADATA = {
    "nothing to add": (lambda made: None, {"labels": {"a": "1"}}, {"labels": {"a": "1"}}),
    "nothing at all": (lambda made: None, None, None),
    "a label": (
        lambda made: made.labels.update(b="2"),
        {"labels": {"a": "1"}},
        {"labels": {"a": "1", "b": "2"}},
    ),
    "two labels, one after the other": (
        lambda made: [
            made.labels.update(b="2"),
            made.labels.update(c="3"),
            made.annotations.update(d="4"),
            made.annotations.update(e="5"),
        ],
        None,
        {"labels": {"b": "2", "c": "3"}, "annotations": {"d": "4", "e": "5"}},
    ),
    "an annotation where there is no metadata": (
        lambda made: made.annotations.update(b="2"),
        None,
        {"annotations": {"b": "2"}},
    ),
}


@pytest.mark.parametrize("sentence", METADATA)
def test_metadata(sentence):
    change, given, want = METADATA[sentence]
    made = pods(metadata=given)
    change(made)
    assert made.built_job(upstream=False)["template"]["spec"]["template"].get("metadata") == want


COUNTS = {
    # step, what the template says, upstream: replicas, parallelism, completions
    "a trainer": ("trainer", {"completions": 9}, False, (1, 2, 2)),
    "a job on the side": ("", {}, False, (3, 2, 2)),
    "a job on the side with completions": ("", {"completions": 9}, False, (3, 2, 9)),
    "a job on the side with completions, as upstream": ("", {"completions": 9}, True, (3, 2, 2)),
}


@pytest.mark.parametrize("sentence", COUNTS)
def test_counts(sentence):
    step, job, upstream, want = COUNTS[sentence]
    each = pods(step=step, job=job, replicas=3)
    before = repr(each.job)
    made = each.built_job(upstream=upstream)
    spec = made["template"]["spec"]
    assert (made["replicas"], spec["parallelism"], spec["completions"]) == want
    assert repr(each.job) == before


def test_a_job_without_a_template_has_no_pod():
    assert pod_spec({"name": "ghost"}) == {}
    made = pods({})
    assert made.main is None
    assert made.built() == {}


DOUBTFUL = {
    "images everywhere": (POD, False),
    "no image": ({"containers": [{"name": "a"}]}, True),
    "an init container without an image": (
        {"containers": [{"name": "a", "image": "i"}], "initContainers": [{"name": "b"}]},
        True,
    ),
    "a folder of the node": ({"volumes": [{"name": "h", "hostPath": {"path": "/x"}}]}, True),
}


@pytest.mark.parametrize("sentence", DOUBTFUL)
def test_doubtful(sentence):
    pod, want = DOUBTFUL[sentence]
    assert is_doubtful(pod) is want
