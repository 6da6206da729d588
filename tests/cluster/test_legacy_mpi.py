"""MPIJobs with real Open MPI over pods of a process node: v1 by `kubectl exec`, v2beta1 by ssh."""

import shutil
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from tests.cluster.control_plane.client import Client, Json, collection, eventually
from tests.cluster.control_plane.cluster import Cluster
from tests.cluster.control_plane.nodes import pods_of
from tests.cluster.control_plane.processes import Process
from tests.cluster.older_kinds import older_path, serving_older_kinds, true_conditions
from tests.cluster.process_node.starting import PROCESS_NODE
from tests.open_mpi import ALL_REDUCE

LACKING = [each for each in ("mpirun", "kubectl", "/usr/sbin/sshd") if shutil.which(each) is None]
pytestmark = [
    pytest.mark.parts("scheduler", "jobset", "process-node"),
    pytest.mark.skipif(bool(LACKING), reason=f"needs {', '.join(LACKING)}"),
]
AS_ROOT = [
    {"name": name, "value": "1"} for name in ("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM")
]
MPIRUN = ["mpirun", "-n", "4", sys.executable, "-c", ALL_REDUCE]
LAUNCHERS, WORKERS = (f"training.kubeflow.org/replica-type={role}" for role in ("launcher", "worker"))
TOTAL = 10
"""what 1 to 4 sum up to"""


@pytest.fixture(scope="module")
def operator(whole_cluster: Cluster) -> Iterator[Process]:
    """Our operator, serving MPIJobs."""
    with serving_older_kinds(whole_cluster, kinds="MPIJob") as process:
        yield process


def pod(container: Json, **spec: Any) -> Json:
    """A template for the process node."""
    main = {"name": "mpi", "image": "lab.example/mpi:1", **container}
    return {"spec": {"nodeSelector": {"pool": PROCESS_NODE}, "containers": [main], **spec}}


def mpi_job(version: str, launcher: Json, worker: Json, **spec: Any) -> Json:
    """A job of two workers with two slots each."""
    return {
        "apiVersion": f"kubeflow.org/{version}",
        "kind": "MPIJob",
        "metadata": {"name": "sum"},
        "spec": {
            "slotsPerWorker": 2,
            "runPolicy": {"cleanPodPolicy": "Running"},
            "mpiReplicaSpecs": {
                "Launcher": {"replicas": 1, "restartPolicy": "Never", "template": launcher},
                "Worker": {"replicas": 2, "template": worker},
            },
            **spec,
        },
    }


def says(client: Client, namespace: str) -> str:
    """What the launchers have printed that have begun."""
    found = pods_of(client, namespace, LAUNCHERS)
    pods = collection("v1", "Pod", namespace)
    return "\n".join(
        client.text("GET", f"{pods}/{each['metadata']['name']}/log")
        for each in found
        if each["status"]["phase"] != "Pending"
    )


def ended(client: Client, namespace: str, job: Json) -> Json:
    """The job once it has ended."""
    path = older_path({**job, "metadata": {**job["metadata"], "namespace": namespace}})

    def look() -> Json | None:
        found: Json = client.get(path)
        return found if {"Succeeded", "Failed"} & {*true_conditions(found)} else None

    def say() -> str:
        return f"{client.get(path).get('status')}\n{says(client, namespace)}"

    return eventually("the job has ended", look, limit=180, say=say)


def ranks(client: Client, namespace: str) -> list[str]:
    """What each rank has said, without the pod it ran in."""
    lines = says(client, namespace).splitlines()
    return sorted(
        f"{line.partition(' on ')[0]}:{line.rpartition(':')[2]}" for line in lines if "rank" in line[:4]
    )


def speak_websocket(client: Client, namespace: str) -> None:
    """Let the launcher `get` pods/exec: elsewhere kubectl falls back to a protocol that this node lacks."""
    group, name = "rbac.authorization.k8s.io", "websocket"
    rules = [{"apiGroups": [""], "resources": ["pods/exec"], "verbs": ["get"]}]
    about: Json = {"apiVersion": f"{group}/v1", "metadata": {"name": name}}
    client.create({**about, "kind": "Role", "rules": rules}, namespace)
    subject = {"kind": "ServiceAccount", "name": "sum-launcher", "namespace": namespace}
    role = {"apiGroup": group, "kind": "Role", "name": name}
    client.create({**about, "kind": "RoleBinding", "subjects": [subject], "roleRef": role}, namespace)


def test_a_launcher_of_v1_reaches_its_workers_by_kubectl(
    operator: Process, client: Client, namespace: str
) -> None:
    speak_websocket(client, namespace)
    job = mpi_job("v1", pod({"command": MPIRUN, "env": AS_ROOT}), pod({}))
    client.create(job, namespace)
    done = ended(client, namespace, job)
    assert true_conditions(done) == ["Created", "Succeeded"], says(client, namespace)
    assert ranks(client, namespace) == [f"rank {rank}: {TOTAL}" for rank in range(4)]
    eventually("the workers are gone", lambda: not pods_of(client, namespace, WORKERS))


