"""What would become of documents, step by step, and at which step it ends."""

from __future__ import annotations

import json

import pytest

from kfp_trainer.runtime_operator.errors import SpecError
from kfp_trainer.runtime_operator.render.dry_run import dry_run
from kfp_trainer.runtime_operator.render.facts import Facts

VERSION = "trainer.kubeflow.org/v1alpha1"
LABELS = {"labels": {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}}


def runtime(name="torch", *, replicas=1, image="i", policy=None, **metadata):
    pod = {"containers": [{"name": "node", "image": image}]}
    job = {
        "name": "node",
        "replicas": replicas,
        "template": {"metadata": LABELS, "spec": {"template": {"spec": pod}}},
    }
    return {
        "apiVersion": VERSION,
        "kind": "ClusterTrainingRuntime",
        "metadata": {"name": name, **metadata},
        "spec": {"mlPolicy": policy or {"torch": {}}, "template": {"spec": {"replicatedJobs": [job]}}},
    }


def job(name="bert", ref="torch", **spec):
    spec = {"runtimeRef": {"name": ref}, **spec}
    return {"apiVersion": VERSION, "kind": "TrainJob", "metadata": {"name": name, "uid": "u"}, "spec": spec}


def snapshot(owner="u"):
    text = json.dumps(runtime())
    owners = [{"uid": owner, "controller": True}]
    metadata = {"name": "bert-runtime-snapshot", "namespace": "default", "ownerReferences": owners}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"runtime": text}}


def fields(found):
    return [(error.object, error.field) for error in found.errors]


REFUSED = {
    "by the schema": (
        [runtime(), job(trainer={"numNodes": "two"})],
        ("TrainJob/bert", "spec.trainer.numNodes"),
    ),
    "for a field that nobody knows": (
        [runtime(), job(trainer={"nodes": 2})],
        ("TrainJob/bert", "spec.trainer.nodes"),
    ),
    "by admission": (
        [runtime(), job(trainer={"env": [{"name": "A"}]}, ref="gone")],
        ("TrainJob/bert", "spec.RuntimeRef"),
    ),
    "because its runtime is refused by the schema": (
        [runtime(image=3), job()],
        (
            "ClusterTrainingRuntime/torch",
            "spec.template.spec.replicatedJobs[0].template.spec.template.spec.containers[0].image",
        ),
    ),
    "because its runtime is refused by its own rules": (
        [runtime(replicas=2), job()],
        ("ClusterTrainingRuntime/torch", "spec.template.spec.replicatedJobs[0].replicas"),
    ),
    "because the stored one cannot be": (
        [runtime(), job(suspend="yes"), job()],
        ("TrainJob/bert", "spec.suspend"),
    ),
    "because the stored one has a quantity that is none": (
        [runtime(), job(trainer={"resourcesPerNode": {"limits": {"cpu": "two"}}}), job()],
        ("TrainJob/bert", "spec.trainer.resourcesPerNode.limits.cpu"),
    ),
    "because the stored one is of no version": (
        [runtime(), {**job(), "apiVersion": "v1"}, job()],
        ("TrainJob/", "apiVersion"),
    ),
    "because a change is not allowed": (
        [runtime(), job(trainer={"numNodes": 1}), job(trainer={"numNodes": 2})],
        ("TrainJob/bert", "spec.trainer"),
    ),
}


@pytest.mark.parametrize("sentence", REFUSED)
def test_a_job_is_refused(sentence):
    documents, want = REFUSED[sentence]
    (found,) = dry_run(documents).jobs
    assert fields(found)[0] == want
    assert found.plan is None


def test_what_was_stored_before_a_rule_of_ours_can_still_be_suspended():
    (found,) = dry_run(
        [runtime(), job(trainer={"numNodes": 0}), job(trainer={"numNodes": 0}, suspend=True)]
    ).jobs
    assert found.errors == ()


def test_upstream_does_not_judge_again_what_an_update_leaves_as_it_was():
    stored = job(activeDeadlineSeconds=0)
    (found,) = dry_run(
        [runtime(), stored, job(activeDeadlineSeconds=0, suspend=True)], compat="upstream"
    ).jobs
    assert found.errors == ()


def test_a_job_is_built():
    (found,) = dry_run([runtime(), job()]).jobs
    assert found.errors == ()
    assert [each["kind"] for each in found.plan.objects] == ["ConfigMap", "JobSet"]


def test_every_job_is_tried():
    found = dry_run([runtime(), job("a"), job("b", ref="gone"), job("c")]).jobs
    assert [each.plan is not None for each in found] == [True, False, True]


