"""An operator's Deployment runs on the process node: restricted, with certificates, probes and a token."""

import base64
import sys
from typing import Any

import pytest

from kfp_trainer.runtime_operator.images import image
from tests.cluster.control_plane.client import Client, Json, collection, eventually
from tests.cluster.control_plane.nodes import pods_of
from tests.cluster.pod_programs import container, deployment, pod, python

pytestmark = pytest.mark.parts("scheduler", "process-node")

RESTRICTED = {
    "runAsNonRoot": True,
    "allowPrivilegeEscalation": False,
    "readOnlyRootFilesystem": True,
    "capabilities": {"drop": ["ALL"]},
    "seccompProfile": {"type": "RuntimeDefault"},
}
WHO_AM_I = """
import os, shutil
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
print("user", os.getuid(), os.getgid())
print("capabilities", int(status["CapEff"], 16), "new ones", status["NoNewPrivs"].strip())
for folder in ("/", "/usr", os.getcwd(), "/settings", "/tmp"):
    try:
        open(os.path.join(folder, "new"), "w").close()
        print(folder == os.getcwd() and "." or folder, "can be written to")
    except OSError as problem:
        print(folder == os.getcwd() and "." or folder, problem.strerror)
print(*sorted(name for name in ("kfp-trainer", "python", "torchrun") if shutil.which(name)))
"""
LEAD = """
import json, os, ssl, sys, urllib.error, urllib.request
folder = "/var/run/secrets/kubernetes.io/serviceaccount/"
address = "https://" + os.environ["KUBERNETES_SERVICE_HOST"] + ":" + os.environ["KUBERNETES_SERVICE_PORT"]
tls = ssl.create_default_context(cafile=folder + "ca.crt")
head = {"Authorization": "Bearer " + open(folder + "token").read(), "Content-Type": "application/json"}
path = "/apis/coordination.k8s.io/v1/namespaces/" + open(folder + "namespace").read() + "/leases"
lease = {"metadata": {"name": "lead"}, "spec": {"holderIdentity": os.environ["WHO"]}}
request = urllib.request.Request(address + path, json.dumps(lease).encode(), head)
try:
    print(json.load(urllib.request.urlopen(request, context=tls))["spec"]["holderIdentity"], "leads")
except urllib.error.HTTPError as refused:
    print(refused.code)
"""
READ_PAIR = """
import os, time
seen = None
while True:
    version = os.readlink("/certs/..data")
    pair = [open(f"/certs/{name}").read() for name in ("tls.crt", "tls.key")]
    if version == os.readlink("/certs/..data") and pair != seen:
        seen = pair
        print(*pair, flush=True)
    time.sleep(0.2)
"""


def the_log(client: Client, namespace: str, name: str) -> str:
    return client.text("GET", f"{collection('v1', 'Pod', namespace)}/{name}/log")


def ended(client: Client, namespace: str, name: str) -> Json:
    """The pod, once it has ended."""
    path = f"{collection('v1', 'Pod', namespace)}/{name}"

    def over() -> Json | None:
        found = client.get(path)
        return found if found["status"]["phase"] in ("Succeeded", "Failed") else None

    return eventually(f"{name} ends", over, say=lambda: str(client.get(path)["status"]))


def restrict(client: Client, namespace: str) -> None:
    """Let the API server admit only pods that keep to the strictest of Kubernetes' standards."""
    labels = {"pod-security.kubernetes.io/enforce": "restricted"}
    client.patch(f"{collection('v1', 'Namespace')}/{namespace}", {"metadata": {"labels": labels}})


def test_a_restricted_pod_is_nobody_and_writes_to_its_volumes_only(client: Client, namespace: str) -> None:
    restrict(client, namespace)
    client.create(
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings"}, "data": {"a": "1"}},
        namespace,
    )
    mounts = [{"name": "settings", "mountPath": "/settings"}, {"name": "tmp", "mountPath": "/tmp"}]
    made = container(*python(WHO_AM_I), workingDir="/var", securityContext=RESTRICTED, volumeMounts=mounts)
    volumes = [{"name": "settings", "configMap": {"name": "settings"}}, {"name": "tmp", "emptyDir": {}}]
    client.create(pod("who", {**made, "image": image("operator")}, volumes=volumes), namespace)
    ended(client, namespace, "who")
    assert the_log(client, namespace, "who").splitlines() == [
        "user 65532 65532",
        "capabilities 0 new ones 1",
        *(f"{folder} Read-only file system" for folder in ("/", "/usr", ".", "/settings")),
        "/tmp can be written to",
        "kfp-trainer python torchrun",
    ]


