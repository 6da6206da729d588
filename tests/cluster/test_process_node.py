"""A node that runs pods as processes: real programs under the real controllers."""

import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import pytest

from tests.cluster.control_plane.client import ApiError, Client, Json, collection, eventually
from tests.cluster.control_plane.nodes import pods_of
from tests.cluster.control_plane.plane import Plane
from tests.cluster.manifests import JOBSET, jobset, pod_template, read
from tests.cluster.process_node.starting import PROCESS_NODE

pytestmark = pytest.mark.parts("scheduler", "jobset", "process-node")

ALL_REDUCE = """
import os, torch, torch.distributed as dist
dist.init_process_group("gloo")
total = torch.tensor([float(dist.get_rank() + 1)])
dist.all_reduce(total)
line = f"rank {dist.get_rank()} of {dist.get_world_size()} total {total.item()}\\n"
os.write(1, line.encode())  # at once: the processes of a pod share its log
dist.destroy_process_group()
"""
STUBBORN = """
import signal, sys, time
def stop(number, frame):
    print("told to stop", flush=True)
    sys.exit(0)
signal.signal(signal.SIGTERM, stop)
print("at work", flush=True)
time.sleep(600)
"""
WHO_AM_I = """
import json, os, ssl, urllib.error, urllib.request
folder = "/var/run/secrets/kubernetes.io/serviceaccount/"
host, port = os.environ["KUBERNETES_SERVICE_HOST"], os.environ["KUBERNETES_SERVICE_PORT"]
tls = ssl.create_default_context(cafile=folder + "ca.crt")
bearer = {"Authorization": "Bearer " + open(folder + "token").read(), "Content-Type": "application/json"}
body = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
url = f"https://{host}:{port}/apis/authentication.k8s.io/v1/selfsubjectreviews"
request = urllib.request.Request(url, json.dumps(body).encode(), bearer)
print(json.load(urllib.request.urlopen(request, context=tls))["status"]["userInfo"]["username"])
"""


def template(*command: str, env: dict[str, str] | None = None) -> dict[str, Any]:
    """A pod for the process node."""
    made = pod_template(PROCESS_NODE)
    container = made["spec"]["containers"][0]
    container["command"] = list(command)
    container["env"] = [{"name": name, "value": value} for name, value in (env or {}).items()]
    return made


def ends(client: Client, namespace: str, name: str, *, limit: float = 60.0) -> str:
    """How the JobSet ends."""

    def state() -> str:
        return str(
            read(client, JOBSET, "JobSet", namespace, name).get("status", {}).get("terminalState") or ""
        )

    return eventually(f"{name} ends", state, limit=limit, say=lambda: str(logs_of(client, namespace)))


def log(client: Client, namespace: str, pod: Json, query: str = "") -> str:
    return client.text("GET", f"{collection('v1', 'Pod', namespace)}/{pod['metadata']['name']}/log{query}")


def logs_of(client: Client, namespace: str) -> dict[str, Any]:
    """What each pod came to."""
    return {pod["metadata"]["name"]: pod["status"] for pod in pods_of(client, namespace)}


def runs(client: Client, namespace: str) -> list[Json]:
    return [pod for pod in pods_of(client, namespace) if pod["status"]["phase"] == "Running"]


def ring(name: str) -> dict[str, Any]:
    """Two times two pods of torchrun, which meet at the first one's name, always at the same port."""
    launch = (
        f"exec torchrun --nnodes=4 --nproc-per-node=1 --node-rank=$((JOB * 2 + JOB_COMPLETION_INDEX))"
        f" --master-addr={name}-node-0-0.{name} --no-python {sys.executable} -c '{ALL_REDUCE}'"
    )
    made = template("sh", "-c", launch)
    path = "metadata.labels['jobset.sigs.k8s.io/job-index']"
    made["spec"]["containers"][0]["env"] = [{"name": "JOB", "valueFrom": {"fieldRef": {"fieldPath": path}}}]
    return jobset(name, made, replicas=2, pods=2)


