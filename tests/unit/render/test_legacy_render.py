"""What jobs of the older kinds become, beyond what the recordings of tests/conformance_v1 show."""

import json
from pathlib import Path

import pytest
import yaml

from kfp_trainer.runtime_operator.api.legacy import check_legacy, read_legacy
from kfp_trainer.runtime_operator.errors import SpecError
from kfp_trainer.runtime_operator.local.semantics import admit
from kfp_trainer.runtime_operator.render.facts import Facts
from kfp_trainer.runtime_operator.render.legacy import Installation, admit_legacy, render_legacy
from kfp_trainer.runtime_operator.render.legacy.parts import lay_out
from tests.legacy_jobs import legacy_job

CASES = Path(__file__).parents[2] / "conformance_v1" / "cases"
ALONE = Installation(judge="jobset", init_tries=0)


def jobset(plan):
    return plan.find("JobSet")["spec"]


def template(plan, name):
    return next(each for each in jobset(plan)["replicatedJobs"] if each["name"] == name)["template"]["spec"]


def env(plan, name, container=0):
    pod = template(plan, name)["template"]["spec"]
    return {each["name"]: each.get("value") for each in pod["containers"][container].get("env", ())}


@pytest.mark.parametrize("installation", [Installation(), ALONE], ids=["on a cluster", "alone"])
def test_every_jobset_is_one_that_jobset_admits(installation):
    for path in sorted(CASES.glob("*.yaml")):
        document = yaml.load(path.read_text(), Loader=yaml.CSafeLoader)["input"][-1]
        checked = check_legacy(document)
        if checked.errors or admit_legacy(checked.stored).errors:
            continue
        if any("Always" in str(role.get("restartPolicy")) for role in _roles(document)):
            continue
        plan = render_legacy(read_legacy(checked.stored), Facts(), installation)
        assert admit(json.loads(json.dumps(plan.find("JobSet")))).errors == (), path.stem


def _roles(document):
    return next(value for name, value in document["spec"].items() if name.endswith("ReplicaSpecs")).values()


def test_pods_and_services_of_a_name_that_is_too_long_get_a_shorter_one_and_labels_keep_it():
    name = "a" * 60
    plan = render_legacy(legacy_job("JAXJob", {"Worker": {"replicas": 2}}, name=name))
    services = [each["metadata"]["name"] for each in plan.objects if each["kind"] == "Service"]
    assert all(len(each) <= 63 for each in services) and len(set(services)) == 2
    assert env(plan, "worker")["COORDINATOR_ADDRESS"] == services[0]
    assert len(plan.find("JobSet")["metadata"]["name"]) < 55
    labels = template(plan, "worker")["template"]["metadata"]["labels"]
    assert labels["training.kubeflow.org/job-name"] == name


def test_two_long_names_that_begin_alike_stay_apart():
    stems = {lay_out(legacy_job("JAXJob", {"Worker": {}}, name="a" * 60 + end)).stem for end in "xy"}
    assert len(stems) == 2


def test_a_users_text_is_expanded_as_in_any_variable():
    elastic = {"rdzvConf": [{"key": "token", "value": "$(HOME)"}], "minReplicas": 1}
    plan = render_legacy(legacy_job("PyTorchJob", {"Worker": {}}, elasticPolicy=elastic))
    assert env(plan, "worker")["PET_RDZV_CONF"] == "token=$(HOME)"
    assert env(plan, "worker")["PET_NNODES"] == "1:1"


def test_a_role_without_replicas_is_an_empty_list_of_the_cluster():
    roles = {"Chief": {}, "PS": {}, "Worker": {"replicas": 0}}
    config = json.loads(env(render_legacy(legacy_job("TFJob", roles)), "ps")["TF_CONFIG"])
    assert config["cluster"]["worker"] == []