def test_a_pod_that_must_not_be_root_waits_with_the_reason(client: Client, namespace: str) -> None:
    made = container("true", securityContext={"runAsNonRoot": True})
    client.create(pod("root", made), namespace)

    def waiting() -> Json | None:
        for each in pods_of(client, namespace)[0]["status"].get("containerStatuses") or []:
            if each["state"].get("waiting", {}).get("reason") == "CreateContainerConfigError":
                return dict(each["state"]["waiting"])
        return None

    reason = eventually("it waits", waiting)
    assert "runAsNonRoot, and image example.com/any:1 runs as root; set runAsUser" in reason["message"]


def test_one_of_two_pods_leads_by_the_rights_of_their_account(client: Client, namespace: str) -> None:
    rbac = "rbac.authorization.k8s.io"
    rule = {"apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "verbs": ["create"]}
    subject = {"kind": "ServiceAccount", "name": "leader", "namespace": namespace}
    name = {"metadata": {"name": "leader"}}
    client.create({"apiVersion": "v1", "kind": "ServiceAccount", **name}, namespace)
    client.create({"apiVersion": f"{rbac}/v1", "kind": "Role", **name, "rules": [rule]}, namespace)
    reference = {"apiGroup": rbac, "kind": "Role", "name": "leader"}
    binding = {"apiVersion": f"{rbac}/v1", "kind": "RoleBinding", **name}
    client.create({**binding, "subjects": [subject], "roleRef": reference}, namespace)
    env = [{"name": "WHO", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}]
    for each in ("one", "two"):
        client.create(pod(each, container(*python(LEAD), env=env), serviceAccountName="leader"), namespace)
    told = {
        each: (ended(client, namespace, each), the_log(client, namespace, each))[1] for each in ("one", "two")
    }
    leader = next(each for each in told if told[each] == f"{each} leads\n")
    del told[leader]
    assert list(told.values()) == ["409\n"]


def secret(certificate: str, key: str) -> dict[str, Any]:
    data = {"tls.crt": certificate, "tls.key": key}
    encoded = {name: base64.b64encode(value.encode()).decode() for name, value in data.items()}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "certs"}, "data": encoded}


def test_a_pod_sees_both_files_of_a_new_certificate_at_once(client: Client, namespace: str) -> None:
    client.create(secret("one", "one"), namespace)
    mounts = [{"name": "certs", "mountPath": "/certs", "readOnly": True}]
    volumes = [{"name": "certs", "secret": {"secretName": "certs"}}]
    client.create(
        deployment("hook", container(*python(READ_PAIR), volumeMounts=mounts), volumes=volumes), namespace
    )
    name = eventually("there is a pod", lambda: pods_of(client, namespace))[0]["metadata"]["name"]
    eventually("it reads", lambda: has_log(client, namespace, name, "one one\n"))
    client.apply(secret("two", "two"), namespace)
    eventually("it reads anew", lambda: has_log(client, namespace, name, "one one\ntwo two\n"))


def has_log(client: Client, namespace: str, name: str, text: str) -> bool:
    states = pods_of(client, namespace)[0]["status"].get("containerStatuses") or [{}]
    return "running" in states[0].get("state", {}) and the_log(client, namespace, name) == text


def test_a_deployment_rolls_over_when_its_new_pods_are_ready(client: Client, namespace: str) -> None:
    probe = {"exec": {"command": ["sh", "-c", "test $VERSION != 2"]}, "periodSeconds": 1}
    made = deployment("rolls", versioned("1", probe))
    client.create(made, namespace)
    path = f"{collection('apps/v1', 'Deployment', namespace)}/rolls"
    eventually("it is available", lambda: available(client, path))
    for version, stays in (("2", "1"), ("3", "3")):
        client.apply(deployment("rolls", versioned(version, probe)), namespace)
        until_ready(client, namespace, version, stays)


def until_ready(client: Client, namespace: str, wanted: str, version: str) -> None:
    """Wait until a pod of the wanted version runs and only those of this version are ready."""
    eventually(
        f"version {version} is ready",
        lambda: ready_versions(client, namespace, wanted) == {version},
    )


def versioned(version: str, probe: Json) -> dict[str, Any]:
    env = [{"name": "VERSION", "value": version}]
    return container(sys.executable, "-c", "import time; time.sleep(600)", env=env, readinessProbe=probe)


def available(client: Client, path: str) -> bool:
    return bool(client.get(path).get("status", {}).get("availableReplicas") == 1)


def ready_versions(client: Client, namespace: str, wanted: str) -> set[str]:
    """The versions of the pods that are ready; nothing until one of the wanted version runs."""
    found, there = set(), False
    for each in pods_of(client, namespace):
        state = (each["status"].get("containerStatuses") or [{"state": {}, "ready": False}])[0]
        version = each["spec"]["containers"][0]["env"][0]["value"]
        there = there or (version == wanted and "running" in state["state"])
        if state["ready"] and "deletionTimestamp" not in each["metadata"]:
            found.add(version)
    return found if there else set()
