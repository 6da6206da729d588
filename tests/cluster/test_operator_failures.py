"""What `kubectl get trainjob -o yaml` says of a job that died or waits: within five seconds, with what to do.

Where a simulated node cannot play it (an out-of-memory kill, a restart in place), the status of the pod is
written as a kubelet writes it.
"""

import sys
import time
from datetime import UTC, datetime

import pytest

from tests.cluster.control_plane.client import Client, Json, collection, eventually
from tests.cluster.control_plane.nodes import lose_node, pods_of
from tests.cluster.manifests import condition, pod_template, with_gpus
from tests.cluster.operator import (
    Simulated,
    path_of,
    runtime,
    step,
    train_job,
    why,
)
from tests.cluster.process_node.starting import PROCESS_NODE

pytestmark = [
    pytest.mark.parts("scheduler", "kwok", "jobset"),
    pytest.mark.usefixtures("no_job_is_left"),
]

TOLD_WITHIN = 5.0


def start(client: Client, namespace: str, template: Json, *, nodes: int = 2, **spec: object) -> list[Json]:
    """A job of pods that run; its pods."""
    client.create(runtime(step("node", "trainer", template)), namespace)
    client.create(train_job("bert", nodes=nodes, **spec), namespace)

    def all_run() -> list[Json]:
        found = pods_of(client, namespace)
        running = [pod for pod in found if pod["status"].get("phase") == "Running"]
        return running if len(running) == nodes else []

    return eventually("all its pods run", all_run)


def kubelet_says(client: Client, pod: Json, code: int, reason: str, message: str = "") -> None:
    """A container has ended."""
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    started = pod["status"]["startTime"]
    ended = {"exitCode": code, "reason": reason, "startedAt": started, "finishedAt": now, "message": message}
    name = pod["spec"]["containers"][0]["name"]
    state = {
        "name": name,
        "image": "i",
        "imageID": "",
        "ready": False,
        "restartCount": 0,
        "state": {"terminated": ended},
    }
    path = f"{collection('v1', 'Pod', pod['metadata']['namespace'])}/{pod['metadata']['name']}/status"
    client.patch(path, {"status": {"phase": "Failed", "containerStatuses": [state]}})


def failure(client: Client, namespace: str) -> str:
    """The message of a job that fails now, which may take five seconds from its JobSet's end."""
    jobsets = collection("jobset.x-k8s.io/v1alpha2", "JobSet", namespace)

    def failed() -> bool:
        return any(condition(each, "Failed") for each in client.items(jobsets))

    eventually("the JobSet fails", failed)
    began = time.monotonic()
    path = path_of(namespace, "bert")
    said = eventually("it says so", lambda: condition(client.get(path), "Failed"))
    assert time.monotonic() - began <= TOLD_WITHIN
    return str(said["message"])


KILLED = {
    "out of memory": (137, "OOMKilled", "", ("OOMKilled, exit code 137 (SIGKILL)", "more memory")),
    "told to stop": (143, "Error", "", ("exit code 143 (SIGTERM)", "told to stop")),
    "an error of its own": (
        1,
        "Error",
        "Traceback:\nValueError: no such column: text",
        ("exit code 1 ", "ValueError: no such column: text"),
    ),
    "a library that crashes": (139, "Error", "", ("exit code 139 (SIGSEGV)", "native libraries")),
    "a command that is not there": (127, "Error", "", ("exit code 127 ", "not found")),
    "a peer that is gone": (
        1,
        "Error",
        "[rank1]: torch.distributed.DistBackendError: NCCL error, collective operation timeout",
        ("collective operation timeout", "compare the logs of the other pods"),
    ),
}


@pytest.mark.parametrize("sentence", KILLED)
def test_a_job_whose_container_dies_tells_of_what(
    client: Client, namespace: str, simulated: Simulated, sentence: str
) -> None:
    code, reason, message, wanted = KILLED[sentence]
    pods = start(client, namespace, pod_template(simulated(2), run="forever"))
    dead = pods[1]
    kubelet_says(client, dead, code, reason, message)
    said = failure(client, namespace)
    where = (dead["metadata"]["name"], f"node {dead['spec']['nodeName']}", "container node")
    for part in (*where, *wanted):
        assert part in said


