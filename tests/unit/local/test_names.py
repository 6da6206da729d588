import ipaddress

import pytest

from kfp_trainer.runtime_operator.local.names import addresses, all_names, service_names, short_names


def jobset(name: str = "bert", **replicated_jobs: dict) -> dict:
    return {
        "metadata": {"name": name, "namespace": "lab"},
        "spec": {
            "replicatedJobs": [
                {"name": each, "replicas": spec.pop("replicas", 1), "template": {"spec": spec}}
                for each, spec in replicated_jobs.items()
            ]
        },
    }


NAMES = {
    "a job of two pods": ({"node": {"completions": 2}}, ["bert-node-0-0", "bert-node-0-1"]),
    "no number of pods is one pod": ({"node": {}}, ["bert-node-0-0"]),
    "parallelism counts where completions are absent": (
        {"node": {"parallelism": 2}},
        ["bert-node-0-0", "bert-node-0-1"],
    ),
    "replicas are jobs": ({"node": {"replicas": 2}}, ["bert-node-0-0", "bert-node-1-0"]),
    "several replicated jobs, in their order": ({"data": {}, "node": {}}, ["bert-data-0-0", "bert-node-0-0"]),
}


@pytest.mark.parametrize("sentence", NAMES)
def test_host_names(sentence):
    spec, expected = NAMES[sentence]
    assert list(short_names(jobset(**{name: dict(each) for name, each in spec.items()}))) == expected


def test_every_pod_has_a_loopback_address_of_its_own_on_linux():
    found = addresses(jobset(node={"completions": 300}), platform="linux")
    assert len(set(found.values())) == 300
    assert all(ipaddress.ip_address(each) in ipaddress.ip_network("127.128.0.0/9") for each in found.values())


def test_addresses_stay_the_same_and_differ_between_jobs():
    one, other = (addresses(jobset(name, node={}), platform="linux") for name in ("one", "other"))
    assert one == addresses(jobset("one", node={}), platform="linux")
    assert set(one.values()).isdisjoint(other.values())


def test_a_launcher_is_this_machine_itself():
    found = addresses(jobset(node={}, launcher={}), platform="linux")
    assert found["bert-launcher-0-0"] == "127.0.0.1" != found["bert-node-0-0"]


def test_elsewhere_there_is_one_address():
    assert set(addresses(jobset(node={"completions": 2}), platform="darwin").values()) == {"127.0.0.1"}


def test_a_pod_is_found_by_its_short_name_and_by_those_with_a_domain():
    document = jobset(node={})
    document["spec"]["network"] = {"subdomain": "trees"}
    assert all_names(document, {"bert-node-0-0": "127.128.0.9"}) == dict.fromkeys(
        [
            "bert-node-0-0",
            "bert-node-0-0.trees",
            "bert-node-0-0.trees.lab.svc",
            "bert-node-0-0.trees.lab.svc.cluster.local",
        ],
        "127.128.0.9",
    )


def test_a_service_of_one_job_is_a_name_of_its_pod():
    selector = {
        "jobset.sigs.k8s.io/jobset-name": "bert",
        "jobset.sigs.k8s.io/replicatedjob-name": "worker",
        "jobset.sigs.k8s.io/job-index": "1",
    }
    service = {"metadata": {"name": "bert-worker-1", "namespace": "lab"}, "spec": {"selector": selector}}
    other = {"metadata": {"name": "other"}, "spec": {"selector": {"app": "other"}}}
    found = service_names([service, other], jobset(worker={"replicas": 2}), {"bert-worker-1-0": "127.1.2.3"})
    assert found == dict.fromkeys(
        (
            "bert-worker-1",
            "bert-worker-1.lab",
            "bert-worker-1.lab.svc",
            "bert-worker-1.lab.svc.cluster.local",
        ),
        "127.1.2.3",
    )
