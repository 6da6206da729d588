"""Gangs by Volcano."""

from __future__ import annotations

from typing import Any

import pytest

from kfp_trainer.runtime_operator.api import read
from kfp_trainer.runtime_operator.render.admission import admit
from kfp_trainer.runtime_operator.render.facts import Facts
from kfp_trainer.runtime_operator.render.info import Info
from kfp_trainer.runtime_operator.render.plan import Plan
from kfp_trainer.runtime_operator.render.plugins.volcano import Volcano
from kfp_trainer.runtime_operator.render.render import render

STEP = "trainer.kubeflow.org/trainjob-ancestor-step"
QUEUE = "scheduling.volcano.sh/queue-name"


def replicated(name: str, step: str = "", waits: str = "", **pod: Any) -> dict[str, Any]:
    container = step if step.endswith("initializer") else "node"
    made: dict[str, Any] = {
        "name": name,
        "template": {
            "spec": {"template": {"spec": {"containers": [{"name": container, "image": "a"}], **pod}}}
        },
    }
    if step:
        made["template"]["metadata"] = {"labels": {STEP: step}}
    if waits:
        made["dependsOn"] = [{"name": waits, "status": "Ready"}]
    return made


def runtime(
    *jobs: Any, volcano: Any = None, annotations: Any = None, policy: Any = None, compat: Any = None
) -> Any:
    spec = {
        "mlPolicy": policy or {"torch": {}, "numNodes": 2},
        "podGroupPolicy": {"volcano": volcano or {}},
        "template": {"metadata": {"annotations": annotations or {}}, "spec": {"replicatedJobs": list(jobs)}},
    }
    return read({"kind": "ClusterTrainingRuntime", "metadata": {"name": "rt"}, "spec": spec}, compat=compat)


def train_job(compat: Any = None, metadata: Any = None, **spec: Any) -> Any:
    document = {
        "kind": "TrainJob",
        "metadata": {"name": "tj", "uid": "u", **(metadata or {})},
        "spec": {"runtimeRef": {"name": "rt"}, **spec},
    }
    return read(document, compat=compat)


def group_of(plan: Plan) -> dict[str, Any]:
    group = plan.find("PodGroup")
    assert group is not None
    spec: dict[str, Any] = group["spec"]
    return spec


def pods_of(plan: Plan) -> dict[str, dict[str, Any]]:
    jobset = plan.find("JobSet")
    assert jobset is not None
    return {each["name"]: each["template"]["spec"]["template"] for each in jobset["spec"]["replicatedJobs"]}


NODE = replicated("node", "trainer")


def test_annotation_scheduler_and_group() -> None:
    plan = render(train_job(), runtime(NODE))
    node = pods_of(plan)["node"]
    assert node["metadata"]["annotations"] == {"scheduling.k8s.io/group-name": "tj"}
    assert node["spec"]["schedulerName"] == "volcano"
    assert group_of(plan) == {"minMember": 2, "minResources": {}}
    assert plan.find("PodGroup")["apiVersion"] == "scheduling.volcano.sh/v1beta1"  # type: ignore[index]


def test_upstream_leaves_the_scheduler_to_the_template() -> None:
    plan = render(train_job("upstream"), runtime(NODE, compat="upstream"), compat="upstream")
    assert "schedulerName" not in pods_of(plan)["node"]["spec"]


def test_initializers_stay_with_the_default_scheduler() -> None:
    jobs = (
        replicated("model-initializer", "model-initializer"),
        replicated("node", "trainer", "model-initializer"),
    )
    pods = pods_of(render(train_job(), runtime(*jobs, annotations={QUEUE: "gold"})))
    assert "schedulerName" not in pods["model-initializer"]["spec"]
    assert "metadata" not in pods["model-initializer"]
    assert pods["node"]["spec"]["schedulerName"] == "volcano"


def test_a_launcher_after_the_gang_goes_to_the_same_queue() -> None:
    jobs = (replicated("node"), replicated("launcher", "trainer", "node"))
    pods = pods_of(render(train_job(), runtime(*jobs, policy={"mpi": {}}, annotations={QUEUE: "gold"})))
    assert pods["launcher"]["spec"]["schedulerName"] == "volcano"
    assert pods["launcher"]["metadata"]["annotations"] == {QUEUE: "gold"}
    assert pods["node"]["metadata"]["annotations"] == {"scheduling.k8s.io/group-name": "tj"}


def test_without_a_queue_the_launcher_needs_no_annotation() -> None:
    jobs = (replicated("node"), replicated("launcher", "trainer", "node"))
    assert "metadata" not in pods_of(render(train_job(), runtime(*jobs, policy={"mpi": {}})))["launcher"]


def test_another_scheduler_is_kept_and_warned_of() -> None:
    plan = render(train_job(), runtime(replicated("node", "trainer", schedulerName="fancy")))
    assert pods_of(plan)["node"]["spec"]["schedulerName"] == "fancy"
    assert plan.warnings == (
        "node: the template names the scheduler 'fancy', the runtime asks for Volcano: there is no gang "
        "unless 'fancy' is a Volcano; remove schedulerName from the template",
    )


def test_volcano_in_the_template_needs_no_word() -> None:
    assert render(train_job(), runtime(replicated("node", "trainer", schedulerName="volcano"))).warnings == ()


QUEUES: dict[str, tuple[dict[str, Any], str]] = {
    "of the runtime": ({}, "gold"),
    "of a patch": (
        {
            "runtimePatches": [
                {
                    "manager": "acme.io/p",
                    "trainingRuntimeSpec": {"template": {"metadata": {"annotations": {QUEUE: "urgent"}}}},
                }
            ]
        },
        "urgent",
    ),
    "of spec.annotations, as older files have it": ({"annotations": {QUEUE: "urgent"}}, "urgent"),
    "of the job's own annotations": ({"metadata": {"annotations": {QUEUE: "urgent"}}}, "urgent"),
}


