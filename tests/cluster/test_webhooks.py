"""The API server calls webhooks by URL and by Service, those of managers beside it and those of pods."""

import base64
from collections.abc import Callable
from typing import Any

import pytest

from tests.cluster.control_plane.client import ApiError, Json, collection, eventually
from tests.cluster.control_plane.plane import Plane
from tests.cluster.control_plane.webhooks import By
from tests.cluster.manifests import JOBSET, job, pod_template

KUEUE = "kueue.x-k8s.io/v1beta2"
VOLCANO = "scheduling.volcano.sh/v1beta1"
REFUSED: dict[str, tuple[str, str, Json, str]] = {
    "jobset": (
        JOBSET,
        "JobSet",
        {
            "replicatedJobs": [
                {"name": "x" * 60, "replicas": 1, "template": {"spec": job(pod_template("x"), 1)}}
            ]
        },
        "job names generated for this JobSet will exceed 63 characters",
    ),
    "volcano": (VOLCANO, "Queue", {"parent": "none"}, "failed to get parent queue none"),
    "kueue": (
        KUEUE,
        "ClusterQueue",
        {"namespaceSelector": {"matchExpressions": [{"key": "a", "operator": "Exists", "values": ["b"]}]}},
        "may not be specified when `operator` is 'Exists'",
    ),
}
"""what each part's webhook refuses, and nothing before it"""


@pytest.mark.parts("jobset", "volcano", "kueue")
@pytest.mark.parametrize("by", ["url", "service"])
@pytest.mark.parametrize("part", REFUSED)
def test_a_manager_refuses_what_it_is_asked(plane: Plane, namespace: str, part: str, by: By) -> None:
    version, kind, spec, reason = REFUSED[part]
    manifest = {"apiVersion": version, "kind": kind, "metadata": {"name": "refused"}, "spec": spec}
    plane.call_webhooks(part, by)
    try:
        with pytest.raises(ApiError, match=reason):
            plane.client.create(manifest, namespace)
    finally:
        plane.call_webhooks(part, "url")


@pytest.mark.parts("jobset")
def test_by_service_the_tunnel_is_needed(plane: Plane, namespace: str) -> None:
    version, kind, spec, reason = REFUSED["jobset"]
    manifest = {"apiVersion": version, "kind": kind, "metadata": {"name": "refused"}, "spec": spec}
    plane.call_webhooks("jobset", "service")
    plane.kill("egress")
    try:
        eventually(
            "it cannot be asked", lambda: "failed calling webhook" in answer(plane, manifest, namespace)
        )
        plane.start_again("egress")
        eventually("it is asked again", lambda: reason in answer(plane, manifest, namespace))
    finally:
        plane.call_webhooks("jobset", "url")


def answer(plane: Plane, manifest: Json, namespace: str) -> str:
    """Why an object would be refused; nothing if it would not, for webhooks are heard of a moment later."""
    path = collection(manifest["apiVersion"], manifest["kind"], namespace)
    try:
        plane.client.post(f"{path}?dryRun=All", manifest)
    except ApiError as refused:
        return refused.message
    return ""


SERVER = """
import json, ssl
from http.server import BaseHTTPRequestHandler, HTTPServer

class Refuse(BaseHTTPRequestHandler):
    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        status = {"message": "said by a pod"}
        body = {"uid": asked["request"]["uid"], "allowed": False, "status": status}
        answer = json.dumps({**asked, "request": None, "response": body}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

server = HTTPServer(("", 8443), Refuse)
tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
tls.load_cert_chain("/certs/tls.crt", "/certs/tls.key")
server.socket = tls.wrap_socket(server.socket, server_side=True)
server.serve_forever()
"""


def deployment(namespace: str) -> list[Json]:
    """A webhook's Deployment for the process node, and its Service."""
    labels = {"app": "hook"}
    container = {
        "name": "hook",
        "image": "python:3.11",
        "command": ["python3", "-c", SERVER],
        "volumeMounts": [{"name": "certs", "mountPath": "/certs"}],
        "readinessProbe": {"tcpSocket": {"port": 8443}, "periodSeconds": 1},
    }
    spec: dict[str, Any] = {
        "nodeSelector": {"pool": "process-node"},
        "containers": [container],
        "volumes": [{"name": "certs", "secret": {"secretName": "hook"}}],
    }
    template = {"metadata": {"labels": labels}, "spec": spec}
    deployed = {"replicas": 1, "selector": {"matchLabels": labels}, "template": template}
    front = {"selector": labels, "ports": [{"port": 443, "targetPort": 8443}]}
    return [
        {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "hook"}, "spec": deployed},
        {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "hook"}, "spec": front},
    ]


def configuration(plane: Plane, namespace: str) -> Json:
    """Asks the pod about every ConfigMap that is made in its namespace."""
    service = {"namespace": namespace, "name": "hook", "path": "/any"}
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"]}
    hook = {
        "name": "hook.example.com",
        "clientConfig": {"service": service, "caBundle": plane.site.ca_bundle},
        "rules": [rule],
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}},
        "admissionReviewVersions": ["v1"],
        "sideEffects": "None",
        "timeoutSeconds": 5,
    }
    head = {"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration"}
    return {**head, "metadata": {"name": namespace}, "webhooks": [hook]}


@pytest.mark.parts("scheduler", "process-node")
def test_a_pod_refuses_what_it_is_asked_through_its_service(
    plane: Plane, new_namespace: Callable[[], str]
) -> None:
    namespace, client = new_namespace(), plane.client
    pair = plane.site.serving_pair(namespace)
    data = {"tls.crt": pair.certificate, "tls.key": pair.key}
    encoded = {key: base64.b64encode(content).decode() for key, content in data.items()}
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "hook"}, "data": encoded}
    for manifest in (secret, *deployment(namespace)):
        client.create(manifest, namespace)
    hook = configuration(plane, namespace)
    client.create(hook)
    note = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "note"}}
    try:
        eventually("the pod is asked", lambda: "said by a pod" in answer(plane, note, namespace))
    finally:
        client.delete(f"{collection(hook['apiVersion'], hook['kind'])}/{namespace}")
