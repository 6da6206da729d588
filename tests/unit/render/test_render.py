"""What every job becomes, whatever its framework."""

from __future__ import annotations

import copy

import pytest

from kfp_trainer.runtime_operator.api import read
from kfp_trainer.runtime_operator.render import prepared
from kfp_trainer.runtime_operator.render.render import render
from kfp_trainer.runtime_operator.render.strategic_merge import patched_spec

TORCH = {"torch": {}, "numNodes": 2}
OWNER = {
    "apiVersion": "trainer.kubeflow.org/v1alpha1",
    "kind": "TrainJob",
    "name": "bert",
    "uid": "uid-1",
    "controller": True,
    "blockOwnerDeletion": True,
}


def patch(*jobs, manager="acme.io/p", metadata=None):
    template = {"spec": {"replicatedJobs": list(jobs)}}
    if metadata:
        template["metadata"] = metadata
    return {"manager": manager, "trainingRuntimeSpec": {"template": template}}


def pods(name="node", **spec):
    return {"name": name, "template": {"spec": {"template": {"spec": spec}}}}


def test_objects_come_in_apply_order_and_go_with_their_job(world):
    policy = {"mpi": {"runLauncherAsNode": True}, "numNodes": 2}
    jobs = [world.replicated_job("node", step=""), world.replicated_job("launcher")]
    runtime = world.runtime_of(policy, *jobs, podGroupPolicy={"coscheduling": {}})
    plan = world.plan_of(runtime, world.train_job())
    kinds = [each["kind"] for each in plan.objects]
    assert kinds[-2:] == ["PodGroup", "JobSet"]
    assert set(kinds[:-2]) == {"ConfigMap", "Secret"}
    for each in plan.objects:
        assert each["metadata"]["ownerReferences"] == [OWNER]
        assert each["metadata"]["namespace"] == "lab"
        assert each["metadata"]["labels"] == {"kfp-trainer/train-job": "bert"}


def test_a_job_that_no_cluster_knows_yet_owns_nothing(world):
    job = world.train_job()
    job["metadata"] = {"name": "bert"}
    for each in world.plan_of(world.runtime_of(TORCH), job).objects:
        assert each["metadata"] == {
            "name": each["metadata"]["name"],
            "namespace": "default",
            "labels": {"kfp-trainer/train-job": "bert"},
        }


def test_upstream_labels_nothing(world):
    plan = world.plan_of(world.runtime_of(TORCH), world.train_job(), compat="upstream")
    assert all("labels" not in each["metadata"] for each in plan.objects)


def test_a_suspended_job_becomes_a_suspended_jobset(world):
    for suspend in (True, False):
        plan = world.plan_of(world.runtime_of(TORCH), world.train_job(suspend=suspend))
        assert world.jobset_of(plan)["spec"]["suspend"] is suspend


def test_metadata_of_runtime_and_patches_meets_on_the_jobset(world):
    runtime = world.runtime_of(TORCH, metadata={"labels": {"a": "1", "b": "1"}, "annotations": {"c": "1"}})
    job = world.train_job(runtimePatches=[patch(metadata={"labels": {"b": "2"}, "annotations": {"d": "2"}})])
    metadata = world.jobset_of(world.plan_of(runtime, job))["metadata"]
    assert metadata["labels"] == {"a": "1", "b": "2", "kfp-trainer/train-job": "bert"}
    assert metadata["annotations"] == {"c": "1", "d": "2"}


TOLERATION = [{"key": "gpu", "operator": "Exists"}]
PATCHES = {
    "a field of the pod": [patch(pods(nodeSelector={"a": "b"}, tolerations=TOLERATION))],
    "two managers": [
        patch(pods(nodeSelector={"a": "b", "c": "d"})),
        patch(pods(nodeSelector={"a": "x"}, serviceAccountName="s"), manager="acme.io/q"),
    ],
    "two jobs": [patch(pods("side", nodeSelector={"a": "b"}), pods(nodeSelector={"c": "d"}))],
    "volumes by name": [patch(pods(volumes=[{"name": "v", "emptyDir": {}}, {"name": "w", "emptyDir": {}}]))],
    "what says nothing": [patch(pods(nodeSelector=None, affinity=None))],
    "a container": [patch(pods(containers=[{"name": "node", "securityContext": {"runAsUser": 1}}]))],
    "labels of the pods": [
        patch({"name": "node", "template": {"spec": {"template": {"metadata": {"labels": {"a": "b"}}}}}})
    ],
    "labels of the Job": [patch({"name": "node", "template": {"metadata": {"labels": {"a": "b"}}}})],
    "a manager without a word": [{"manager": "acme.io/p"}],
}