@pytest.mark.parametrize("sentence", QUEUES)
def test_queue(sentence: str) -> None:
    given, want = QUEUES[sentence]
    assert group_of(render(train_job(**given), runtime(NODE, annotations={QUEUE: "gold"})))["queue"] == want


def test_topology() -> None:
    policy = {"networkTopology": {"mode": "soft", "highestTierAllowed": 3}}
    assert group_of(render(train_job(), runtime(NODE, volcano=policy)))["networkTopology"] == {
        "mode": "soft",
        "highestTierAllowed": 3,
    }


def test_topology_with_defaults() -> None:
    group = group_of(render(train_job(), runtime(NODE, volcano={"networkTopology": {}})))
    assert group["networkTopology"] == {"mode": "hard", "highestTierAllowed": 1}


def test_the_first_class_of_the_gang_counts_and_upstream_takes_the_last() -> None:
    jobs = (
        replicated("model-initializer", "model-initializer", priorityClassName="low"),
        replicated("node", "trainer", "model-initializer", priorityClassName="high"),
        replicated("side", waits="model-initializer", priorityClassName="middle"),
    )
    ours = render(train_job(), runtime(*jobs))
    theirs = render(train_job("upstream"), runtime(*jobs, compat="upstream"), compat="upstream")
    assert [group_of(each)["priorityClassName"] for each in (ours, theirs)] == ["high", "middle"]


LOOKED_UP = frozenset({"PriorityClass"})
HIGH = {("PriorityClass", "high"): {"kind": "PriorityClass"}}
ADMITTED: dict[str, tuple[Any, dict[Any, Any], Any]] = {
    "a class that exists": (runtime(replicated("node", "trainer", priorityClassName="high")), HIGH, None),
    "no class": (runtime(NODE), HIGH, None),
    "a class that every cluster has": (
        runtime(replicated("node", "trainer", priorityClassName="system-node-critical")),
        HIGH,
        None,
    ),
    "upstream looks at nothing after a system class": (
        runtime(
            replicated("a", priorityClassName="system-node-critical"),
            replicated("node", "trainer", priorityClassName="ghost"),
            compat="upstream",
        ),
        {},
        "upstream",
    ),
}


@pytest.mark.parametrize("sentence", ADMITTED)
def test_admits(sentence: str) -> None:
    given, existing, compat = ADMITTED[sentence]
    facts = Facts(existing=existing, looked_up=LOOKED_UP)
    assert admit(train_job(compat), given, facts, compat=compat).errors == ()


def test_a_class_that_nobody_looked_for_is_admitted_with_a_warning() -> None:
    given = runtime(
        replicated("a", priorityClassName="system-node-critical"),
        replicated("node", "trainer", priorityClassName="ghost"),
    )
    verdict = admit(train_job(), given, Facts())
    assert verdict.errors == ()
    assert verdict.warnings == (
        "node: the cluster must have the PriorityClass 'ghost', or it refuses the pods",
    )


GHOST = 'PriorityClass "ghost" doesn\'t exist: priorityclasses.scheduling.k8s.io "ghost" not found'
REFUSED: dict[str, tuple[Any, dict[Any, Any], Any, tuple[str, str]]] = {
    "a class that does not exist": (
        runtime(replicated("node", "trainer", priorityClassName="ghost")),
        HIGH,
        None,
        ("spec.templateSpec.priorityClassName", GHOST),
    ),
    "any class where there is none": (
        runtime(replicated("node", "trainer", priorityClassName="ghost")),
        {},
        None,
        ("spec.templateSpec.priorityClassName", GHOST),
    ),
    "a class behind a system class": (
        runtime(
            replicated("a", priorityClassName="system-node-critical"),
            replicated("node", "trainer", priorityClassName="ghost"),
        ),
        HIGH,
        None,
        ("spec.templateSpec.priorityClassName", GHOST),
    ),
    "upstream asks the cluster always": (
        runtime(replicated("node", "trainer", priorityClassName="ghost"), compat="upstream"),
        {},
        "upstream",
        ("spec.templateSpec.priorityClassName", GHOST),
    ),
    "an empty queue": (
        runtime(NODE, annotations={QUEUE: ""}),
        {},
        None,
        (f"spec.annotations[{QUEUE}]", "Volcano queue name must not be empty"),
    ),
}


@pytest.mark.parametrize("sentence", REFUSED)
def test_refuses(sentence: str) -> None:
    given, existing, compat, want = REFUSED[sentence]
    facts = Facts(existing=existing, looked_up=LOOKED_UP if compat is None else frozenset())
    errors = admit(train_job(compat), given, facts, compat=compat).errors
    assert [(each.field, each.detail) for each in errors] == [want]


def test_serves_runtimes_that_ask_for_it() -> None:
    plugin = Volcano()
    other = read(
        {"kind": "ClusterTrainingRuntime", "metadata": {"name": "o"}, "spec": {"mlPolicy": {"torch": {}}}}
    )
    gang = read(
        {
            "kind": "ClusterTrainingRuntime",
            "metadata": {"name": "o"},
            "spec": {"podGroupPolicy": {"coscheduling": {}}},
        }
    )
    assert [plugin.serves(each) for each in (runtime(NODE), other, gang)] == [True, False, False]
    assert plugin.build_components(Info(train_job(), other, Facts(), upstream=False, kueue=False)) == ()


def test_watches_what_changes_a_gang() -> None:
    assert [each.kind for each in Volcano().watch_extension()] == ["PodGroup", "LimitRange", "RuntimeClass"]