def test_servers_of_tensorflow_on_one_machine_have_ports_of_their_own():
    roles = {"Chief": {}, "PS": {"replicas": 2}, "Worker": {}}
    here = Installation(judge="jobset", one_machine=True, init_tries=0)
    plan = render_legacy(legacy_job("TFJob", roles), installation=here)
    found = json.loads(env(plan, "chief")["TF_CONFIG"])["cluster"]
    ports = [each.rpartition(":")[2] for role in ("chief", "ps", "worker") for each in found[role]]
    assert ports == ["2222", "2223", "2224", "2225"]


def test_hosts_have_as_many_slots_as_the_job_says():
    roles = {"Launcher": {}, "Worker": {}}
    for given, slots in (({}, 1), ({"slotsPerWorker": 0}, 0), ({"slotsPerWorker": 4}, 4)):
        plan = render_legacy(legacy_job("MPIJob", roles, **given))
        assert plan.find("ConfigMap")["data"]["hostfile"] == f"job-worker-0 slots={slots}\n"


def test_a_users_labels_stay_but_for_the_number():
    labels = {
        "training.kubeflow.org/job-role": "master",
        "training.kubeflow.org/replica-index": "7",
        "a": "b",
    }
    roles = {"Worker": {"replicas": 2, "metadata": {"labels": labels}}}
    plan = render_legacy(legacy_job("PyTorchJob", roles))
    kept = template(plan, "worker")["template"]["metadata"]["labels"]
    assert {**labels, **kept}["training.kubeflow.org/job-role"] == "master"
    assert kept["a"] == "b"
    assert "training.kubeflow.org/replica-index" not in kept


def test_pods_of_an_elastic_job_have_host_names_and_others_none():
    worker = {"Worker": {"replicas": 2}}
    plain = render_legacy(legacy_job("PyTorchJob", worker)).find("JobSet")
    assert plain["spec"]["network"] == {"enableDNSHostnames": False}
    elastic = render_legacy(legacy_job("PyTorchJob", worker, elasticPolicy={"minReplicas": 1}))
    spec = elastic.find("JobSet")["spec"]
    assert spec["network"] == {"enableDNSHostnames": True, "subdomain": "job-hosts"}
    assert spec["replicatedJobs"][0]["template"]["spec"]["completionMode"] == "Indexed"
    named = {"Worker": {"pod": {"hostname": "h"}}}
    own = render_legacy(legacy_job("PyTorchJob", named, elasticPolicy={"minReplicas": 1})).find("JobSet")
    assert own["spec"]["network"] == {"enableDNSHostnames": False}


def test_variables_of_the_framework_come_once_and_last():
    pod = {
        "containers": [
            {"name": "pytorch", "image": "i", "env": [{"name": "RANK", "value": "9"}, {"name": "A"}]}
        ]
    }
    plan = render_legacy(legacy_job("PyTorchJob", {"Master": {"pod": pod}}))
    names = [each["name"] for each in template(plan, "master")["template"]["spec"]["containers"][0]["env"]]
    assert names[0] == "A" and names.count("RANK") == 1


def test_mxjob_knows_its_cluster_and_dmlc():
    job = legacy_job("MXJob", {"Scheduler": {}, "Server": {"replicas": 2}, "Worker": {"replicas": 2}})
    found = env(render_legacy(job), "worker")
    config = json.loads(found["MX_CONFIG"].replace("$(KFP_TRAINER_REPLICA_INDEX)", "1"))
    assert config["cluster"]["server"][1] == {"url": "job-server-1", "port": 9091}
    assert config["task"] == {"type": "worker", "index": 1}
    assert (found["DMLC_PS_ROOT_URI"], found["DMLC_NUM_SERVER"], found["DMLC_ROLE"]) == (
        "job-scheduler-0",
        "2",
        "worker",
    )


POLICIES = {
    "Never fails its Job at once": ("Never", {"backoffLimit": 0}),
    "OnFailure has as many tries as the job": ("OnFailure", {"backoffLimit": 7}),
    "ExitCode replaces a pod once it has ended": ("ExitCode", {"podReplacementPolicy": "Failed"}),
}


