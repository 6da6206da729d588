"""Only pods that exist at the same time are placed at the same time."""

from __future__ import annotations

from typing import Any

import pytest

from kfp_trainer.runtime_operator.api import read
from kfp_trainer.runtime_operator.errors import SpecError
from kfp_trainer.runtime_operator.render.facts import Facts
from kfp_trainer.runtime_operator.render.plan import Plan
from kfp_trainer.runtime_operator.render.render import render

STEP = "trainer.kubeflow.org/trainjob-ancestor-step"
GROUPS = ("coscheduling", "volcano")


def job(
    name: str,
    *,
    step: str = "",
    waits: tuple[str, ...] = (),
    requests: Any = None,
    pods: int = 0,
    **more: Any,
) -> Any:
    container = {"name": step if step.endswith("initializer") else "node", "image": "a"}
    if requests:
        container["resources"] = {"requests": requests}
    spec: dict[str, Any] = {"template": {"spec": {"containers": [container]}}}
    if pods:
        spec["parallelism"] = pods
    template: dict[str, Any] = {"spec": spec}
    if step:
        template["metadata"] = {"labels": {STEP: step}}
    made = {"name": name, "template": template, **more}
    if waits:
        made["dependsOn"] = [{"name": each, "status": "Complete"} for each in waits]
    return made


def rendered(
    *jobs: Any,
    policy: Any = None,
    gang: Any = None,
    compat: Any = None,
    facts: Facts | None = None,
    patches: Any = None,
    **spec: Any,
) -> Plan:
    runtime = {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "ClusterTrainingRuntime",
        "metadata": {"name": "rt"},
        "spec": {
            "mlPolicy": policy if policy is not None else {"torch": {}, "numNodes": 2},
            "podGroupPolicy": gang or {"coscheduling": {}},
            "template": {"spec": {"replicatedJobs": list(jobs)}},
        },
    }
    train_job = {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "TrainJob",
        "metadata": {"name": "tj", "namespace": "ns", "uid": "u"},
        "spec": {"runtimeRef": {"name": "rt"}, "trainer": {}, "runtimePatches": patches or [], **spec},
    }
    return render(read(train_job, compat=compat), read(runtime, compat=compat), facts or Facts(), compat)


NODE = job("node", step="trainer", requests={"cpu": 1})
INITIALIZERS = (
    job("dataset-initializer", step="dataset-initializer", requests={"cpu": 1, "memory": "4Gi"}),
    job("model-initializer", step="model-initializer", requests={"cpu": 1}),
)
WAITING = job("node", step="trainer", waits=("dataset-initializer", "model-initializer"), requests={"cpu": 1})
MPI_JOBS = (
    job("node", requests={"cpu": 1}),
    job("launcher", step="trainer", waits=("node",), requests={"cpu": 3}),
)
SIDE = job("ps", pods=3, requests={"cpu": 5}, replicas=2)

SIZES: dict[
    str, tuple[dict[str, Any], tuple[int, dict[str, str], tuple[str, ...]], tuple[int, dict[str, str]]]
] = {
    "two nodes": ({"jobs": (NODE,)}, (2, {"cpu": "2"}, ("node",)), (2, {"cpu": "2"})),
    "initializers never count": (
        {"jobs": (*INITIALIZERS, WAITING), "policy": {"torch": {}, "numNodes": 100}},
        (100, {"cpu": "100"}, ("node",)),
        (102, {"cpu": "102", "memory": "4Gi"}),
    ),
    "an initializer that nobody waits for does not count either": (
        {"jobs": (INITIALIZERS[0], NODE)},
        (2, {"cpu": "2"}, ("node",)),
        (3, {"cpu": "3", "memory": "4Gi"}),
    ),
    "a side job of the same wave counts with all its replicas": (
        {"jobs": (SIDE, NODE)},
        (8, {"cpu": "32"}, ("ps", "node")),
        (5, {"cpu": "17"}),
    ),
    "a side job that is waited for does not count": (
        {"jobs": (SIDE, job("node", step="trainer", waits=("ps",), requests={"cpu": 1}))},
        (2, {"cpu": "2"}, ("node",)),
        (5, {"cpu": "17"}),
    ),
    "with MPI the nodes are the gang, the launcher comes after": (
        {"jobs": MPI_JOBS, "policy": {"mpi": {}}, "trainer": {"numNodes": 4}},
        (4, {"cpu": "4"}, ("node",)),
        (5, {"cpu": "7"}),
    ),
    "a launcher that waits for nothing is in the gang": (
        {
            "jobs": (MPI_JOBS[0], job("launcher", step="trainer")),
            "policy": {"mpi": {}},
            "trainer": {"numNodes": 4},
        },
        (5, {"cpu": "4"}, ("node", "launcher")),
        (5, {"cpu": "4"}),
    ),
    "an elastic job starts with its minimum": (
        {"jobs": (NODE,), "policy": {"torch": {"elasticPolicy": {"minNodes": 2, "maxNodes": 8}}}},
        (2, {"cpu": "2"}, ("node",)),
        (1, {"cpu": "1"}),
    ),
    "the gang policy may say less": (
        {
            "jobs": (NODE,),
            "policy": {"torch": {}, "numNodes": 8},
            "gang": {"coscheduling": {}, "minNodes": 3},
        },
        (3, {"cpu": "3"}, ("node",)),
        (8, {"cpu": "8"}),
    ),
    "it never asks for more pods than there are": (
        {"jobs": (NODE,), "gang": {"coscheduling": {}, "minNodes": 9}},
        (2, {"cpu": "2"}, ("node",)),
        (2, {"cpu": "2"}),
    ),
    "without a trainer it is whatever runs first": (
        {"jobs": (INITIALIZERS[0], job("a"), job("b", waits=("a",)), job("c")), "trainer": None},
        (2, {}, ("a", "c")),
        (4, {"cpu": "1", "memory": "4Gi"}),
    ),
    "initializers alone are no gang": (
        {"jobs": INITIALIZERS, "trainer": None},
        (0, {}, ()),
        (2, {"cpu": "2", "memory": "4Gi"}),
    ),
    "a request of nothing is left out": (
        {"jobs": (job("node", step="trainer", requests={"cpu": 0, "memory": 1}),)},
        (2, {"memory": "2"}, ("node",)),
        (2, {"cpu": "0", "memory": "2"}),
    ),
}