def test_two_jobs_at_once_reduce_over_their_own_pods(
    client: Client, new_namespace: Callable[[], str]
) -> None:
    places = {name: new_namespace() for name in ("left", "right")}
    for name, namespace in places.items():
        client.create(ring(name), namespace)
    for name, namespace in places.items():
        assert ends(client, namespace, name, limit=150) == "Completed"
        told = "".join(log(client, namespace, pod) for pod in pods_of(client, namespace))
        assert sorted(line for line in told.splitlines() if line.startswith("rank")) == [
            f"rank {rank} of 4 total 10.0" for rank in range(4)
        ]


def test_kubectl_follows_a_log(plane: Plane, namespace: str) -> None:
    shell = "for i in 1 2 3; do echo line $i; sleep 0.3; done"
    plane.client.create(jobset("talk", template("sh", "-c", shell)), namespace)
    pod = eventually("the pod runs", lambda: runs(plane.client, namespace))[0]["metadata"]["name"]
    kubectl = ["kubectl", f"--kubeconfig={plane.site.kubeconfig}", "-n", namespace, "logs", "-f", pod]
    followed = subprocess.run(kubectl, capture_output=True, text=True, timeout=120)
    assert (followed.stdout, followed.stderr) == ("line 1\nline 2\nline 3\n", "")
    assert ends(plane.client, namespace, "talk") == "Completed"


def test_a_failing_process_makes_jobset_restart(client: Client, namespace: str) -> None:
    attempt = {
        "name": "ATTEMPT",
        "valueFrom": {"fieldRef": {"fieldPath": "metadata.labels['jobset.sigs.k8s.io/restart-attempt']"}},
    }
    made = template("sh", "-c", 'test "$ATTEMPT" = 1')
    made["spec"]["containers"][0]["env"] = [attempt]
    client.create(jobset("again", made, failurePolicy={"maxRestarts": 1}), namespace)
    assert ends(client, namespace, "again") == "Completed"
    assert read(client, JOBSET, "JobSet", namespace, "again")["status"]["restarts"] == 1


def test_suspending_stops_a_pod_with_its_grace(plane: Plane, namespace: str) -> None:
    client = plane.client
    client.create(jobset("pause", template(sys.executable, "-c", STUBBORN)), namespace)
    pod = eventually("the pod runs", lambda: runs(client, namespace))[0]
    eventually("it is at work", lambda: log(client, namespace, pod) == "at work\n")
    kubectl = [
        "kubectl",
        f"--kubeconfig={plane.site.kubeconfig}",
        "-n",
        namespace,
        "logs",
        "-f",
        pod["metadata"]["name"],
    ]
    with subprocess.Popen(kubectl, stdout=subprocess.PIPE, text=True) as follower:
        assert follower.stdout is not None
        assert follower.stdout.readline() == "at work\n"
        client.patch(f"{collection(JOBSET, 'JobSet', namespace)}/pause", {"spec": {"suspend": True}})
        assert follower.stdout.read() == "told to stop\n"
    eventually("the pod is gone", lambda: not pods_of(client, namespace))


def test_a_pod_is_its_service_account_to_the_api_server(client: Client, namespace: str) -> None:
    client.create(jobset("who", template(sys.executable, "-c", WHO_AM_I)), namespace)
    assert ends(client, namespace, "who") == "Completed"
    assert (
        log(client, namespace, pods_of(client, namespace)[0])
        == f"system:serviceaccount:{namespace}:default\n"
    )


