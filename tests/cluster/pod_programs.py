"""Small programs that pods of these tests run, builders of the objects around them, and kubectl."""

import subprocess
import sys
from typing import Any

from tests.cluster.control_plane.cluster import Cluster
from tests.cluster.process_node.starting import PROCESS_NODE

SERVER = """
import http.server, os, socket, ssl, sys
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        code, told = 200, socket.gethostname()
        if self.path == "/ready" and not os.path.exists("/state/ready"):
            code, told = 503, "not yet"
        self.send_response(code)
        self.end_headers()
        self.wfile.write(told.encode())
    def log_message(self, *words):
        pass
http.server.ThreadingHTTPServer(("", 8080), Handler).serve_forever()
"""
"""tells its host name; /ready depends on a file"""

ASK = """
import sys, urllib.request
for url in sys.argv[1:]:
    try:
        print(url, urllib.request.urlopen(url, timeout=20).read().decode(), flush=True)
    except OSError as problem:
        print(url, getattr(problem, "reason", problem), flush=True)
"""
"""asks each address"""


def python(program: str, *arguments: str) -> list[str]:
    """The command that runs a text as Python."""
    return [sys.executable, "-c", program, *arguments]


def container(*command: str, **more: Any) -> dict[str, Any]:
    """The one container of a pod."""
    return {"name": "main", "image": "example.com/any:1", "command": list(command), **more}


def pod(name: str, *containers: dict[str, Any], pool: str = PROCESS_NODE, **spec: Any) -> dict[str, Any]:
    """A pod for a process node that is not started again."""
    whole = {"restartPolicy": "Never", "nodeSelector": {"pool": pool}, "containers": list(containers), **spec}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "labels": {"app": name}},
        "spec": whole,
    }


def deployment(name: str, *containers: dict[str, Any], replicas: int = 1, **spec: Any) -> dict[str, Any]:
    """A Deployment of such pods, which are started again."""
    made = pod(name, *containers, **{"restartPolicy": "Always", "terminationGracePeriodSeconds": 2, **spec})
    template = {"metadata": {"labels": {"app": name}}, "spec": made["spec"]}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name},
        "spec": {"replicas": replicas, "selector": {"matchLabels": {"app": name}}, "template": template},
    }


def service(name: str, port: int, target: int, **spec: Any) -> dict[str, Any]:
    """A Service before the pods of this name."""
    ports = [{"name": "main", "port": port, "targetPort": target}]
    whole = {"selector": {"app": name}, "ports": ports, **spec}
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name}, "spec": whole}


def kubectl(
    cluster: Cluster, namespace: str, *words: str, told: str | None = None
) -> subprocess.CompletedProcess[str]:
    """What kubectl says."""
    command = ["kubectl", f"--kubeconfig={cluster.kubeconfig}", "-n", namespace, *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, input=told)