@pytest.mark.parametrize("sentence", SIZES)
def test_size(sentence: str) -> None:
    given, (least, requests, members), upstream = SIZES[sentence]
    jobs = given["jobs"]
    rest = {key: value for key, value in given.items() if key != "jobs"}
    ours = rendered(*jobs, **rest)
    assert ours.gang is not None
    assert (ours.gang.min_member, dict(ours.gang.min_resources), ours.gang.pod_sets) == (
        least,
        requests,
        members,
    )
    group = rendered(*jobs, compat="upstream", **rest).find("PodGroup")
    assert group is not None
    assert (group["spec"]["minMember"], group["spec"]["minResources"]) == upstream


def test_limits_stand_in_for_requests() -> None:
    node = job("node", step="trainer")
    node["template"]["spec"]["template"]["spec"]["containers"][0]["resources"] = {
        "limits": {"nvidia.com/gpu": 8}
    }
    ours, upstream = (rendered(node, compat=compat).find("PodGroup") for compat in (None, "upstream"))
    assert ours is not None
    assert upstream is not None
    assert ours["spec"]["minResources"] == {"nvidia.com/gpu": "16"}
    assert upstream["spec"]["minResources"] == {}


def test_limit_range_and_runtime_class_count() -> None:
    node = job("node", step="trainer")
    node["template"]["spec"]["template"]["spec"]["runtimeClassName"] = "gvisor"
    defaults = {"type": "Container", "defaultRequest": {"cpu": "500m"}}
    facts = Facts(
        existing={
            ("LimitRange", "any"): {"spec": {"limits": [defaults]}},
            ("RuntimeClass", "gvisor"): {"overhead": {"podFixed": {"memory": "64Mi"}}},
        }
    )
    gang = rendered(node, facts=facts).gang
    assert gang is not None
    assert gang.min_resources == {"cpu": "1", "memory": "128Mi"}


@pytest.mark.parametrize("group", GROUPS)
def test_only_pods_of_the_gang_carry_its_mark(group: str) -> None:
    marked = {}
    for compat in (None, "upstream"):
        jobset = rendered(*INITIALIZERS, WAITING, gang={group: {}}, compat=compat).find("JobSet")
        assert jobset is not None
        metadata = {
            each["name"]: each["template"]["spec"]["template"].get("metadata", {})
            for each in jobset["spec"]["replicatedJobs"]
        }
        marked[compat] = [
            name for name, each in metadata.items() if each.get("labels") or each.get("annotations")
        ]
    assert marked == {None: ["node"], "upstream": ["dataset-initializer", "model-initializer", "node"]}


@pytest.mark.parametrize("group", GROUPS)
def test_a_suspended_job_holds_no_room(group: str) -> None:
    ours, upstream = (rendered(NODE, gang={group: {}}, compat=c, suspend=True) for c in (None, "upstream"))
    assert ours.find("PodGroup") is None
    assert upstream.find("PodGroup") is not None
    assert ours.gang is not None


def test_a_gang_of_nobody_has_no_group() -> None:
    assert rendered(*INITIALIZERS, trainer=None).find("PodGroup") is None


def test_two_schedulers_cannot_place_one_job() -> None:
    both = {"coscheduling": {}, "volcano": {}}
    with pytest.raises(SpecError, match="sets both coscheduling and volcano") as raised:
        rendered(NODE, gang=both)
    assert raised.value.errors[0].field == "spec.runtimeRef"
    kinds = [each["kind"] for each in rendered(NODE, gang=both, compat="upstream").objects]
    assert kinds.count("PodGroup") == 2


def test_the_group_belongs_to_the_job() -> None:
    group = rendered(NODE).find("PodGroup")
    assert group is not None
    assert group["metadata"]["ownerReferences"][0]["uid"] == "u"


def test_labels_of_older_files_reach_the_group() -> None:
    group = rendered(NODE, labels={"team": "a"}, annotations={"note": "b"}).find("PodGroup")
    assert group is not None
    assert group["metadata"]["labels"]["team"] == "a"
    assert group["metadata"]["annotations"] == {"note": "b"}


def test_labels_of_patches_stay_with_the_jobset() -> None:
    patch = {
        "manager": "acme.io/p",
        "trainingRuntimeSpec": {"template": {"metadata": {"labels": {"l": "1"}}}},
    }
    plan = rendered(NODE, patches=[patch])
    group, jobset = plan.find("PodGroup"), plan.find("JobSet")
    assert group is not None
    assert jobset is not None
    assert jobset["metadata"]["labels"]["l"] == "1"
    assert "l" not in group["metadata"]["labels"]


def test_the_plan_says_why() -> None:
    decisions = {each.field: each for each in rendered(*INITIALIZERS, WAITING).decisions}
    assert decisions["gang"].value == "2"
    assert decisions["gang"].reason == "coscheduling places the pods of node all at once"
