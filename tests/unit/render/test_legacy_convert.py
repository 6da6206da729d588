"""What takes the place of a job of an older kind: it is right, it says the same, and what is lost is told."""

from pathlib import Path

import pytest
import yaml

from kfp_trainer.runtime_operator.api.legacy import check_legacy, read_legacy
from kfp_trainer.runtime_operator.render.dry_run import dry_run
from kfp_trainer.runtime_operator.render.legacy import admit_legacy
from kfp_trainer.runtime_operator.render.legacy.convert import convert
from tests.legacy_jobs import legacy_job

CASES = Path(__file__).parents[2] / "conformance_v1" / "cases"
HOSTS = "host names: programs that spell them themselves need the new ones, which `explain` tells"


def rendered(job):
    made = convert(job)
    (outcome,) = dry_run([made.runtime, made.train_job]).jobs
    assert outcome.errors == ()
    return outcome.plan.find("JobSet")["spec"]


def node(spec, name="node"):
    return next(each for each in spec["replicatedJobs"] if each["name"] == name)["template"]["spec"]


def env(spec, name="node"):
    (main,) = node(spec, name)["template"]["spec"]["containers"]
    assert main["name"] == "node"
    return {each["name"]: each.get("value") for each in main.get("env", ())}


def command(*words: str) -> dict:
    return {"pod": {"containers": [{"name": "pytorch", "image": "i", "command": [*words]}]}}


def test_whatever_was_admitted_becomes_a_trainjob_that_is_right():
    for path in sorted(CASES.glob("*.yaml")):
        document = yaml.load(path.read_text(), Loader=yaml.CSafeLoader)["input"][-1]
        checked = check_legacy(document)
        if checked.errors or admit_legacy(checked.stored).errors:
            continue
        made = convert(read_legacy(checked.stored))
        run = dry_run([made.runtime, made.train_job])
        assert [str(each) for part in (*run.runtimes, *run.jobs) for each in part.errors] == [], path.stem


def test_master_and_workers_are_nodes_of_one_job():
    spec = rendered(legacy_job("PyTorchJob", {"Master": {}, "Worker": {"replicas": 3}}))
    assert (node(spec)["completions"], [each["name"] for each in spec["replicatedJobs"]]) == (4, ["node"])
    assert (env(spec)["WORLD_SIZE"], env(spec)["MASTER_ADDR"]) == ("4", "job-node-0-0.job")


def test_torchrun_gets_the_policy_of_torch():
    roles = {
        "Master": command("torchrun", "train.py"),
        "Worker": command("python", "-m", "torch.distributed.run"),
    }
    spec = rendered(legacy_job("PyTorchJob", roles, nprocPerNode="2"))
    assert env(spec)["PET_NPROC_PER_NODE"] == "2" and "WORLD_SIZE" not in env(spec)


def test_an_elastic_job_keeps_its_bounds():
    roles = {"Worker": {"replicas": 2, **command("torchrun", "train.py")}}
    made = convert(legacy_job("PyTorchJob", roles, elasticPolicy={"minReplicas": 1, "maxReplicas": 4}))
    assert made.runtime["spec"]["mlPolicy"]["torch"]["elasticPolicy"] == {"minNodes": 1, "maxNodes": 4}


def test_workers_of_xgboost_are_found_after_the_master():
    spec = rendered(legacy_job("XGBoostJob", {"Master": {}, "Worker": {"replicas": 2}}))
    assert env(spec)["WORKER_ADDRS"] == "job-node-0-1.job,job-node-0-2.job"


def test_roles_of_a_tfjob_stay_apart_and_the_chief_decides():
    spec = rendered(legacy_job("TFJob", {"Chief": {}, "PS": {"replicas": 2}, "Worker": {"replicas": 2}}))
    assert spec["successPolicy"]["targetReplicatedJobs"] == ["chief"]
    assert (
        '"ps":["job-ps-0-0.job.lab.svc:2222","job-ps-0-1.job.lab.svc:2222"]'
        in env(spec, "worker")["TF_CONFIG"]
    )
    assert node(spec, "ps")["completions"] == 2


def test_mpi_goes_by_ssh():
    roles = {"Launcher": {}, "Worker": {"replicas": 2}}
    spec = rendered(legacy_job("MPIJob", roles, slotsPerWorker=4))
    assert [each["name"] for each in spec["replicatedJobs"]] == ["node", "launcher"]
    assert node(spec)["template"]["spec"]["containers"][0]["command"] == ["/usr/sbin/sshd"]
    assert env(spec, "launcher")["OMPI_MCA_orte_set_default_slots"] == "4"


def test_terms_of_the_job_go_to_the_trainjob():
    policy = {"suspend": True, "activeDeadlineSeconds": 9, "ttlSecondsAfterFinished": 8}
    made = convert(legacy_job("JAXJob", {"Worker": {}}, runPolicy=policy))
    assert {name: made.train_job["spec"][name] for name in policy} == policy


def test_a_name_without_room_for_pods_is_shortened():
    made = convert(legacy_job("JAXJob", {"Worker": {}}, name="a" * 60))
    assert len(made.train_job["metadata"]["name"]) < 50
    assert made.lost[0].startswith("metadata.name: is ")


LOST = {
    "nothing but the names": (legacy_job("JAXJob", {"Worker": {"replicas": 2}}), ()),
    "what only the master does": (
        legacy_job("PyTorchJob", {"Master": command("python", "a.py"), "Worker": {}}),
        (
            "spec.pytorchReplicaSpecs[Master].template: all nodes are alike, "
            "so the master runs what the workers do",
        ),
    ),
    "the rule of the first worker": (
        legacy_job("TFJob", {"Worker": {"replicas": 2}}),
        ("success: the job has succeeded when all its workers have, not when the first has",),
    ),
    "what becomes of pods": (
        legacy_job("JAXJob", {"Worker": {"replicas": 2}}, runPolicy={"cleanPodPolicy": "All"}),
        (
            "spec.runPolicy.cleanPodPolicy: pods that still run end with the job, "
            "and those that have ended stay",
        ),
    ),
    "an autoscaler": (
        legacy_job(
            "PaddleJob", {"Worker": {"replicas": 2}}, elasticPolicy={"metrics": [{"type": "Resource"}]}
        ),
        ("spec.elasticPolicy.metrics: nothing scales a TrainJob",),
    ),
}


@pytest.mark.parametrize(("job", "sentences"), LOST.values(), ids=LOST)
def test_what_is_lost_is_told(job, sentences):
    assert set(convert(job).lost) == {HOSTS, *sentences}


def test_nothing_is_lost_of_a_job_of_one_replica():
    assert convert(legacy_job("TFJob", {"Worker": {}})).lost == ()
