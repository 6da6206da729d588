"""Phase, conditions, status, back-off, probes and ends of containers."""

import errno
from pathlib import Path

import pytest

from kfp_trainer.runtime_operator.local.process.backoff import Backoff
from kfp_trainer.runtime_operator.local.process.phase import conditions, pod_phase, quality_of_service
from kfp_trainer.runtime_operator.local.process.place import Place
from kfp_trainer.runtime_operator.local.process.probes import Settings, Verdict
from kfp_trainer.runtime_operator.local.process.state import (
    ContainerState,
    Running,
    Terminated,
    Waiting,
    rfc3339,
)
from kfp_trainer.runtime_operator.local.process.status import status_document
from kfp_trainer.runtime_operator.local.process.termination import classify, exit_code, last_words

BAD, GOOD = Terminated(3, "Error", 1.0, 2.0), Terminated(0, "Completed", 1.0, 2.0)
UP, NEW, CRASH = Running(1.0), Waiting("PodInitializing"), Waiting("CrashLoopBackOff")


def state(now, kind="main", *, last=None, started=False, ready=False):
    name = f"{kind}{now.__class__.__name__}"
    return ContainerState(name, "any", kind, now=now, last=last, started=started, ready=ready)


# sentence: (states, policy, stopped, phase)
PHASES = {
    "nothing has begun": ([state(NEW)], "Never", False, "Pending"),
    "one runs": ([state(UP), state(NEW)], "Never", False, "Running"),
    "an init container runs": ([state(UP, "init"), state(NEW)], "Never", False, "Pending"),
    "an init container failed for good": ([state(BAD, "init"), state(NEW)], "Never", False, "Failed"),
    "an init container failed and is tried again": (
        [state(BAD, "init"), state(NEW)],
        "OnFailure",
        False,
        "Pending",
    ),
    "an init container failed and the pod is stopped": (
        [state(BAD, "init"), state(NEW)],
        "OnFailure",
        True,
        "Failed",
    ),
    "init containers are done": ([state(GOOD, "init"), state(NEW)], "Never", False, "Pending"),
    "a sidecar starts": ([state(UP, "sidecar"), state(NEW)], "Never", False, "Pending"),
    "a sidecar has started": ([state(UP, "sidecar", started=True), state(UP)], "Never", False, "Running"),
    "all succeeded": ([state(GOOD), state(GOOD)], "Never", False, "Succeeded"),
    "all succeeded, on failure": ([state(GOOD)], "OnFailure", False, "Succeeded"),
    "all ended, one badly": ([state(GOOD), state(BAD)], "Never", False, "Failed"),
    "one ended badly and another runs": ([state(UP), state(BAD)], "Never", False, "Running"),
    "one ended badly and will be started again": ([state(BAD)], "OnFailure", False, "Running"),
    "a success that will be started again": ([state(GOOD)], "Always", False, "Running"),
    "waiting for its back-off": ([state(CRASH, last=BAD)], "OnFailure", False, "Running"),
    "ended, and a sidecar runs": ([state(UP, "sidecar"), state(GOOD)], "Never", False, "Running"),
    "an init container failed, and a sidecar runs": (
        [state(UP, "sidecar"), state(BAD, "init"), state(NEW)],
        "Never",
        False,
        "Pending",
    ),
    "stopped while it failed": ([state(BAD)], "OnFailure", True, "Failed"),
    "stopped after its success": ([state(GOOD)], "Always", True, "Succeeded"),
    "stopped before it began": ([state(NEW)], "Always", True, "Failed"),
}


@pytest.mark.parametrize("sentence", PHASES)
def test_phase(sentence):
    states, policy, stopped, phase = PHASES[sentence]
    assert pod_phase(states, policy=policy, stopped=stopped) == phase


# sentence: (states, phase, statuses of Initialized, ContainersReady and Ready, reasons of both)
CONDITIONS = {
    "an init container runs": ([state(UP, "init"), state(NEW)], "Pending", "FF", "ContainersNotInitialized"),
    "running, not ready": ([state(UP)], "Running", "TF", "ContainersNotReady"),
    "ready": ([state(UP, ready=True)], "Running", "TT", None),
    "succeeded": ([state(GOOD)], "Succeeded", "TF", "PodCompleted"),
    "failed": ([state(BAD)], "Failed", "TF", "PodFailed"),
}


