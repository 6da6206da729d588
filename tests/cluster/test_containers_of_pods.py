"""What a kubelet does with containers, the process node does: restarts, last words, hooks, logs, `exec`."""

import subprocess
from collections.abc import Callable
from typing import Any

import pytest

from tests.cluster.control_plane.client import Client, Json, collection, eventually
from tests.cluster.control_plane.cluster import Cluster
from tests.cluster.pod_programs import container, kubectl, pod, python

pytestmark = pytest.mark.parts("scheduler", "process-node")


OBEDIENT = """
import signal, sys, time
def stop(number, frame):
    print(open("said").read(), end="", flush=True)
    sys.exit(0)
signal.signal(signal.SIGTERM, stop)
print("up", flush=True)
time.sleep(600)
"""


def state(client: Client, namespace: str, name: str) -> Json:
    """The pod's one container."""
    found = client.get(f"{collection('v1', 'Pod', namespace)}/{name}")
    states: list[Json] = found["status"].get("containerStatuses") or [{"state": {}, "restartCount": 0}]
    return states[0]


def until(client: Client, namespace: str, name: str, holds: Callable[[Json], Any]) -> Json:
    """The container, once it is so."""

    def found() -> Json | None:
        now = state(client, namespace, name)
        return now if holds(now) else None

    return eventually(name, found, say=lambda: str(state(client, namespace, name)))


def runs(now: Json) -> bool:
    return "running" in now["state"]


def reasons(client: Client, namespace: str, name: str) -> set[str]:
    """The reasons of the pod's Events."""
    selector = f"?fieldSelector=involvedObject.name={name}"
    return {each["reason"] for each in client.items(collection("v1", "Event", namespace) + selector)}


def test_a_container_that_crashes_again_waits_longer_and_says_why(client: Client, namespace: str) -> None:
    made = container(
        "sh", "-c", "echo cannot find it; exit 3", terminationMessagePolicy="FallbackToLogsOnError"
    )
    client.create(pod("crash", made, restartPolicy="Always"), namespace)
    now = until(
        client,
        namespace,
        "crash",
        lambda now: now["state"].get("waiting", {}).get("reason") == "CrashLoopBackOff",
    )
    assert now["restartCount"] == 1
    last = now["lastState"]["terminated"]
    assert (last["exitCode"], last["reason"], last["message"]) == (3, "Error", "cannot find it\n")
    assert "BackOff" in eventually("it is told", lambda: reasons(client, namespace, "crash") & {"BackOff"})


def test_a_container_that_is_not_alive_any_more_is_restarted(client: Client, namespace: str) -> None:
    alive = {"exec": {"command": ["test", "!", "-e", "sick"]}, "periodSeconds": 1, "failureThreshold": 1}
    shell = "test -e sick && rm sick && echo back || { echo first; touch sick; }; exec sleep 600"
    made = container("sh", "-c", shell, livenessProbe=alive)
    client.create(pod("ill", made, restartPolicy="Always", terminationGracePeriodSeconds=1), namespace)
    now = until(client, namespace, "ill", lambda now: now["restartCount"] == 1 and runs(now))
    assert now["lastState"]["terminated"]["exitCode"] in (137, 143)
    assert "Unhealthy" in eventually("it is told", lambda: reasons(client, namespace, "ill") & {"Unhealthy"})


def test_a_container_is_not_asked_for_life_before_it_has_started(client: Client, namespace: str) -> None:
    slow = {"exec": {"command": ["test", "-e", "up"]}, "periodSeconds": 1, "failureThreshold": 60}
    made = container(
        "sh",
        "-c",
        "sleep 3; touch up; exec sleep 600",
        startupProbe=slow,
        livenessProbe={**slow, "failureThreshold": 1},
    )
    client.create(pod("slow", made, restartPolicy="Always", terminationGracePeriodSeconds=1), namespace)
    now = until(client, namespace, "slow", lambda now: now.get("started"))
    assert (now["restartCount"], now["ready"]) == (0, True)


def test_the_last_words_of_a_pod_are_those_it_left(client: Client, namespace: str) -> None:
    made = container("sh", "-c", "echo 7 > /words; exit 0", terminationMessagePath="/words")
    client.create(pod("words", made), namespace)
    now = until(client, namespace, "words", lambda now: "terminated" in now["state"])
    assert now["state"]["terminated"]["message"] == "7\n"