@pytest.mark.parametrize("compat", [None, "upstream"])
@pytest.mark.parametrize("sentence", PATCHES)
def test_patched_pods_are_those_of_the_patched_template(sentence, compat, world):
    jobs = [
        world.replicated_job(pod={"volumes": [{"name": "v", "secret": {}}]}),
        world.replicated_job("side", step=""),
    ]
    patches = PATCHES[sentence]
    plain = world.runtime_of(TORCH, *jobs)
    patched = copy.deepcopy(plain)
    spec = patched_spec(plain["spec"]["template"]["spec"], patches, upstream=compat == "upstream")
    patched["spec"]["template"]["spec"] = spec
    want = world.plan_of(patched, world.train_job(), compat=compat)
    given = plain, world.train_job(runtimePatches=patches)
    before = copy.deepcopy(given)
    assert world.jobset_of(world.plan_of(*given, compat=compat)) == world.jobset_of(want)
    assert given == before


def test_upstream_makes_a_job_of_a_patch_that_names_none(world):
    job = world.train_job(runtimePatches=[patch(pods("ghost", nodeSelector={"a": "b"}))])
    made = world.plan_of(world.runtime_of(TORCH), job, compat="upstream")
    assert world.pod_of(made, "ghost") == {"nodeSelector": {"a": "b"}}
    assert [each["name"] for each in world.jobset_of(made)["spec"]["replicatedJobs"]] == ["ghost", "node"]


def test_upstream_reads_patches_into_its_types_too(world):
    volume = {"name": "v", "nfs": {"server": "s", "path": "/", "readOnly": False}}
    job = world.train_job(runtimePatches=[patch(pods(volumes=[volume]))])
    for compat, want in ((None, volume), ("upstream", {"name": "v", "nfs": {"server": "s", "path": "/"}})):
        plan = world.plan_of(world.runtime_of(TORCH), job, compat=compat)
        assert world.pod_of(plan)["volumes"] == [want]


def test_a_patch_may_move_the_label_of_the_trainer(world):
    jobs = [world.replicated_job("a", step=""), world.replicated_job("b", step="")]
    label = {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}
    job = world.train_job(
        trainer={"numNodes": 5},
        runtimePatches=[patch({"name": "b", "template": {"metadata": {"labels": label}}})],
    )
    plan = world.plan_of(world.runtime_of(TORCH, *jobs), job)
    assert world.job_of(plan, "b")["template"]["spec"]["parallelism"] == 5
    assert world.job_of(plan, "a")["template"]["spec"]["parallelism"] == 1


KUEUE = {
    "its queue label": {"labels": {"kueue.x-k8s.io/queue-name": "q"}},
    "its patch": {"runtimePatches": [patch(pods(nodeSelector={"a": "b"}), manager="kueue.x-k8s.io/manager")]},
}


def counts(world, plan):
    """What Kueue reserves: names, order, counts and requests."""
    made = []
    for job in world.jobset_of(plan)["spec"]["replicatedJobs"]:
        spec = job["template"]["spec"]
        containers = spec["template"]["spec"]["containers"]
        made.append(
            (
                job["name"],
                spec["parallelism"],
                [each.get("resources", {}).get("requests") for each in containers],
            )
        )
    return made


