"""Services lead to pods of the process node: by every name, from pods and from the API server."""

import base64
import sys
from typing import Any

import pytest

from tests.cluster.control_plane.client import ApiError, Client, Json, collection, eventually
from tests.cluster.control_plane.nodes import pods_of
from tests.cluster.control_plane.plane import Plane
from tests.cluster.pod_programs import ASK, SERVER, container, deployment, kubectl, pod, python, service
from tests.cluster.process_node.starting import NETWORK

pytestmark = pytest.mark.parts("scheduler", "process-node")

READY = {"httpGet": {"path": "/", "port": 8080}, "periodSeconds": 1}
RESOLVE = """
import socket, sys
for name in sys.argv[1:]:
    try:
        print(name, *sorted({each[4][0] for each in socket.getaddrinfo(name, 80, socket.AF_INET)}))
    except socket.gaierror as problem:
        print(name, "unknown" if problem.errno == socket.EAI_NONAME else problem)
"""
ADMIT = """
import http.server, json, ssl
class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        review = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        asked = review["request"]
        answer = {"uid": asked["uid"], "allowed": False, "status": {"message": "not " + asked["name"]}}
        told = json.dumps({**review, "request": None, "response": answer}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(told)))
        self.end_headers()
        self.wfile.write(told)
server = http.server.ThreadingHTTPServer(("", 9443), Handler)
tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
tls.load_cert_chain("/certs/tls.crt", "/certs/tls.key")
server.socket = tls.wrap_socket(server.socket, server_side=True)
server.serve_forever()
"""


def run(client: Client, namespace: str, name: str, *command: str) -> str:
    """What a pod has printed when it has ended."""
    client.create(pod(name, container(*command)), namespace)
    path = f"{collection('v1', 'Pod', namespace)}/{name}"

    def ended() -> bool:
        return client.get(path)["status"]["phase"] in ("Succeeded", "Failed")

    eventually(f"{name} ends", ended, say=lambda: str(client.get(path)["status"]))
    return client.text("GET", f"{path}/log")


def ready(client: Client, namespace: str, name: str, count: int = 1) -> list[Json]:
    """The pods of a Deployment, once so many are ready endpoints."""
    slices = collection("discovery.k8s.io/v1", "EndpointSlice", namespace)
    selector = f"?labelSelector=kubernetes.io/service-name={name}"

    def endpoints() -> bool:
        found = [one for each in client.items(slices + selector) for one in each.get("endpoints") or []]
        return sum(bool(each["conditions"].get("ready")) for each in found) == count

    eventually(
        f"{count} endpoints of {name}",
        endpoints,
        say=lambda: str([each["status"] for each in pods_of(client, namespace)]),
    )
    return pods_of(client, namespace, f"app={name}")


def web(replicas: int = 1, **more: Any) -> dict[str, Any]:
    return deployment("web", container(*python(SERVER), readinessProbe=READY, **more), replicas=replicas)


def test_a_service_is_reached_by_every_one_of_its_names(client: Client, namespace: str) -> None:
    client.create(web(replicas=2), namespace)
    client.create(service("web", 80, 8080), namespace)
    hosts = {each["metadata"]["name"] for each in ready(client, namespace, "web", 2)}
    names = ["web", f"web.{namespace}", f"web.{namespace}.svc", f"web.{namespace}.svc.cluster.local"]
    urls = [f"http://{name}/" for name in names for _ in range(2)]
    told = [line.split() for line in run(client, namespace, "ask", *python(ASK, *urls)).splitlines()]
    assert [url for url, *_ in told] == urls
    assert {host for _, host in told} == hosts, "each in its turn"


def test_a_pod_reaches_itself_by_its_service(plane: Plane, namespace: str) -> None:
    plane.client.create(web(), namespace)
    plane.client.create(service("web", 80, 8080), namespace)
    name = ready(plane.client, namespace, "web")[0]["metadata"]["name"]
    asked = kubectl(plane, namespace, "exec", name, "--", *python(ASK, "http://web/"))
    assert (asked.stdout, asked.stderr) == (f"http://web/ {name}\n", "")


def test_a_headless_service_is_the_addresses_of_its_pods(client: Client, namespace: str) -> None:
    made = deployment("web", container(*python(SERVER), readinessProbe=READY), replicas=2)
    made["spec"]["template"]["spec"] |= {"subdomain": "web", "hostname": "one"}
    client.create(made, namespace)
    client.create(service("web", 80, 8080, clusterIP="None"), namespace)
    addresses = sorted(each["status"]["podIP"] for each in ready(client, namespace, "web", 2))
    names = ["web", f"web.{namespace}.svc.cluster.local", "other", "web.elsewhere", "example.com"]
    told = run(client, namespace, "resolve", *python(RESOLVE, *names, "one.web")).splitlines()
    assert [line.split() for line in told[:2]] == [[name, *addresses] for name in names[:2]]
    assert told[2:5] == [f"{name} unknown" for name in names[2:]]
    assert set(told[5].split()[1:]) <= set(addresses)