def test_a_hook_runs_before_a_pod_is_stopped(cluster: Cluster, namespace: str) -> None:
    client = cluster.client
    hook = {"preStop": {"exec": {"command": ["sh", "-c", "echo hook > said"]}}}
    made = container(*python(OBEDIENT), lifecycle=hook)
    client.create(pod("hook", made), namespace)
    until(client, namespace, "hook", runs)
    command = ["kubectl", f"--kubeconfig={cluster.kubeconfig}", "-n", namespace, "logs", "-f", "hook"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as follower:
        assert follower.stdout is not None
        assert follower.stdout.readline() == "up\n"
        client.delete(f"{collection('v1', 'Pod', namespace)}/hook")
        assert follower.stdout.read() == "hook\n"


LINES = "for i in 1 2 3; do echo line $i; done; echo oops >&2"
LOG_OPTIONS = {
    "all of it": ((), "line 1\nline 2\nline 3\noops\n"),
    "the last two lines": (("--tail=2",), "line 3\noops\n"),
    "the first bytes": (("--limit-bytes=9",), "line 1\nli"),
    "nothing is newer than the future": (("--since-time=2099-01-01T00:00:00Z",), ""),
    "all is newer than the past": (("--since-time=2001-01-01T00:00:00Z", "--tail=1"), "oops\n"),
    "what was printed within an hour": (("--since=1h", "--tail=1"), "oops\n"),
    "followed to its end": (("-f",), "line 1\nline 2\nline 3\noops\n"),
}


def test_a_log_is_told_as_it_is_asked_for(cluster: Cluster, namespace: str) -> None:
    cluster.client.create(pod("talk", container("sh", "-c", LINES)), namespace)
    until(cluster.client, namespace, "talk", lambda now: "terminated" in now["state"])
    told = {
        sentence: kubectl(cluster, namespace, "logs", "talk", *words).stdout
        for sentence, (words, _) in LOG_OPTIONS.items()
    }
    assert told == {sentence: want for sentence, (_, want) in LOG_OPTIONS.items()}
    stamped = kubectl(cluster, namespace, "logs", "talk", "--timestamps", "--tail=1").stdout
    moment, _, text = stamped.partition(" ")
    assert (moment[:2], moment[-1], text) == ("20", "Z", "oops\n")
    refused = kubectl(cluster, namespace, "logs", "talk", "--previous")
    assert 'previous terminated container "main" in pod "talk" not found' in refused.stderr


def test_kubectl_exec_talks_to_a_command_in_a_container(cluster: Cluster, namespace: str) -> None:
    made = container("sleep", "600", env=[{"name": "KIND", "value": "pod"}], workingDir="/tmp")
    cluster.client.create(pod("here", made), namespace)
    until(cluster.client, namespace, "here", runs)
    shell = "echo $KIND $(hostname) $(pwd); cat; echo wrong >&2; exit 7"
    asked = kubectl(cluster, namespace, "exec", "-i", "here", "--", "sh", "-c", shell, told="said\n")
    assert asked.stdout == "pod here /tmp\nsaid\n"
    assert asked.stderr.splitlines() == ["wrong", "command terminated with exit code 7"]
    assert asked.returncode == 7
    missing = kubectl(cluster, namespace, "exec", "here", "--", "no-such-program")
    assert missing.returncode == 126
    much = kubectl(
        cluster, namespace, "exec", "here", "--", "sh", "-c", "head -c 1000000 /dev/zero | tr '\\0' x"
    )
    assert much.stdout == "x" * 1_000_000


def test_a_pod_that_asks_for_what_is_not_done_here_is_told_so(client: Client, namespace: str) -> None:
    probe = {"grpc": {"port": 80}}
    client.create(pod("asks", container("sleep", "600", livenessProbe=probe)), namespace)
    path = f"{collection('v1', 'Pod', namespace)}/asks"
    status = eventually("it is refused", lambda: failed(client.get(path)["status"]))
    assert status["reason"] == "NotDoneHere"
    assert "spec.containers[0].livenessProbe.grpc: not done on this machine" in status["message"]


def failed(status: Json) -> Json | None:
    return status if status["phase"] == "Failed" else None