def test_a_runtime_is_reviewed_without_a_job():
    run = dry_run([runtime(replicas=2)])
    assert (run.runtimes[0].name, fields(run.runtimes[0]), run.jobs) == (
        "ClusterTrainingRuntime/torch",
        [("ClusterTrainingRuntime/torch", "spec.template.spec.replicatedJobs[0].replicas")],
        (),
    )


def test_what_is_shipped_serves_beside_what_is_given():
    (found,) = dry_run([job(ref="shipped")], shipped=[runtime("shipped")]).jobs
    assert found.errors == ()


def test_what_is_given_goes_before_what_is_shipped():
    (found,) = dry_run([job(), runtime(image="mine")], shipped=[runtime(image="theirs")]).jobs
    assert found.runtime.stored["spec"]["template"]["spec"]["replicatedJobs"][0]["template"]["spec"][
        "template"
    ]["spec"]["containers"] == [{"name": "node", "image": "mine"}]


NEARLY = {
    # the runtime that is there, what the job names: what is asked
    "a misspelt name": (
        {},
        {"name": "torh"},
        ["spec.runtimeRef: did you mean ClusterTrainingRuntime 'torch'?"],
    ),
    "another kind": (
        {},
        {"name": "torch", "kind": "TrainingRuntime"},
        ["spec.runtimeRef: did you mean ClusterTrainingRuntime 'torch'?"],
    ),
    "another namespace": (
        {"kind": "TrainingRuntime", "metadata": {"name": "torch", "namespace": "lab"}},
        {"name": "torch", "kind": "TrainingRuntime"},
        ["spec.runtimeRef: did you mean TrainingRuntime 'torch' of namespace 'lab'?"],
    ),
    "nothing near": ({}, {"name": "qwertz"}, []),
}


@pytest.mark.parametrize("sentence", NEARLY)
def test_a_runtime_that_is_nearly_there(sentence):
    more, reference, want = NEARLY[sentence]
    documents = [{**runtime(), **more}, {**job(), "spec": {"runtimeRef": reference}}]
    (found,) = dry_run(documents).jobs
    assert [each for each in found.warnings if "did you mean" in each] == want
    (theirs,) = dry_run(documents, compat="upstream").jobs
    assert theirs.warnings == ()


def test_the_snapshot_serves_where_the_runtime_is_gone():
    stored = job(suspend=True)
    (found,) = dry_run([snapshot(), stored, job()]).jobs
    assert found.errors == ()
    assert found.plan.find("JobSet") is not None


def test_what_exists_is_seen_and_facts_are_kept():
    facts = Facts(existing={("Node", "n"): {}}, features=frozenset({"F"}))
    secret = {"kind": "Secret", "metadata": {"name": "s"}}
    (found,) = dry_run([runtime(), job(), secret], facts=facts).jobs
    assert set(found.facts.existing) == {("Node", "n"), ("Secret", "s")}
    assert found.facts.features == {"F"}
    assert found.facts.looked_up == {"Secret"}


def test_of_the_operators_namespace_only_its_certificate_is_seen():
    def secret(name, namespace):
        return {"kind": "Secret", "metadata": {"name": name, "namespace": namespace}}

    name = "kubeflow-trainer-webhook-cert"
    own, forged = secret(name, "kubeflow-system"), secret(name, "default")
    others = [secret("s", "kubeflow-system"), own, forged]
    (found,) = dry_run([runtime(), job(), *others]).jobs
    assert found.facts.existing == {("Secret", name): own}


def test_a_build_that_cannot_be_done_says_why():
    """Upstream admits it, and the controller then finds a snapshot of another job."""
    (found,) = dry_run([runtime(), job(), snapshot(owner="another")], compat="upstream").jobs
    assert isinstance(found.build_error, SpecError)
    assert [error.detail for error in found.errors] == [
        "invalid runtime snapshot: a snapshot configmap exists but is owned by another object"
    ]


def test_upstream_drops_what_it_does_not_know_and_we_say_so():
    (found,) = dry_run([runtime(), job(trainer={"nodes": 2})], compat="upstream").jobs
    assert found.errors == ()
    assert found.warnings == ("spec.trainer.nodes: unknown field, dropped",)


def test_a_document_that_is_none_of_ours_is_refused_by_name():
    (found,) = dry_run([{**runtime(), "apiVersion": "v1"}]).runtimes
    assert (found.name, fields(found)) == (
        "ClusterTrainingRuntime/torch",
        [("ClusterTrainingRuntime/torch", "apiVersion")],
    )


def test_a_job_for_another_cluster_says_so():
    (found,) = dry_run([runtime(), job(managedBy="kueue.x-k8s.io/multikueue")]).jobs
    assert found.warnings == (
        "spec.managedBy: kueue.x-k8s.io/multikueue runs this job on another cluster: here nothing is built",
    )
