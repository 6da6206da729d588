import copy
import shutil

import pytest

from kfp_trainer.runtime_operator.errors import SpecError
from kfp_trainer.runtime_operator.jobs.shipped import shipped_runtimes
from kfp_trainer.runtime_operator.local.submission import submit
from tests.legacy_jobs import legacy_document

JOB = {
    "apiVersion": "trainer.kubeflow.org/v1alpha1",
    "kind": "TrainJob",
    "metadata": {"name": "bert"},
    "spec": {"runtimeRef": {"name": "torch-distributed"}, "trainer": {"numNodes": 2, "command": ["train"]}},
}


def job(**spec: object) -> dict:
    document = copy.deepcopy(JOB)
    document["spec"] |= spec
    return document


def submitted(*documents: dict):
    return submit(documents, shipped=shipped_runtimes())


def with_secret() -> dict:
    document = job()
    source = {"secretKeyRef": {"name": "login", "key": "token"}}
    document["spec"]["trainer"]["env"] = [{"name": "TOKEN", "valueFrom": source}]
    return document


def test_a_job_becomes_the_jobset_of_a_cluster():
    found = submitted(job())
    assert found.jobset["metadata"]["name"] == "bert"
    node = found.jobset["spec"]["replicatedJobs"][0]["template"]["spec"]
    assert (node["completions"], node["completionMode"]) == (2, "Indexed")
    assert [each["metadata"]["name"] for each in found.objects] == ["bert-runtime-snapshot"]


def test_equal_jobs_have_equal_digests_whether_they_rest_or_not():
    assert submitted(job()).digest == submitted(job(suspend=True)).digest
    assert submitted(job()).digest != submitted(job(activeDeadlineSeconds=5)).digest


def test_what_stands_beside_the_job_is_there_for_its_pods():
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "login"}, "data": {}}
    assert "login" in [each["metadata"]["name"] for each in submitted(with_secret(), secret).objects]


@pytest.mark.skipif(
    shutil.which("ssh-keygen") is None, reason="needs ssh-keygen: apt-get install openssh-client"
)
def test_keys_of_mpi_are_drawn_here():
    document = job(runtimeRef={"name": "deepspeed-distributed"})
    secret = next(each for each in submitted(document).objects if each["kind"] == "Secret")
    assert set(secret["data"]) == {"ssh-privatekey", "ssh-publickey"}


REFUSED = {
    "no job": ((), "no job in it; add one, or name another file"),
    "two jobs": ((job(), {**job(), "metadata": {"name": "gpt"}}), "needs one job, got 2"),
    "a runtime that nobody has": ((job(runtimeRef={"name": "none"}),), "none"),
    "a manager that is not here": (
        (job(managedBy="kueue.x-k8s.io/multikueue"),),
        "kueue.x-k8s.io/multikueue",
    ),
    "a Secret that nobody has given": ((with_secret(),), 'Secret "login" is not found'),
}


@pytest.mark.parametrize("sentence", REFUSED)
def test_refused(sentence):
    documents, said = REFUSED[sentence]
    with pytest.raises(SpecError, match=said):
        submitted(*documents)


def test_a_job_of_an_older_kind_ends_by_its_jobset_alone():
    found = submitted(legacy_document("PyTorchJob", {"Master": {}, "Worker": {"replicas": 2}}))
    spec = found.jobset["spec"]
    assert spec["successPolicy"]["targetReplicatedJobs"] == ["master"]
    worker = spec["replicatedJobs"][1]["template"]["spec"]
    assert (worker["completionMode"], "initContainers" in worker["template"]["spec"]) == ("Indexed", False)
    assert [each["metadata"]["name"] for each in found.objects] == [
        "job-master-0",
        "job-worker-0",
        "job-worker-1",
    ]


@pytest.mark.parametrize("manager", ["kubeflow.org/training-operator", "kfp-trainer/operator"])
def test_an_older_job_runs_as_it_is_stored_in_a_cluster(manager):
    document = legacy_document("PyTorchJob", {"Master": {}}, runPolicy={"managedBy": manager})
    assert submitted(document).jobset["kind"] == "JobSet"


def test_an_older_job_that_rests_has_the_digest_of_one_that_runs():
    rests = legacy_document("TFJob", {"Worker": {}}, runPolicy={"suspend": True})
    assert submitted(rests).digest == submitted(legacy_document("TFJob", {"Worker": {}}, runPolicy={})).digest


def test_another_script_in_a_config_map_is_another_request():
    def asked(script: str) -> str:
        scripts = {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": "scripts"},
            "data": {"train.py": script},
        }
        return submitted(job(), scripts).digest

    assert asked("print(1)") == asked("print(1)") != asked("print(2)")


def test_an_mpijob_of_v1_runs_without_rights_and_says_so():
    made = submitted(legacy_document("MPIJob", {"Launcher": {}, "Worker": {"replicas": 2}}))
    assert made.warnings == (
        "Role/job-launcher: left out here: the job's runner starts what the launcher asks of kubectl, "
        "which needs no rights",
    )
    (config,) = (each["data"] for each in made.objects if each["kind"] == "ConfigMap")
    assert config["kubexec.sh"].endswith('shift\n/opt/kube/kubectl exec ${POD_NAME} -- /bin/sh -c "$*"')
    assert config["discover_hosts.sh"] == "#!/bin/sh\necho job-worker-0:1\necho job-worker-1:1"


NOT_HERE = {
    "a job that another cluster runs": (
        legacy_document("TFJob", {"Worker": {}}, runPolicy={"managedBy": "kueue.x-k8s.io/multikueue"}),
        "spec.runPolicy.managedBy: kueue.x-k8s.io/multikueue is not on this machine; remove it",
    ),
}


@pytest.mark.parametrize(("document", "sentence"), NOT_HERE.values(), ids=NOT_HERE)
def test_older_jobs_that_do_not_run_here(document, sentence):
    with pytest.raises(SpecError) as error:
        submitted(document)
    assert str(error.value) == sentence
