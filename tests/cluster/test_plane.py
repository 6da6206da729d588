"""The control plane is a real one: permissions, tokens, controllers, an audit log."""

import json
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.cluster.control_plane.build import why_not
from tests.cluster.control_plane.client import ApiError, Client, collection, eventually
from tests.cluster.control_plane.cluster import Cluster
from tests.cluster.control_plane.plane import Plane
from tests.cluster.control_plane.processes import tree
from tests.cluster.process_node.starting import no_namespaces

ROOT = Path(__file__).parents[2]

POD = {"spec": {"containers": [{"name": "main", "image": "example.com/x:1"}]}}


def test_a_service_account_may_do_only_what_it_was_given(cluster: Cluster, namespace: str) -> None:
    theirs, pods = cluster.client_of(namespace, "default"), collection("v1", "Pod", namespace)
    with pytest.raises(ApiError, match="cannot list resource") as refused:
        theirs.get(pods)
    assert refused.value.code == 403
    subject = {"kind": "ServiceAccount", "name": "default", "namespace": namespace}
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"}
    binding = {"metadata": {"name": "view"}, "subjects": [subject], "roleRef": role}
    cluster.client.create(
        {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding", **binding}, namespace
    )
    eventually("the permission counts", lambda: may_read(theirs, pods))


def may_read(client: Client, path: str) -> bool:
    try:
        client.get(path)
    except ApiError as refused:
        assert refused.code == 403
        return False
    return True


def test_the_audit_log_names_who_did_what(plane: Plane, namespace: str) -> None:
    theirs = plane.client_of(namespace, "default")
    with pytest.raises(ApiError, match="forbidden"):
        theirs.get(collection("v1", "Secret", namespace))
    user = f"system:serviceaccount:{namespace}:default"
    assert [
        (each["verb"], each["objectRef"]["resource"], each["responseStatus"]["code"])
        for each in plane.audited(user)
    ] == [("list", "secrets", 403)]


def test_a_pod_gets_the_token_of_its_service_account(client: Client, namespace: str) -> None:
    pod = client.create({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "one"}, **POD}, namespace)
    mounts = pod["spec"]["containers"][0]["volumeMounts"]
    assert [each["mountPath"] for each in mounts] == ["/var/run/secrets/kubernetes.io/serviceaccount"]
    roots = f"{collection('v1', 'ConfigMap', namespace)}/kube-root-ca.crt"
    eventually(
        "the authority is published", lambda: "BEGIN CERTIFICATE" in client.get(roots)["data"]["ca.crt"]
    )


def test_kubectl_speaks_to_it_with_a_kubeconfig(cluster: Cluster, namespace: str) -> None:
    config = cluster.kubeconfig_of(namespace, "default")
    asked = subprocess.run(
        ["kubectl", f"--kubeconfig={config}", "auth", "whoami", "-o", "name"], capture_output=True, text=True
    )
    assert asked.returncode == 0, asked.stderr


@pytest.mark.parts("scheduler", "kwok")
def test_a_deployment_becomes_ready_endpoints_of_its_service(
    client: Client, namespace: str, simulated: Callable[..., str]
) -> None:
    pool = simulated(1)
    labels = {"app": "web"}
    template = {
        "metadata": {"labels": labels, "annotations": {"kfp-trainer.test/run": "forever"}},
        "spec": {**POD["spec"], "nodeSelector": {"pool": pool}},
    }
    spec = {"replicas": 2, "selector": {"matchLabels": labels}, "template": template}
    client.create(
        {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": spec}, namespace
    )
    service = {"selector": labels, "ports": [{"port": 80}]}
    client.create(
        {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web"}, "spec": service}, namespace
    )
    slices = collection("discovery.k8s.io/v1", "EndpointSlice", namespace)

    def ready() -> int:
        endpoints = [one for each in client.items(slices) for one in each.get("endpoints") or []]
        return sum(bool(each["conditions"].get("ready")) for each in endpoints)

    eventually("two endpoints are ready", lambda: ready() == 2)


CONTAINER = {"name": "main", "image": "example.com/x:1", "command": ["sleep", "987"]}
LONG_POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "one"},
    "spec": {"nodeSelector": {"pool": "process-node"}, "containers": [CONTAINER]},
}
ENDS = {"killed": signal.SIGKILL, "interrupted": signal.SIGINT}


@pytest.fixture
def other_plane() -> Iterator[subprocess.Popen[str]]:
    """A plane of its own, as a person starts it; its node runs a pod."""
    command = [sys.executable, "-m", "tests.cluster.control_plane", "scheduler", "jobset", "process-node"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as owner:
        try:
            assert owner.stdout is not None
            lines = iter(owner.stdout.readline, "")
            told = next(line for line in lines if "KUBECONFIG=" in line)
            next(line for line in lines if "Ctrl-C" in line)
            start_pod(["kubectl", f"--kubeconfig={told.strip().partition('=')[2]}"])
            yield owner
        finally:
            owner.kill()


def start_pod(kubectl: list[str]) -> None:
    """A pod that would run for long."""
    subprocess.run([*kubectl, "create", "-f", "-"], input=json.dumps(LONG_POD), text=True, check=True)
    waited = [*kubectl, "wait", "pod/one", "--for=condition=Ready", "--timeout=60s"]
    subprocess.run(waited, check=True)


@pytest.mark.skipif(bool(why_not() or no_namespaces()), reason=why_not() or no_namespaces())
@pytest.mark.parametrize("how", ENDS)
def test_nothing_is_left_of_a_plane(other_plane: subprocess.Popen[str], how: str) -> None:
    processes = [Path("/proc", str(pid)) for pid in tree(other_plane.pid)]
    runs = [(each, (each / "cmdline").read_bytes()) for each in processes]
    assert any(b"987" in command for _, command in runs)
    assert len(runs) > 8
    other_plane.send_signal(ENDS[how])
    other_plane.wait(60)
    eventually("its programs are gone", lambda: not [each for each in runs if lives(*each)])


def lives(process: Path, command: bytes) -> bool:
    """Whether this very process is still there, and no corpse."""
    try:
        return (process / "cmdline").read_bytes() == command != b""
    except OSError:
        return False
