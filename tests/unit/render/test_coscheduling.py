"""Gangs by the coscheduling plug-in."""

from __future__ import annotations

from typing import Any

from kfp_trainer.runtime_operator.api import read
from kfp_trainer.runtime_operator.render.facts import Facts
from kfp_trainer.runtime_operator.render.info import Info
from kfp_trainer.runtime_operator.render.plugins.coscheduling import CoScheduling
from kfp_trainer.runtime_operator.render.render import render

STEP = "trainer.kubeflow.org/trainjob-ancestor-step"
NODE = {
    "name": "node",
    "template": {
        "metadata": {"labels": {STEP: "trainer"}},
        "spec": {"template": {"spec": {"containers": [{"name": "node", "image": "a"}]}}},
    },
}


def runtime(gang: Any) -> Any:
    spec = {
        "mlPolicy": {"torch": {}},
        "podGroupPolicy": gang,
        "template": {"spec": {"replicatedJobs": [NODE]}},
    }
    return read({"kind": "ClusterTrainingRuntime", "metadata": {"name": "rt"}, "spec": spec})


JOB: Any = read(
    {"kind": "TrainJob", "metadata": {"name": "tj", "uid": "u"}, "spec": {"runtimeRef": {"name": "rt"}}}
)


def test_label_and_group() -> None:
    plan = render(JOB, runtime({"coscheduling": {}}))
    group, jobset = plan.find("PodGroup"), plan.find("JobSet")
    assert group is not None
    assert jobset is not None
    assert group["apiVersion"] == "scheduling.x-k8s.io/v1alpha1"
    assert group["spec"] == {"minMember": 1, "minResources": {}, "scheduleTimeoutSeconds": 60}
    template = jobset["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]
    assert template["metadata"]["labels"] == {"scheduling.x-k8s.io/pod-group": "tj"}
    assert "schedulerName" not in template["spec"]


def test_a_template_without_a_scheduler_is_told_of() -> None:
    told = {each.field: each.reason for each in render(JOB, runtime({"coscheduling": {}})).decisions}
    assert "no gang unless" in told["node.schedulerName"]


def test_the_timeout_of_the_runtime() -> None:
    group = render(JOB, runtime({"coscheduling": {"scheduleTimeoutSeconds": 120}})).find("PodGroup")
    assert group is not None
    assert group["spec"]["scheduleTimeoutSeconds"] == 120


def test_serves_runtimes_that_ask_for_it() -> None:
    plugin = CoScheduling()
    asked = [plugin.serves(runtime(gang)) for gang in ({"coscheduling": {}}, {"volcano": {}}, None)]
    assert asked == [True, False, False]
    info = Info(JOB, runtime(None), Facts(), upstream=False, kueue=False)
    assert plugin.build_components(info) == ()


def test_watches_what_changes_a_gang() -> None:
    assert [(each.kind, each.owned) for each in CoScheduling().watch_extension()] == [
        ("PodGroup", True),
        ("LimitRange", False),
        ("RuntimeClass", False),
    ]