@pytest.mark.parametrize(("policy", "expected"), POLICIES.values(), ids=POLICIES)
def test_policies_of_a_jobset_alone(policy, expected):
    job = legacy_job("JAXJob", {"Worker": {"restartPolicy": policy}}, runPolicy={"backoffLimit": 7})
    spec = template(render_legacy(job, installation=ALONE), "worker")
    assert {key: spec[key] for key in expected} == expected


def test_alone_the_role_that_leads_decides():
    job = legacy_job("TFJob", {"Chief": {}, "PS": {}, "Worker": {}})
    policy = jobset(render_legacy(job, installation=ALONE))["successPolicy"]
    assert policy == {"operator": "All", "targetReplicatedJobs": ["chief"]}


def test_on_a_cluster_no_job_ends_by_itself():
    plan = render_legacy(legacy_job("TFJob", {"Chief": {}, "Worker": {"restartPolicy": "Never"}}))
    assert template(plan, "worker")["backoffLimit"] == 2**31 - 1
    assert "failurePolicy" not in jobset(plan) and "podFailurePolicy" not in template(plan, "worker")


def test_a_suspended_job_is_its_jobset_alone():
    plan = render_legacy(legacy_job("PyTorchJob", {"Master": {}, "Worker": {}}, runPolicy={"suspend": True}))
    assert [each["kind"] for each in plan.objects] == ["JobSet"] and jobset(plan)["suspend"] is True


def test_autoscalers_of_both_elastic_kinds():
    metrics = [{"type": "Resource", "resource": {"name": "cpu"}}]
    for kind in ("PyTorchJob", "PaddleJob"):
        job = legacy_job(kind, {"Worker": {}}, elasticPolicy={"maxReplicas": 3, "metrics": metrics})
        spec = render_legacy(job).find("HorizontalPodAutoscaler")["spec"]
        assert (spec["minReplicas"], spec["maxReplicas"], spec["scaleTargetRef"]["kind"]) == (3, 3, kind)


def test_an_empty_list_of_metrics_makes_no_autoscaler():
    job = legacy_job("PyTorchJob", {"Worker": {}}, elasticPolicy={"maxReplicas": 3, "metrics": []})
    assert all(each["kind"] != "HorizontalPodAutoscaler" for each in render_legacy(job).objects)


def test_an_empty_number_of_processes_is_auto():
    plan = render_legacy(legacy_job("PyTorchJob", {"Master": {}}, nprocPerNode=""))
    assert env(plan, "master")["PET_NPROC_PER_NODE"] == "auto"


def test_a_port_without_a_name_gets_one_in_the_service():
    ports = [{"containerPort": 9090}, {"name": "u", "containerPort": 2222, "protocol": "UDP"}]
    pod = {"containers": [{"name": "tensorflow", "image": "i", "ports": ports}]}
    plan = render_legacy(legacy_job("TFJob", {"Worker": {"pod": pod}}))
    served = [(each["name"], each["port"]) for each in plan.find("Service")["spec"]["ports"]]
    assert served == [("port-9090", 9090), ("u", 2222), ("tfjob-port", 2222)]


def test_a_gang_asks_for_the_pods_of_the_most_important_roles_first():
    asks = {"containers": [{"name": "pytorch", "image": "i", "resources": {"limits": {"cpu": "4"}}}]}
    job = legacy_job(
        "PyTorchJob",
        {"Master": {}, "Worker": {"replicas": 2, "pod": {**asks, "priorityClassName": "top"}}},
        runPolicy={"schedulingPolicy": {"minAvailable": 2}},
    )
    existing = {("PriorityClass", "top"): {"kind": "PriorityClass", "value": 1000}}
    plan = render_legacy(job, Facts(existing=existing), Installation(gang_scheduler="Volcano"))
    assert plan.find("PodGroup")["spec"] == {"minMember": 2, "minResources": {"cpu": "8"}, "queue": "default"}


