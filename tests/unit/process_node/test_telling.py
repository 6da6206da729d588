"""What a process node says to the API server and to clients, and who has which address."""

import pytest

from tests.cluster.process_node.exec_server import verdict
from tests.cluster.process_node.network import NetworkError, node_address
from tests.cluster.process_node.pods import own_names
from tests.cluster.process_node.reporting import as_patch


def test_a_patch_leaves_nothing_of_the_status_before():
    status = {
        "phase": "Running",
        "conditions": [{"type": "Ready", "status": "True"}],
        "podIPs": [{"ip": "198.18.0.2"}],
    }
    assert as_patch(status) == {
        "phase": "Running",
        "reason": None,
        "message": None,
        "conditions": [{"type": "Ready", "status": "True", "reason": None, "message": None}],
        "podIPs": [{"ip": "198.18.0.2"}, {"$patch": "replace"}],
    }


def test_a_reason_is_kept():
    assert as_patch({"reason": "DeadlineExceeded"})["reason"] == "DeadlineExceeded"


NAMES = {
    "a pod of a Service knows its full name": (
        {"hostname": "node-0-0", "subdomain": "job"},
        ["node-0-0.job.lab.svc.cluster.local", "node-0-0"],
    ),
    "another knows its own": ({}, ["web-x"]),
}


@pytest.mark.parametrize("sentence", NAMES)
def test_own_names(sentence):
    spec, want = NAMES[sentence]
    document = {"metadata": {"namespace": "lab", "name": "web-x"}, "spec": spec}
    assert own_names(document, "198.18.0.2") == dict.fromkeys(want, "198.18.0.2")


def test_nodes_have_ranges_that_do_not_touch():
    assert [str(node_address(index)) for index in (0, 1, 31)] == ["198.18.0.1", "198.18.4.1", "198.18.124.1"]
    with pytest.raises(NetworkError, match="room for 32 nodes"):
        node_address(32)


def test_a_verdict_says_the_exit_code_where_it_is_not_zero():
    assert verdict(0)["status"] == "Success"
    assert verdict(7)["details"] == {"causes": [{"reason": "ExitCode", "message": "7"}]}
