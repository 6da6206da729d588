"""What an MPIJob of v2beta1 becomes: keys, hosts, variables and who waits for whom."""

import json

import pytest

from kfp_trainer.runtime_operator.local.semantics import admit
from kfp_trainer.runtime_operator.render.facts import Facts
from kfp_trainer.runtime_operator.render.legacy import Installation, render_legacy
from kfp_trainer.runtime_operator.render.legacy.convert import convert
from kfp_trainer.runtime_operator.render.legacy.mpi import Workers
from tests.legacy_jobs import legacy_job, ssh_job

ALONE = Installation(judge="jobset", init_tries=0)
KEYS = {"ssh-privatekey": "private", "ssh-publickey": "public"}


def spec_of(plan, role):
    jobs = plan.find("JobSet")["spec"]["replicatedJobs"]
    return next(each for each in jobs if each["name"] == role)["template"]["spec"]


def pod(plan, role):
    return spec_of(plan, role)["template"]


def env(plan, role):
    return {each["name"]: each["value"] for each in pod(plan, role)["spec"]["containers"][0]["env"]}


def data(plan):
    return plan.find("ConfigMap", "job-config")["data"]


HOSTFILES = {
    "OpenMPI counts slots": (
        ssh_job(slotsPerWorker=2),
        "job-worker-0.lab.svc slots=2\njob-worker-1.lab.svc slots=2\n",
    ),
    "Intel MPI and MPICH have them behind a colon": (
        ssh_job(1, mpiImplementation="Intel", slotsPerWorker=3),
        "job-worker-0.lab.svc:3\n",
    ),
    "a launcher that computes comes first": (
        ssh_job(1, runLauncherAsWorker=True, mpiImplementation="MPICH"),
        "job-launcher.lab.svc:1\njob-worker-0.lab.svc:1\n",
    ),
}


@pytest.mark.parametrize(("job", "hostfile"), HOSTFILES.values(), ids=HOSTFILES)
def test_hostfile(job, hostfile):
    assert data(render_legacy(job))["hostfile"] == hostfile


def test_hosts_bear_the_clusters_domain_where_one_is_named():
    plan = render_legacy(ssh_job(1), installation=Installation(custom_domain="cluster.example"))
    assert data(plan)["hostfile"] == "job-worker-0.lab.svc.cluster.example slots=1\n"


def test_discovery_tells_the_hosts_that_run():
    workers = Workers({0: "job-worker-0-0-abcde", 1: "job-worker-1-0-fghij"}, frozenset({1}))
    plan = render_legacy(ssh_job(runLauncherAsWorker=True), workers=workers)
    told = data(plan)["discover_hosts.sh"].splitlines()
    assert told == ["#!/bin/sh", "echo job-launcher.lab.svc", "echo job-worker-1.lab.svc"]


VARIABLES = {
    "OpenMPI": {
        "OMPI_MCA_orte_default_hostfile": "/etc/mpi/hostfile",
        "OMPI_MCA_orte_keep_fqdn_hostnames": "true",
        "OMPI_MCA_orte_set_default_slots": "2",
        "OMPI_MCA_plm_rsh_args": "-o ConnectionAttempts=10",
    },
    "Intel": {
        "I_MPI_HYDRA_HOST_FILE": "/etc/mpi/hostfile",
        "I_MPI_HYDRA_BOOTSTRAP_EXEC_EXTRA_ARGS": "-o ConnectionAttempts=10",
        "I_MPI_PERHOST": "2",
    },
    "MPICH": {
        "HYDRA_HOST_FILE": "/etc/mpi/hostfile",
        "HYDRA_LAUNCH_EXTRA_ARGS": "-o ConnectionAttempts=10",
        "HYDRA_LAUNCHER_EXTRA_ARGS": "-o ConnectionAttempts=10",
    },
}
HIDDEN = {"NVIDIA_VISIBLE_DEVICES": "", "NVIDIA_DRIVER_CAPABILITIES": ""}


@pytest.mark.parametrize(("implementation", "expected"), VARIABLES.items())
def test_variables(implementation, expected):
    job = ssh_job(mpiImplementation=implementation, slotsPerWorker=2)
    plan = render_legacy(job)
    assert env(plan, "launcher") == {"K_MPI_JOB_ROLE": "launcher", **expected, **HIDDEN}
    assert env(plan, "worker") == {"K_MPI_JOB_ROLE": "worker"}


def test_a_launcher_that_computes_sees_its_gpus():
    assert not HIDDEN.keys() & env(render_legacy(ssh_job(runLauncherAsWorker=True)), "launcher").keys()


@pytest.mark.parametrize(("path", "mode"), {"/root/.ssh": 0o600, "/home/mpiuser/.ssh": None}.items())
def test_both_roles_have_the_keys_where_the_job_wants_them(path, mode):
    plan = render_legacy(ssh_job(sshAuthMountPath=path), Facts(keys=KEYS))
    for role in ("launcher", "worker"):
        spec = pod(plan, role)["spec"]
        (volume,) = (each["secret"] for each in spec["volumes"] if each["name"] == "ssh-auth")
        assert (volume["secretName"], volume.get("defaultMode")) == ("job-ssh", mode)
        assert [each["path"] for each in volume["items"]] == ["id_rsa", "id_rsa.pub", "authorized_keys"]
        assert {"name": "ssh-auth", "mountPath": path} in spec["containers"][0]["volumeMounts"]
    secret = plan.find("Secret", "job-ssh")
    assert (secret["type"], secret["immutable"], set(secret["data"])) == (
        "kubernetes.io/ssh-auth",
        True,
        set(KEYS),
    )