WARNINGS = {
    "no replicas at all": (
        legacy_job("TFJob", {"Worker": {"replicas": 0}}),
        "spec.tfReplicaSpecs: no role has replicas, so the job succeeds at once without a pod",
    ),
    "a restart policy of the template": (
        legacy_job("JAXJob", {"Worker": {"pod": {"restartPolicy": "Always"}}}),
        "is overwritten by the role's restartPolicy Never",
    ),
    "Always": (legacy_job("JAXJob", {"Worker": {"restartPolicy": "Always"}}), "Jobs know no other"),
    "a gang that nobody places": (
        legacy_job("JAXJob", {"Worker": {}}, runPolicy={"schedulingPolicy": {"queue": "a"}}),
        "has no effect without a gang scheduler",
    ),
}


@pytest.mark.parametrize(("job", "part"), WARNINGS.values(), ids=WARNINGS)
def test_warnings(job, part):
    (warning,) = render_legacy(job).warnings
    assert part in warning


def test_nothing_to_run_is_refused_where_no_controller_judges():
    with pytest.raises(SpecError, match="no role has replicas"):
        render_legacy(legacy_job("TFJob", {"Worker": {"replicas": 0}}), installation=ALONE)


def resized(kind, role, before, after):
    """The plan of a job whose JobSet has been made with another number of workers."""
    first = render_legacy(legacy_job(kind, {**role, "Worker": {"replicas": before}}))
    made = first.find("JobSet")
    job = legacy_job(kind, {**role, "Worker": {"replicas": after}})
    return job, render_legacy(job, Facts(existing={("JobSet", made["metadata"]["name"]): made}))


def test_workers_that_are_added_have_jobsets_of_their_own():
    _, plan = resized("PyTorchJob", {"Master": {}}, 1, 3)
    base, *added = (each for each in plan.objects if each["kind"] == "JobSet")
    assert [each["replicas"] for each in base["spec"]["replicatedJobs"]] == [1, 1]
    assert [each["metadata"]["name"] for each in added] == ["job-worker-1", "job-worker-2"]
    pods = [each["spec"]["replicatedJobs"][0]["template"]["spec"]["template"] for each in added]
    ranks = [
        {each["name"]: each.get("value") for each in pod["spec"]["containers"][0]["env"]}["RANK"]
        for pod in pods
    ]
    assert ranks == ["2", "3"]
    assert [pod["metadata"]["labels"]["training.kubeflow.org/replica-index"] for pod in pods] == ["1", "2"]
    service = plan.find("Service", "job-worker-2")
    assert service["spec"]["selector"]["jobset.sigs.k8s.io/jobset-name"] == "job-worker-2"


def test_workers_that_are_taken_away_leave_jobs_without_pods():
    job, plan = resized("JAXJob", {}, 3, 1)
    assert plan.find("JobSet")["spec"]["replicatedJobs"][0]["replicas"] == 3
    assert [each["metadata"]["name"] for each in plan.objects if each["kind"] == "Service"] == [
        "job-worker-0"
    ]
    assert list(lay_out(job, {"worker": 3}).idle()) == ["job-worker-1", "job-worker-2"]


def test_a_job_that_rests_is_laid_out_anew():
    made = render_legacy(legacy_job("JAXJob", {"Worker": {"replicas": 3}})).find("JobSet")
    job = legacy_job("JAXJob", {"Worker": {}}, runPolicy={"suspend": True})
    plan = render_legacy(job, Facts(existing={("JobSet", "job"): made}))
    assert plan.find("JobSet")["spec"]["replicatedJobs"][0]["replicas"] == 1


def test_a_jobset_of_somebody_else_is_nothing_to_go_by():
    foreign = {
        "kind": "JobSet",
        "metadata": {"name": "job"},
        "spec": {"replicatedJobs": [{"name": "worker"}]},
    }
    plan = render_legacy(
        legacy_job("JAXJob", {"Worker": {"replicas": 2}}), Facts(existing={("JobSet", "job"): foreign})
    )
    assert [each["kind"] for each in plan.objects].count("JobSet") == 1