def test_the_api_server_is_a_service_too(client: Client, namespace: str) -> None:
    program = (
        "import ssl, urllib.request\n"
        "tls = ssl.create_default_context(cafile='/var/run/secrets/kubernetes.io/serviceaccount/ca.crt')\n"
        "for host in ('kubernetes.default', 'kubernetes.default.svc.cluster.local'):\n"
        "    print(urllib.request.urlopen(f'https://{host}/version', context=tls).status)\n"
    )
    assert run(client, namespace, "ask", *python(program)) == "200\n200\n"


def test_only_a_ready_pod_gets_the_connections_of_its_service(plane: Plane, namespace: str) -> None:
    client = plane.client
    probe = {"httpGet": {"path": "/ready", "port": 8080}, "periodSeconds": 1}
    state = [{"name": "state", "mountPath": "/state"}]
    made = container(*python(SERVER), readinessProbe=probe, volumeMounts=state)
    client.create(deployment("web", made, volumes=[{"name": "state", "emptyDir": {}}]), namespace)
    client.create(service("web", 80, 8080), namespace)
    eventually("it runs", lambda: running(client, namespace))
    assert "Connection refused" in run(client, namespace, "early", *python(ASK, "http://web/"))
    assert kubectl(plane, namespace, "exec", "deploy/web", "--", "touch", "/state/ready").returncode == 0
    name = ready(client, namespace, "web")[0]["metadata"]["name"]
    assert run(client, namespace, "late", *python(ASK, "http://web/")) == f"http://web/ {name}\n"


def test_services_go_on_when_the_network_part_was_killed(plane: Plane, namespace: str) -> None:
    plane.client.create(web(), namespace)
    plane.client.create(service("web", 80, 8080), namespace)
    name = ready(plane.client, namespace, "web")[0]["metadata"]["name"]
    plane.kill(NETWORK)
    plane.start_again(NETWORK)
    eventually("it is reached again", lambda: asked(plane, namespace, name))
    assert run(plane.client, namespace, "after", *python(ASK, "http://web/")) == f"http://web/ {name}\n"


def asked(plane: Plane, namespace: str, name: str) -> bool:
    """Whether a pod reaches itself by its Service."""
    told = kubectl(plane, namespace, "exec", name, "--", *python(ASK, "http://web/"))
    return told.stdout == f"http://web/ {name}\n"


def running(client: Client, namespace: str) -> bool:
    return any(each["status"]["phase"] == "Running" for each in pods_of(client, namespace))


def test_the_api_server_calls_a_webhook_that_a_pod_serves(plane: Plane, namespace: str) -> None:
    client = plane.client
    pair = plane.site.serving_pair(namespace)
    data = {"tls.crt": pair.certificate, "tls.key": pair.key}
    secret = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "certs"},
        "data": {key: base64.b64encode(value).decode() for key, value in data.items()},
    }
    mounts = [{"name": "certs", "mountPath": "/certs", "readOnly": True}]
    listens = {"tcpSocket": {"port": 9443}, "periodSeconds": 1}
    hook = container(sys.executable, "-c", ADMIT, volumeMounts=mounts, readinessProbe=listens)
    volumes = [{"name": "certs", "secret": {"secretName": "certs"}}]
    client.create(deployment("hook", hook, volumes=volumes), namespace)
    client.create(service("hook", 443, 9443), namespace)
    client.create(secret, namespace)
    ready(client, namespace, "hook")
    client.create(configuration(namespace, plane.site.ca_bundle))
    note = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "note"}}
    try:
        said = eventually("it is asked", lambda: refusal(client, note, namespace))
    finally:
        path = collection("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration")
        client.delete(f"{path}/{namespace}")
    assert "denied the request: not note" in said
    notes = [each["metadata"]["name"] for each in client.items(collection("v1", "ConfigMap", namespace))]
    assert "note" not in notes


def refusal(client: Client, made: dict[str, Any], namespace: str) -> str:
    """Why an object was not made; nothing if it was, which is undone."""
    try:
        client.create(made, namespace)
    except ApiError as refused:
        return refused.message
    client.delete(f"{collection('v1', made['kind'], namespace)}/{made['metadata']['name']}")
    return ""


def configuration(namespace: str, trust: str) -> dict[str, Any]:
    """Asks the Service `hook` of a namespace about its ConfigMaps."""
    hook = {
        "name": "hook.example.com",
        "clientConfig": {
            "service": {"namespace": namespace, "name": "hook", "path": "/admit"},
            "caBundle": trust,
        },
        "rules": [
            {"apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"], "operations": ["CREATE"]}
        ],
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}},
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
    }
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": namespace},
        "webhooks": [hook],
    }
