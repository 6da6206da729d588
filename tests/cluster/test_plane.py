"""The control plane is a real one: permissions, tokens, controllers, an audit log."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cluster.control_plane.build import why_not
from tests.cluster.control_plane.client import ApiError, Client, collection, eventually
from tests.cluster.control_plane.plane import Plane

POD = {"spec": {"containers": [{"name": "main", "image": "example.com/x:1"}]}}


def test_a_service_account_may_do_only_what_it_was_given(plane: Plane, namespace: str) -> None:
    theirs, pods = plane.client_of(namespace, "default"), collection("v1", "Pod", namespace)
    with pytest.raises(ApiError, match="cannot list resource") as refused:
        theirs.get(pods)
    assert refused.value.code == 403
    subject = {"kind": "ServiceAccount", "name": "default", "namespace": namespace}
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"}
    binding = {"metadata": {"name": "view"}, "subjects": [subject], "roleRef": role}
    plane.client.create(
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
    lines = (plane.site.folder / "audit.log").read_text(encoding="utf-8").splitlines()
    events = [json.loads(line) for line in lines if user in line]
    mine = [each for each in events if each["user"]["username"] == user]
    assert [
        (each["verb"], each["objectRef"]["resource"], each["responseStatus"]["code"]) for each in mine
    ] == [("list", "secrets", 403)]


def test_a_pod_gets_the_token_of_its_service_account(client: Client, namespace: str) -> None:
    pod = client.create({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "one"}, **POD}, namespace)
    mounts = pod["spec"]["containers"][0]["volumeMounts"]
    assert [each["mountPath"] for each in mounts] == ["/var/run/secrets/kubernetes.io/serviceaccount"]
    roots = f"{collection('v1', 'ConfigMap', namespace)}/kube-root-ca.crt"
    eventually(
        "the authority is published", lambda: "BEGIN CERTIFICATE" in client.get(roots)["data"]["ca.crt"]
    )


def test_kubectl_speaks_to_it_with_a_kubeconfig(plane: Plane, namespace: str) -> None:
    config = plane.kubeconfig_of(namespace, "default")
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


OTHER_PLANE = """
import os, time
from tests.cluster.control_plane.plane import running_plane
with running_plane([], lambda text: None) as plane:
    print(*(process.pid for process in plane.site.processes.values()), flush=True)
    time.sleep(600)
"""


@pytest.mark.skipif(bool(why_not()), reason=why_not())
def test_nothing_is_left_of_a_plane_whose_owner_was_killed() -> None:
    root = Path(__file__).parents[2]
    with subprocess.Popen(
        [sys.executable, "-c", OTHER_PLANE], cwd=root, stdout=subprocess.PIPE, text=True
    ) as owner:
        assert owner.stdout is not None
        pids = owner.stdout.readline().split()
        owner.kill()
    assert len(pids) == 3
    eventually("its programs are gone", lambda: not any(Path("/proc", pid, "exe").exists() for pid in pids))