SSHD_CONFIG = """\
Port 2222
HostKey /root/.ssh/id_rsa
AuthorizedKeysFile /root/.ssh/authorized_keys
PermitRootLogin yes
StrictModes no
UsePAM no
PidFile none
"""
SSH_CONFIG = """\
Host *
  Port 2222
  StrictHostKeyChecking no
  UserKnownHostsFile /dev/null
  LogLevel ERROR
"""


def with_ssh(container: Json) -> Json:
    """A template with what an image for MPI brings: settings of ssh and sshd."""
    settings = [
        {"name": "settings", "mountPath": f"/etc/ssh/{name}", "subPath": name}
        for name in ("ssh_config", "sshd_config")
    ]
    mounts = [*settings, {"name": "run", "mountPath": "/run/sshd"}]
    volumes = [{"name": "settings", "configMap": {"name": "ssh"}}, {"name": "run", "emptyDir": {}}]
    return pod({**container, "volumeMounts": mounts}, volumes=volumes)


def test_a_launcher_of_v2beta1_reaches_its_workers_by_ssh(
    operator: Process, client: Client, namespace: str
) -> None:
    data = {"sshd_config": SSHD_CONFIG, "ssh_config": SSH_CONFIG}
    settings = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "ssh"}, "data": data}
    client.create(settings, namespace)
    job = mpi_job(
        "v2beta1",
        with_ssh({"command": MPIRUN, "env": AS_ROOT}),
        with_ssh({}),
        launcherCreationPolicy="WaitForWorkersReady",
    )
    client.create(job, namespace)
    done = ended(client, namespace, job)
    assert true_conditions(done) == ["Created", "Succeeded"], says(client, namespace)
    assert ranks(client, namespace) == [f"rank {rank}: {TOTAL}" for rank in range(4)]
    eventually("the workers are gone", lambda: not pods_of(client, namespace, WORKERS))
    running = [each["type"] for each in done["status"]["conditions"]]
    assert running == ["Created", "Running", "Succeeded"]
    assert done["status"]["conditions"][-1]["message"] == f"MPIJob {namespace}/sum successfully completed."
    secret = client.get(f"{collection('v1', 'Secret', namespace)}/sum-ssh")
    assert secret["immutable"] and secret["type"] == "kubernetes.io/ssh-auth"


FOREVER = pod({"command": ["sleep", "600"]})


def path_of(namespace: str) -> str:
    """Where the job lies."""
    return older_path({"kind": "MPIJob", "metadata": {"name": "sum", "namespace": namespace}})


def condition(client: Client, namespace: str) -> tuple[str, str]:
    """The newest condition: its type and its reason."""
    conditions = (client.get(path_of(namespace)).get("status") or {}).get("conditions")
    return (conditions[-1]["type"], conditions[-1]["reason"]) if conditions else ("", "")


def test_a_launcher_of_v2beta1_that_is_tried_out_ends_the_job_with_the_reason_of_a_job(
    operator: Process, client: Client, namespace: str
) -> None:
    failing = pod({"command": ["sh", "-c", "echo tried; exit 3"]})
    job = mpi_job("v2beta1", failing, FOREVER, runPolicy={"backoffLimit": 0})
    client.create(job, namespace)
    done = ended(client, namespace, job)
    last = done["status"]["conditions"][-1]
    assert (last["reason"], last["message"]) == (
        "BackoffLimitExceeded",
        "Job has reached the specified backoff limit",
    )
    assert set(says(client, namespace).split()) == {"tried"}

    def stay() -> bool:
        found = [each["status"]["phase"] for each in pods_of(client, namespace, WORKERS)]
        return found == ["Running"] * 2

    eventually("cleanPodPolicy None leaves the workers", stay)


def test_an_mpijob_of_v2beta1_rests_and_goes_on(operator: Process, client: Client, namespace: str) -> None:
    client.create(mpi_job("v2beta1", FOREVER, FOREVER), namespace)
    runs, rests = ("Running", "MPIJobRunning"), ("Suspended", "MPIJobSuspended")
    eventually("it runs", lambda: condition(client, namespace) == runs, limit=90)
    keys = client.get(f"{collection('v1', 'Secret', namespace)}/sum-ssh")["data"]
    client.patch(path_of(namespace), {"spec": {"runPolicy": {"suspend": True}}})
    eventually("it rests", lambda: condition(client, namespace) == rests)
    eventually("its pods are gone", lambda: not pods_of(client, namespace), limit=90)
    client.patch(path_of(namespace), {"spec": {"runPolicy": {"suspend": False}}})
    eventually("it runs again", lambda: condition(client, namespace) == runs, limit=90)
    assert client.get(f"{collection('v1', 'Secret', namespace)}/sum-ssh")["data"] == keys