def test_a_container_that_exits_by_itself_is_told(
    client: Client, namespace: str, simulated: Simulated
) -> None:
    template = pod_template(simulated(1), run="2s", exit="1@0=3")
    client.create(runtime(step("node", "trainer", template)), namespace)
    client.create(train_job("bert", nodes=2), namespace)
    said = failure(client, namespace)
    assert "bert-node-0-1-" in said
    assert "exit code 3" in said
    assert "kubectl logs" in said


@pytest.mark.parts("process-node")
def test_the_last_words_of_a_real_program_are_told(client: Client, namespace: str) -> None:
    template = pod_template(PROCESS_NODE)
    program = "import sys; print('reads', flush=True); raise KeyError('text')"
    template["spec"]["containers"][0]["command"] = [sys.executable, "-c", program]
    client.create(runtime(step("node", "trainer", template)), namespace)
    client.create(train_job("bert"), namespace)
    said = failure(client, namespace)
    assert "exit code 1" in said
    assert "KeyError: 'text'" in said


def test_a_lost_node_is_named(client: Client, namespace: str, simulated: Simulated) -> None:
    template = pod_template(simulated(2), run="forever")
    soon = {
        "key": "node.kubernetes.io/unreachable",
        "operator": "Exists",
        "effect": "NoExecute",
        "tolerationSeconds": 1,
    }
    template["spec"]["tolerations"] = [soon]
    pods = start(client, namespace, template)
    lost = pods[0]["spec"]["nodeName"]
    lose_node(client, lost)
    client.patch(
        f"{collection('v1', 'Node')}/{lost}/status",
        {"status": {"conditions": [{"type": "Ready", "status": "Unknown", "reason": "NodeStatusUnknown"}]}},
    )
    taint = {"key": "node.kubernetes.io/unreachable", "effect": "NoExecute"}
    client.patch(f"{collection('v1', 'Node')}/{lost}", {"spec": {"taints": [taint]}})
    deleted = eventually("a pod is deleted", lambda: _on_its_way(client, namespace))
    waits(client, namespace, f"on node {lost} is ended from outside", "DeletionByTaintManager")
    for pod in deleted:  # the node answers no more: the pod garbage collector forces it out
        path = f"{collection('v1', 'Pod', namespace)}/{pod['metadata']['name']}"
        client.delete(path, {"gracePeriodSeconds": 0})
    said = failure(client, namespace)
    assert f"node {lost} was lost" in said


def _on_its_way(client: Client, namespace: str) -> list[Json]:
    return [pod for pod in pods_of(client, namespace) if "deletionTimestamp" in pod["metadata"]]


def test_an_eviction_is_told(client: Client, namespace: str, simulated: Simulated) -> None:
    pods = start(client, namespace, pod_template(simulated(1), run="forever"))
    said = "The node was low on resource: ephemeral-storage."
    path = f"{collection('v1', 'Pod', namespace)}/{pods[0]['metadata']['name']}/status"
    client.patch(path, {"status": {"phase": "Failed", "reason": "Evicted", "message": said}})
    told = failure(client, namespace)
    assert "Evicted" in told
    assert said in told


def waits(client: Client, namespace: str, *parts: str) -> None:
    """Wait until the job says why, soon after it could."""

    def says() -> bool:
        return all(part in why(client, namespace, "bert") for part in parts)

    eventually("it says why", says, limit=TOLD_WITHIN + 10, say=lambda: repr(why(client, namespace, "bert")))


def test_an_image_that_cannot_be_pulled_is_told(client: Client, namespace: str, simulated: Simulated) -> None:
    template = pod_template(simulated(1), image="never")
    client.create(runtime(step("node", "trainer", template)), namespace)
    client.create(train_job("bert", nodes=2), namespace)
    eventually("its pods wait", lambda: _waiting(client, namespace))
    began = time.monotonic()
    waits(client, namespace, "ImagePullBackOff", "example.com/train:1", "imagePullSecrets", "(and 1 more)")
    assert time.monotonic() - began <= TOLD_WITHIN