@pytest.mark.parametrize("sentence", CONDITIONS)
def test_conditions(sentence):
    states, phase, statuses, reason = CONDITIONS[sentence]
    listed = conditions(states, phase)
    types = [one["type"] for one in listed]
    assert types == ["PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled"]
    found = {one["type"]: one for one in listed}
    assert found["Initialized"]["status"][0] + found["Ready"]["status"][0] == statuses
    assert found["ContainersReady"]["status"] == found["Ready"]["status"]
    reasons = {one.get("reason") for one in listed if one["type"] in ("Initialized", "Ready")}
    assert reason in reasons


def test_conditions_name_the_containers():
    found = {one["type"]: one for one in conditions([state(UP, "init"), state(NEW)], "Pending")}
    assert found["Initialized"]["message"] == "containers with incomplete status: [initRunning]"
    assert found["Ready"]["message"] == "containers with unready status: [mainWaiting]"


# sentence: (resources of the containers, class)
QUALITIES = {
    "nothing asked": ([{}], "BestEffort"),
    "devices only": ([{"limits": {"nvidia.com/gpu": 1}}], "BestEffort"),
    "limits only": ([{"limits": {"cpu": "1", "memory": "1Gi"}}], "Guaranteed"),
    "requests below limits": (
        [{"limits": {"cpu": "2", "memory": "1Gi"}, "requests": {"cpu": "1"}}],
        "Burstable",
    ),
    "one of two asks": ([{"limits": {"cpu": "1", "memory": "1Gi"}}, {}], "Burstable"),
    "requests only": ([{"requests": {"cpu": "1"}}], "Burstable"),
}


@pytest.mark.parametrize("sentence", QUALITIES)
def test_quality_of_service(sentence):
    resources, quality = QUALITIES[sentence]
    pod = {"spec": {"containers": [{"name": str(n), "resources": one} for n, one in enumerate(resources)]}}
    assert quality_of_service(pod) == quality


