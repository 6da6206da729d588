import pytest

from kfp_trainer.runtime_operator.local.reporting import report_of
from kfp_trainer.runtime_operator.local.semantics import PodReport


def terminated(name: str, code: int, finished: str = "2026-01-01T00:00:10Z", restarts: int = 0) -> dict:
    state = {"terminated": {"exitCode": code, "reason": "Error", "finishedAt": finished}}
    return {"name": name, "restartCount": restarts, "state": state}


RUNNING = {"name": "node", "restartCount": 1, "state": {"running": {}}}
TEN = 1767225610.0

CASES = {
    "nothing is known yet": ({}, PodReport()),
    "a pod that runs and is ready": (
        {
            "phase": "Running",
            "conditions": [{"type": "Ready", "status": "True"}],
            "containerStatuses": [RUNNING],
        },
        PodReport("Running", ready=True, restarts=(("node", 1),)),
    ),
    "exit codes count only once the pod has ended": (
        {"phase": "Running", "containerStatuses": [terminated("node", 1)]},
        PodReport("Running", restarts=(("node", 0),)),
    ),
    "main containers come before init containers": (
        {
            "phase": "Failed",
            "initContainerStatuses": [terminated("fetch", 0, "2026-01-01T00:00:05Z")],
            "containerStatuses": [terminated("node", 3)],
        },
        PodReport(
            "Failed", restarts=(("node", 0), ("fetch", 0)), exits=(("node", 3), ("fetch", 0)), finished=TEN
        ),
    ),
    "a pod that never began has ended now": ({"phase": "Failed"}, PodReport("Failed", finished=99.0)),
    "a condition that Kubernetes' rules ask for": (
        {"phase": "Pending", "conditions": [{"type": "DisruptionTarget", "status": "True"}]},
        PodReport(conditions=(("DisruptionTarget", "True"),)),
    ),
}


@pytest.mark.parametrize("sentence", CASES)
def test_report(sentence):
    status, expected = CASES[sentence]
    assert report_of(status, now=99.0) == expected