def test_a_pod_that_was_lost_with_its_node_has_failed_when_the_node_is_back(
    plane: Plane, namespace: str
) -> None:
    client = plane.client
    made = jobset("lost", template(sys.executable, "-c", STUBBORN), failurePolicy={"maxRestarts": 1})
    client.create(made, namespace)
    pod = at_work(client, namespace)
    plane.kill(PROCESS_NODE)
    with pytest.raises(ApiError):
        log(client, namespace, pod)
    plane.start_again(PROCESS_NODE)
    eventually("JobSet has restarted", lambda: restarts(client, namespace, "lost") == 1)
    assert at_work(client, namespace)["metadata"]["uid"] != pod["metadata"]["uid"]


def test_a_container_that_was_lost_with_its_node_is_restarted_in_its_pod(
    plane: Plane, namespace: str
) -> None:
    made = template("sh", "-c", "echo run; sleep 600")
    made["spec"]["restartPolicy"] = "Always"
    plane.client.create({"apiVersion": "v1", "kind": "Pod", **made, "metadata": {"name": "kept"}}, namespace)
    pod = at_work(plane.client, namespace, "run\n")
    plane.kill(PROCESS_NODE)
    plane.start_again(PROCESS_NODE)
    again = eventually("it runs again", lambda: restarted(plane.client, namespace))
    assert again["metadata"]["uid"] == pod["metadata"]["uid"]
    last = again["status"]["containerStatuses"][0]["lastState"]["terminated"]
    assert (last["exitCode"], last["reason"]) == (137, "ContainerStatusUnknown")
    assert log(plane.client, namespace, again, "?previous=true") == "run\n"


def test_a_pod_that_ends_while_the_api_server_is_away_is_reported(plane: Plane, namespace: str) -> None:
    made = template("sh", "-c", "echo begun; sleep 2; exit 5")
    plane.client.create({"apiVersion": "v1", "kind": "Pod", **made, "metadata": {"name": "quiet"}}, namespace)
    at_work(plane.client, namespace, "begun\n")
    plane.kill("kube-apiserver")
    time.sleep(3)  # the pod ends meanwhile, and nobody can be told
    plane.start_again("kube-apiserver")

    def code() -> int:
        state = pods_of(plane.client, namespace)[0]["status"]["containerStatuses"][0]["state"]
        return int(state.get("terminated", {}).get("exitCode", 0))

    assert eventually("it is reported", code) == 5


def restarts(client: Client, namespace: str, name: str) -> int:
    return int(read(client, JOBSET, "JobSet", namespace, name).get("status", {}).get("restarts", 0))


def restarted(client: Client, namespace: str) -> Json | None:
    """The pod whose container runs for the second time."""
    for pod in runs(client, namespace):
        state = pod["status"]["containerStatuses"][0]
        if state["restartCount"] == 1 and "running" in state["state"]:
            return pod
    return None


def at_work(client: Client, namespace: str, told: str = "at work\n") -> Json:
    """The one pod of a namespace that runs, once it has said so."""

    def works() -> Json | None:
        for pod in runs(client, namespace):
            try:
                if log(client, namespace, pod) == told:
                    return pod
            except ApiError:
                return None
        return None

    return eventually("the pod is at work", works, say=lambda: str(logs_of(client, namespace)))


def test_the_pods_of_a_job_share_the_files_of_a_claim(client: Client, namespace: str) -> None:
    shell = "if [ $JOB_COMPLETION_INDEX = 0 ]; then echo hello > /data/new && mv /data/new /data/told; fi"
    made = template("sh", "-c", f"{shell}; until test -e /data/told; do sleep 0.1; done; cat /data/told")
    made["spec"]["containers"][0]["volumeMounts"] = [{"name": "data", "mountPath": "/data"}]
    claim = {"accessModes": ["ReadWriteMany"], "resources": {"requests": {"storage": "1Gi"}}}
    policy = {"templates": [{"metadata": {"name": "data"}, "spec": claim}]}
    client.create(jobset("share", made, pods=2, volumeClaimPolicies=[policy]), namespace)
    assert ends(client, namespace, "share") == "Completed"
    assert [log(client, namespace, pod) for pod in pods_of(client, namespace)] == ["hello\n"] * 2
