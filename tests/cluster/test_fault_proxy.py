"""The proxy breaks what it is told to break, and passes on everything else."""

import http.client
import subprocess
import time
from collections.abc import Iterator
from functools import partial

import pytest

from tests.cluster.control_plane.client import ApiError, Client, Json, collection, eventually
from tests.cluster.control_plane.plane import Plane
from tests.cluster.control_plane.site import HOST
from tests.cluster.faults.proxy import FaultProxy, fault_proxy
from tests.cluster.faults.rules import Fault
from tests.cluster.pod_programs import container, pod, python


@pytest.fixture
def proxy(plane: Plane) -> Iterator[FaultProxy]:
    with fault_proxy(plane.site) as proxy:
        yield proxy


@pytest.fixture
def through(plane: Plane, namespace: str, proxy: FaultProxy) -> Iterator[Client]:
    """A ServiceAccount's client, which may edit its namespace, through the proxy."""
    subject = {"kind": "ServiceAccount", "name": "default", "namespace": namespace}
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"}
    binding = {"metadata": {"name": "all"}, "subjects": [subject], "roleRef": role}
    kind = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding"}
    plane.client.create({**kind, **binding}, namespace)
    client = Client(HOST, proxy.port, plane.site.trust(), plane.token(namespace, "default"))
    yield client
    client.close()


@pytest.fixture
def impatient(plane: Plane, through: Client, namespace: str, proxy: FaultProxy) -> Iterator[Client]:
    """The same client, which does not wait for long."""
    client = Client(HOST, proxy.port, plane.site.trust(), plane.token(namespace, "default"), timeout=2.0)
    yield client
    client.close()


@pytest.fixture
def path(namespace: str) -> str:
    return collection("v1", "ConfigMap", namespace)


def note(text: str) -> Json:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "note"}, "data": {"text": text}}


def test_without_a_fault_it_is_the_api_server(through: Client, namespace: str, path: str) -> None:
    through.create(note("one"), namespace)
    assert through.get(f"{path}/note")["data"] == {"text": "one"}
    with pytest.raises(ApiError) as refused:
        through.get(f"{path}/none")
    assert refused.value.code == 404


@pytest.mark.parametrize("code", [410, 429, 500, 503])
def test_an_error_comes_as_often_as_told(through: Client, proxy: FaultProxy, path: str, code: int) -> None:
    fault = proxy.faults.add(Fault("status", path="configmaps", times=1, code=code, retry_after=1))
    with pytest.raises(ApiError, match="broken on purpose") as refused:
        through.get(path)
    assert (refused.value.code, fault.hits) == (code, 1)
    assert through.items(path)


def test_a_cut_leaves_no_answer(through: Client, proxy: FaultProxy, path: str) -> None:
    proxy.faults.add(Fault("cut", times=1))
    with pytest.raises((http.client.HTTPException, OSError)):
        through.get(path)
    assert through.items(path)


def test_a_hanging_request_ends_by_the_patience_of_the_client(
    impatient: Client, proxy: FaultProxy, path: str
) -> None:
    proxy.faults.add(Fault("hang", times=1))
    with pytest.raises(TimeoutError):
        impatient.get(path)


def test_a_slow_answer_is_still_right(through: Client, proxy: FaultProxy, path: str) -> None:
    proxy.faults.add(Fault("slow", times=1, seconds=0.5))
    began = time.monotonic()
    assert through.items(path)
    assert time.monotonic() - began >= 0.5


def test_a_stale_read_shows_what_was(through: Client, proxy: FaultProxy, namespace: str, path: str) -> None:
    through.create(note("old"), namespace)
    through.get(f"{path}/note")
    through.patch(f"{path}/note", {"data": {"text": "new"}})
    proxy.faults.add(Fault("stale", times=1))
    assert through.get(f"{path}/note")["data"] == {"text": "old"}
    assert through.get(f"{path}/note")["data"] == {"text": "new"}


def test_a_watch_is_told_that_its_version_is_gone(through: Client, proxy: FaultProxy, path: str) -> None:
    proxy.faults.add(Fault("gone", path="watch=1", times=1))
    assert '"code": 410' in through.text("GET", f"{path}?watch=1")


def test_a_watch_hangs_half_open(impatient: Client, proxy: FaultProxy, path: str) -> None:
    proxy.faults.add(Fault("hang", path="watch=1"))
    with pytest.raises(TimeoutError):
        impatient.text("GET", f"{path}?watch=1&timeoutSeconds=1")


def test_a_program_is_led_through_it_by_its_kubeconfig(
    plane: Plane, through: Client, proxy: FaultProxy, namespace: str
) -> None:
    fault = proxy.faults.add(Fault("status", path="namespaces/.*/configmaps", code=403))
    kubeconfig = plane.kubeconfig_of(namespace, "default", port=proxy.port)
    command = ["kubectl", f"--kubeconfig={kubeconfig}", "-n", namespace, "get", "configmaps"]
    asked = subprocess.run(command, capture_output=True, text=True)
    assert "broken on purpose" in asked.stderr
    assert fault.hits


LIST_NOTES = """
import ssl, urllib.error, urllib.request
folder = "/var/run/secrets/kubernetes.io/serviceaccount/"
tls = ssl.create_default_context(cafile=folder + "ca.crt")
url = f"https://fault-proxy.kube-system.svc/api/v1/namespaces/{open(folder + 'namespace').read()}/configmaps"
request = urllib.request.Request(url, headers={"Authorization": "Bearer " + open(folder + "token").read()})
try:
    print(urllib.request.urlopen(request, context=tls, timeout=20).status)
except urllib.error.HTTPError as refused:
    print(refused.code, refused.read().decode())
"""


@pytest.mark.parts("scheduler", "process-node")
def test_a_pod_is_led_through_it_by_a_service(
    plane: Plane, through: Client, proxy: FaultProxy, namespace: str
) -> None:
    assert plane.publish("fault-proxy", proxy.port) == "fault-proxy.kube-system.svc"
    proxy.faults.add(Fault("status", path="configmaps", code=503, times=1))
    for name, expected in {"broken": "503 ", "whole": "200"}.items():
        plane.client.create(pod(name, container(*python(LIST_NOTES))), namespace)
        path = f"{collection('v1', 'Pod', namespace)}/{name}"
        eventually(f"{name} ends", partial(succeeded, plane.client, path))
        assert plane.client.text("GET", f"{path}/log").startswith(expected)


def succeeded(client: Client, path: str) -> bool:
    """Whether a pod has ended well."""
    return bool(client.get(path)["status"]["phase"] == "Succeeded")