def test_status_keeps_the_time_of_what_does_not_change():
    pod = {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c"}]}}
    common = {"begun": 0.0, "reason": "", "message": ""}
    place = Place(Path("/p"))
    first = status_document(pod, place, [state(UP)], phase="Running", before={}, now=10.0, **common)
    assert first["startTime"] == "1970-01-01T00:00:00Z"
    assert "initContainerStatuses" not in first
    common |= {"reason": "DeadlineExceeded", "message": "late"}
    inits = [state(GOOD, "init"), state(UP, ready=True)]
    second = status_document(pod, place, inits, phase="Running", before=first, now=20.0, **common)
    times = {one["type"]: one["lastTransitionTime"] for one in second["conditions"]}
    assert (times["Initialized"], times["Ready"]) == (rfc3339(10.0), rfc3339(20.0))
    assert (second["reason"], second["message"]) == ("DeadlineExceeded", "late")
    assert [one["name"] for one in second["initContainerStatuses"]] == ["initTerminated"]


def test_a_container_status_as_a_kubelet_writes_it():
    killed = Terminated(137, "OOMKilled", 1.0, 2.0, 9, "no memory", "process://u/c/0")
    told = ContainerState(
        "c", "any", "main", now=Waiting("CrashLoopBackOff", "wait"), last=killed, restarts=1
    )
    assert told.document() == {
        "name": "c",
        "image": "any",
        "imageID": "",
        "ready": False,
        "started": False,
        "restartCount": 1,
        "state": {"waiting": {"reason": "CrashLoopBackOff", "message": "wait"}},
        "lastState": {
            "terminated": {
                "exitCode": 137,
                "signal": 9,
                "reason": "OOMKilled",
                "message": "no memory",
                "startedAt": "1970-01-01T00:00:01Z",
                "finishedAt": "1970-01-01T00:00:02Z",
                "containerID": "process://u/c/0",
            }
        },
    }
    told.now, told.last, told.container_id = UP, None, "process://u/c/1"
    assert told.document()["state"] == {"running": {"startedAt": "1970-01-01T00:00:01Z"}}
    assert (told.document()["lastState"], told.document()["containerID"]) == ({}, "process://u/c/1")
    told.now = GOOD
    assert "signal" not in told.document()["state"]["terminated"]
    assert Waiting("X").document() == {"waiting": {"reason": "X"}}


def test_back_off_doubles_to_its_longest():
    backoff, last, waits = Backoff(), None, []
    for _ in range(9):
        wait, last = backoff.next_wait(last, ran=1.0)
        waits.append(wait)
    assert waits == [0, 10, 20, 40, 80, 160, 300, 300, 300]


def test_back_off_starts_anew_after_ten_good_minutes():
    assert Backoff().next_wait(160.0, ran=600.0) == (160.0, 300.0)
    assert Backoff().next_wait(160.0, ran=601.0) == (0.0, 10.0)


def test_probes_have_kubernetes_defaults():
    assert Settings.of({}) == Settings(delay=0, period=10, timeout=1, successes=1, failures=3)
    assert Settings.of({"initialDelaySeconds": 5, "failureThreshold": 1}).failures == 1


# sentence: (at first, successes, failures, answers, verdicts after each)
VERDICTS = {
    "ready at the first success": (False, 1, 3, "10001", [True, True, True, False, True]),
    "two successes": (False, 2, 1, "101110", [False, False, False, True, True, False]),
    "failures in a row only": (True, 1, 2, "010100", [True, True, True, True, True, False]),
    "startup is open until told": (None, 1, 2, "001", [None, False, True]),
}


@pytest.mark.parametrize("sentence", VERDICTS)
def test_verdicts(sentence):
    at_first, successes, failures, answers, expected = VERDICTS[sentence]
    verdict = Verdict(Settings(0, 1, 1, successes, failures), at_first=at_first)
    seen = []
    for answer in answers:
        before = verdict.value
        assert verdict.take(answer == "1") is (verdict.value is not before)
        seen.append(verdict.value)
    assert seen == expected


RECORD = {"started": 10**9, "ended": 2 * 10**9, "kills": 0, "log_errno": 0}

# sentence: (fields of the record, killed by us, code, signal, reason, head of the message)
ENDS = {
    "success": ({"status": 0}, False, 0, 0, "Completed", ""),
    "an exit code": ({"status": 3 << 8}, False, 3, 0, "Error", ""),
    "a signal": ({"status": 15}, False, 143, 15, "Error", ""),
    "a core": ({"status": 11 | 128}, False, 139, 11, "Error", ""),
    "killed by somebody": ({"status": 9}, False, 137, 9, "Error", ""),
    "killed by the kernel": (
        {"status": 9, "kills": 1},
        False,
        137,
        9,
        "OOMKilled",
        "the kernel killed it for lack",
    ),
    "killed by us while memory was short": (
        {"status": 9, "kills": 1},
        True,
        137,
        9,
        "Error",
        "while it ran the kernel killed 1 process(es)",
    ),
    "a child was killed by the kernel": (
        {"status": 1 << 8, "kills": 2},
        False,
        1,
        0,
        "Error",
        "while it ran the kernel killed 2 process(es)",
    ),
    "a success while memory was short": ({"status": 0, "kills": 1}, False, 0, 0, "Completed", ""),
    "a full disk": (
        {"status": 0, "log_errno": errno.ENOSPC},
        False,
        0,
        0,
        "Completed",
        "lines of its log are lost",
    ),
    "a full disk and no memory": (
        {"status": 9, "kills": 1, "log_errno": errno.ENOSPC},
        False,
        137,
        9,
        "OOMKilled",
        "the kernel killed it for lack of memory; give it more memory or make it use less; lines of its log",
    ),
}


@pytest.mark.parametrize("sentence", ENDS)
def test_ends(sentence):
    fields, ours, code, number, reason, message = ENDS[sentence]
    told = classify(RECORD | fields, killed_by_us=ours, now=5.0, container_id="id")
    assert (told.exit_code, told.signal, told.reason) == (code, number, reason)
    assert (told.started, told.finished) == (1.0, 2.0)
    assert told.message.startswith(message)
    assert bool(told.message) is bool(message)


def test_an_end_that_nobody_saw():
    told = classify({}, killed_by_us=False, now=5.0, container_id="id")
    assert (told.exit_code, told.reason, told.started, told.finished) == (
        137,
        "ContainerStatusUnknown",
        0.0,
        5.0,
    )
    assert exit_code(0) == (0, 0)


def test_last_words(tmp_path):
    path, log = tmp_path / "words", tmp_path / "log"
    log.write_bytes(b"".join(b"t stdout F line %d\n" % number for number in range(200)))
    asks = {"terminationMessagePolicy": "FallbackToLogsOnError"}
    assert last_words({}, path, log, failed=True) == ""
    assert last_words(asks, path, log, failed=False) == ""
    told = last_words(asks, path, log, failed=True)
    assert told.splitlines()[0] == "line 120"
    path.write_bytes(b"x" * 5000)
    assert last_words(asks, path, log, failed=True) == "x" * 4096


def test_words_are_added_to_what_is_known():
    assert GOOD.with_message("bye").message == "bye"
    assert GOOD.with_message("bye").with_message("").with_message("so").message == "bye; so"