def _waiting(client: Client, namespace: str) -> list[Json]:
    return [
        each
        for pod in pods_of(client, namespace)
        for each in pod["status"].get("containerStatuses") or []
        if "waiting" in each["state"]
    ]


def test_pods_without_room_are_told_in_the_scheduler_s_words(
    client: Client, namespace: str, simulated: Simulated
) -> None:
    template = with_gpus(pod_template(simulated(1, gpus=1), run="forever"), 1)
    client.create(runtime(step("node", "trainer", template)), namespace)
    client.create(train_job("bert", nodes=2), namespace)
    eventually("one is refused", lambda: _unplaced(client, namespace))
    began = time.monotonic()
    waits(client, namespace, "cannot be placed", "Insufficient nvidia.com/gpu")
    assert time.monotonic() - began <= TOLD_WITHIN


def _unplaced(client: Client, namespace: str) -> bool:
    said = (each for pod in pods_of(client, namespace) for each in pod["status"].get("conditions") or [])
    return any((each["type"], each["status"]) == ("PodScheduled", "False") for each in said)


def test_a_quota_that_refuses_pods_is_told(client: Client, namespace: str, simulated: Simulated) -> None:
    quota = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "small"}}
    client.post(f"/api/v1/namespaces/{namespace}/resourcequotas", {**quota, "spec": {"hard": {"pods": "1"}}})
    template = pod_template(simulated(1), run="forever")
    client.create(runtime(step("node", "trainer", template)), namespace)
    client.create(train_job("bert", nodes=2), namespace)
    waits(client, namespace, "exceeded quota: small")


def test_a_jobset_that_is_refused_is_told(client: Client, namespace: str, simulated: Simulated) -> None:
    name = "admission-policy-of-this-test"
    policy = {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": namespace},
        "spec": {
            "matchConstraints": {
                "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}},
                "resourceRules": [
                    {
                        "apiGroups": ["jobset.x-k8s.io"],
                        "apiVersions": ["*"],
                        "resources": ["jobsets"],
                        "operations": ["CREATE"],
                    }
                ],
            },
            "validations": [{"expression": "false", "message": f"{name} says no"}],
        },
    }
    binding = {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": {"name": namespace},
        "spec": {"policyName": namespace, "validationActions": ["Deny"]},
    }
    root = "/apis/admissionregistration.k8s.io/v1"
    client.post(f"{root}/validatingadmissionpolicies", policy)
    client.post(f"{root}/validatingadmissionpolicybindings", binding)
    time.sleep(3)  # an API server takes a moment to heed a policy
    try:
        client.create(runtime(step("node", "trainer", pod_template(simulated(1)))), namespace)
        client.create(train_job("bert"), namespace)
        waits(client, namespace, "JobSet bert", f"{name} says no")
    finally:
        client.delete(f"{root}/validatingadmissionpolicybindings/{namespace}")
        client.delete(f"{root}/validatingadmissionpolicies/{namespace}")
    path = path_of(namespace, "bert")
    eventually("it completes", lambda: condition(client.get(path), "Complete"))


def test_a_runtime_that_is_not_there_is_told_and_waited_for(
    client: Client, namespace: str, simulated: Simulated
) -> None:
    client.create(train_job("bert"), namespace)
    waits(client, namespace, "'plain' is not found")
    client.create(runtime(step("node", "trainer", pod_template(simulated(1)))), namespace)
    path = path_of(namespace, "bert")
    eventually("it completes", lambda: condition(client.get(path), "Complete"))


def test_a_job_whose_image_never_comes_gives_up_at_its_start_deadline(
    client: Client, namespace: str, simulated: Simulated
) -> None:
    template = pod_template(simulated(1), image="never")
    client.create(runtime(step("node", "trainer", template)), namespace)
    client.create(train_job("bert", startDeadlineSeconds=10), namespace)
    began = time.monotonic()
    path = path_of(namespace, "bert")
    said = eventually("it fails", lambda: condition(client.get(path), "Failed"))
    assert 5 <= time.monotonic() - began <= 15
    assert said["reason"] == "StartDeadlineExceeded"
    assert "ImagePullBackOff" in said["message"]
    eventually("its pods are gone", lambda: not pods_of(client, namespace))