def test_a_worker_that_says_nothing_serves_ssh():
    quiet = pod(render_legacy(ssh_job()), "worker")["spec"]["containers"][0]
    told = {"containers": [{"name": "mpi", "image": "i", "args": ["serve"]}]}
    job = legacy_job("MPIJob", {"Launcher": {}, "Worker": {"pod": told}}, version="v2beta1")
    assert quiet["command"] == ["/usr/sbin/sshd", "-De"]
    assert "command" not in pod(render_legacy(job), "worker")["spec"]["containers"][0]


def test_every_replica_has_an_address_before_it_is_ready():
    services = [each for each in render_legacy(ssh_job()).objects if each["kind"] == "Service"]
    assert [each["metadata"]["name"] for each in services] == ["job-worker-0", "job-worker-1", "job-launcher"]
    assert all(each["spec"]["publishNotReadyAddresses"] for each in services)
    assert pod(render_legacy(ssh_job()), "launcher")["spec"]["hostname"] == "job-launcher"


def test_labels_are_the_mpi_operators():
    plan = render_legacy(ssh_job(1, runLauncherAsWorker=True))
    prefix = "training.kubeflow.org/"
    found = {role: pod(plan, role)["metadata"]["labels"] for role in ("launcher", "worker")}
    assert found["launcher"][f"{prefix}operator-name"] == "mpi-operator"
    assert [found[role][f"{prefix}job-role"] for role in found] == ["launcher", "worker"]
    assert [found[role][f"{prefix}replica-index"] for role in found] == ["0", "1"]


def test_the_owner_is_named_in_the_version_that_kueue_knows():
    (owner,) = render_legacy(ssh_job()).find("JobSet")["metadata"]["ownerReferences"]
    assert (owner["apiVersion"], owner["kind"]) == ("kubeflow.org/v2beta1", "MPIJob")


def test_a_launcher_waits_only_where_it_is_to():
    jobs = [
        {each["name"]: each.get("dependsOn") for each in plan.find("JobSet")["spec"]["replicatedJobs"]}
        for plan in (
            render_legacy(ssh_job()),
            render_legacy(ssh_job(launcherCreationPolicy="WaitForWorkersReady")),
        )
    ]
    assert jobs[0] == {"worker": None, "launcher": None}
    assert jobs[1] == {"worker": None, "launcher": [{"name": "worker", "status": "Ready"}]}


GANGS = {
    "all pods at once": ({}, 3, {"queue": "default"}),
    "but for a launcher that waits for the others": (
        {"launcherCreationPolicy": "WaitForWorkersReady"},
        2,
        {"queue": "default"},
    ),
    "in the queue and with the priority of the job": (
        {"runPolicy": {"schedulingPolicy": {"queue": "fast", "priorityClass": "high", "minAvailable": 1}}},
        1,
        {"queue": "fast", "priorityClassName": "high"},
    ),
}


@pytest.mark.parametrize(("spec", "members", "expected"), GANGS.values(), ids=GANGS)
def test_gang(spec, members, expected):
    plan = render_legacy(ssh_job(**spec), installation=Installation(gang_scheduler="volcano"))
    spec = plan.find("PodGroup")["spec"]
    found = {name: value for name, value in spec.items() if name != "minResources"}
    assert found == {"minMember": members, **expected}


def test_a_gang_takes_queue_and_priority_of_an_annotation_and_the_launcher():
    job = ssh_job(launcher={"pod": {"priorityClassName": "top", "schedulerName": "mine"}})
    job.metadata["annotations"] = {"scheduling.volcano.sh/queue-name": "night"}
    plan = render_legacy(job, installation=Installation(gang_scheduler="volcano"))
    group = plan.find("PodGroup")["spec"]
    assert (group["queue"], group["priorityClassName"]) == ("night", "top")
    assert pod(plan, "launcher")["spec"]["schedulerName"] == "volcano"


ALONE_TRIES = {
    "as often as a Job": ({}, {"backoffLimit": 6, "podReplacementPolicy": "Failed"}),
    "as often as the job says, and no longer": (
        {"runPolicy": {"backoffLimit": 0, "activeDeadlineSeconds": 60}},
        {"backoffLimit": 0, "activeDeadlineSeconds": 60},
    ),
}


@pytest.mark.parametrize(("spec", "expected"), ALONE_TRIES.values(), ids=ALONE_TRIES)
def test_alone_a_launcher_is_tried(spec, expected):
    launcher = spec_of(render_legacy(ssh_job(**spec), installation=ALONE), "launcher")
    assert {key: launcher[key] for key in expected} == expected


@pytest.mark.parametrize("installation", [Installation(), ALONE], ids=["on a cluster", "alone"])
def test_its_jobset_is_one_that_jobset_admits(installation):
    job = ssh_job(launcherCreationPolicy="WaitForWorkersReady", runLauncherAsWorker=True)
    plan = render_legacy(job, installation=installation)
    assert admit(json.loads(json.dumps(plan.find("JobSet")))).errors == ()


def test_it_converts_to_the_policy_of_a_trainjob():
    made = convert(ssh_job(slotsPerWorker=2, mpiImplementation="Intel", runLauncherAsWorker=True))
    assert made.runtime["spec"]["mlPolicy"] == {
        "numNodes": 3,
        "mpi": {
            "numProcPerNode": 2,
            "mpiImplementation": "Intel",
            "runLauncherAsNode": True,
            "sshAuthMountPath": "/root/.ssh",
        },
    }
    assert [each.partition(":")[0] for each in made.lost] == [
        "host names",
        "K_MPI_JOB_ROLE",
        "spec.launcherCreationPolicy",
    ]