def kueue_runtimes(world):
    """Runtimes whose pods upstream counts in another way than we do."""
    gpus = {"resources": {"requests": {"nvidia.com/gpu": 8}}}
    nodes, launcher = world.replicated_job("node", step=""), world.replicated_job("launcher", container=gpus)
    old = world.replicated_job("node", step="", container={"name": "trainer"})
    return {
        "a launcher that is its only node": world.runtime_of(
            {"mpi": {"runLauncherAsNode": True}}, nodes, launcher
        ),
        "a launcher apart": world.runtime_of({"mpi": {}, "numNodes": 3}, nodes, launcher),
        "a launcher that stands first": world.runtime_of({"mpi": {}}, launcher, nodes),
        "no mlPolicy": world.runtime_of(),
        "no label": world.runtime_of(TORCH, old),
        "an elastic job": world.runtime_of({"torch": {"elasticPolicy": {"minNodes": 2, "maxNodes": 4}}}),
        "a trainer of two nodes": world.runtime_of(TORCH),
    }


@pytest.mark.parametrize("how", KUEUE)
@pytest.mark.parametrize("nodes", [None, 4])
def test_a_job_of_kueue_keeps_upstreams_pod_sets(how, nodes, world):
    differing = 0
    trainer = {"resourcesPerNode": {"requests": {"cpu": 3}}}
    if nodes is not None:
        trainer["numNodes"] = nodes
    for sentence, runtime in kueue_runtimes(world).items():
        job = world.train_job(trainer=trainer, **KUEUE[how])
        upstream = counts(world, world.plan_of(runtime, job, compat="upstream"))
        assert counts(world, world.plan_of(runtime, job)) == upstream, sentence
        free = counts(world, world.plan_of(runtime, world.train_job(trainer=trainer)))
        differing += free != upstream
    assert differing >= 4, "a test that would pass without Kueue's rule proves nothing"


def test_a_job_of_kueue_is_told_what_is_not_counted(world):
    old = world.replicated_job("node", step="", container={"name": "trainer"})
    job = world.train_job(trainer={"numNodes": 4}, labels={"kueue.x-k8s.io/queue-name": "q"})
    (warning,) = world.plan_of(world.runtime_of(TORCH, old), job).warnings
    assert warning.startswith("spec.trainer.numNodes: not applied to 'node', because Kueue counts")


def test_a_runtime_is_prepared_once_and_let_go_of(world):
    runtime, job = read(world.runtime_of(TORCH)), read(world.train_job())
    first = prepared.prepare(runtime, upstream=False, counts=False)
    assert prepared.prepare(runtime, upstream=False, counts=False) is first
    assert prepared.prepare(runtime, upstream=False, counts=True) is not first
    render(job, runtime)
    key = id(runtime)
    assert key in prepared._CACHE
    del runtime
    assert key not in prepared._CACHE


def test_volumes_of_every_kind_arrive_as_they_are(world):
    volumes = [
        {"name": "claim", "persistentVolumeClaim": {"claimName": "c", "readOnly": True}},
        {"name": "image", "image": {"reference": "lab/model:1", "pullPolicy": "IfNotPresent"}},
        {"name": "host", "hostPath": {"path": "/data", "type": "Directory"}},
        {"name": "later", "kindOfTomorrow": {"depth": [1, {"a": None}]}},
    ]
    mounts = [
        {"name": "claim", "mountPath": "/a", "subPath": "shard"},
        {"name": "claim", "mountPath": "/b", "subPathExpr": "part-$(JOB_COMPLETION_INDEX)"},
        {"name": "image", "mountPath": "/model", "readOnly": True},
    ]
    node = world.replicated_job(container={"volumeMounts": mounts}, pod={"volumes": volumes})
    plan = world.plan_of(world.runtime_of(TORCH, node), world.train_job())
    assert world.pod_of(plan)["volumes"] == volumes
    assert world.container_of(plan)["volumeMounts"] == mounts
    (warning,) = plan.warnings
    assert warning.startswith("volume 'host' of job 'node' is the folder '/data' of whatever node")


def test_a_patched_host_path_is_told_of_too(world):
    job = world.train_job(runtimePatches=[patch(pods(volumes=[{"name": "h", "hostPath": {"path": "/x"}}]))])
    (warning,) = world.plan_of(world.runtime_of(TORCH), job).warnings
    assert "'/x'" in warning
