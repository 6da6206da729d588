"""A small blocking client of an API server, for tests: JSON in, JSON out, one connection a thread.

It is no part of the product, so a test does not judge the product's client by that client itself.
"""

import http.client
import json
import re
import ssl
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

Json = dict[str, Any]
Found = TypeVar("Found")

MERGE = "application/merge-patch+json"
JSON_PATCH = "application/json-patch+json"
DISCOVERY = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
APPLY = "application/apply-patch+yaml"
OWNER = "fieldManager=control-plane&force=true"
UNREACHABLE = (OSError, http.client.HTTPException)
TIMEOUT_SECONDS = 60.0
REST_SECONDS = 60.0
"""a connection that rested longer is opened anew, for API servers close it after three minutes"""
PATIENCE_SECONDS = 180.0
"""so long a test waits for what comes within seconds on a machine that has nothing else to do"""

CORE = {
    "Namespace": "namespaces", "Node": "nodes", "Pod": "pods", "Service": "services", "Secret": "secrets",
    "ConfigMap": "configmaps", "Event": "events", "ServiceAccount": "serviceaccounts",
    "PersistentVolume": "persistentvolumes", "PersistentVolumeClaim": "persistentvolumeclaims",
}  # fmt: skip
CLUSTER_WIDE = re.compile(
    r"^(Namespace|Node|PersistentVolume|Cluster.*|CustomResourceDefinition|.*WebhookConfiguration|PriorityClass|Queue|ResourceFlavor)$"
)


class ApiError(Exception):
    """The API server refused; `code` is HTTP's."""

    def __init__(self, code: int, message: str, reason: str = "") -> None:
        super().__init__(f"{code} {reason}: {message}")
        self.code, self.message, self.reason = code, message, reason


class Client:
    """Speaks to one API server as one user."""

    def __init__(
        self, host: str, port: int, tls: ssl.SSLContext, token: str = "", *, timeout: float = TIMEOUT_SECONDS
    ) -> None:
        self._address, self._tls = (host, port), tls
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._timeout = timeout
        self._mine = threading.local()
        self._opened: list[http.client.HTTPSConnection] = []

    def text(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        *,
        kind: str = "application/json",
        accept: str = "application/json",
    ) -> str:
        """The body of an answer; ApiError if it is a refusal."""
        connection = self._connection()
        try:
            headers = {**self._headers, "Content-Type": kind, "Accept": accept}
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            told = answer.read().decode()
        except UNREACHABLE:
            connection.close()  # the next request opens it again
            raise
        if answer.status >= 300:
            raise _refusal(answer.status, told)
        return told

    def _connection(self) -> http.client.HTTPSConnection:
        """The connection of this thread."""
        if not hasattr(self._mine, "connection"):
            host, port = self._address
            self._mine.connection = http.client.HTTPSConnection(
                host, port, context=self._tls, timeout=self._timeout
            )
            self._opened.append(self._mine.connection)
        connection: http.client.HTTPSConnection = self._mine.connection
        now = time.monotonic()
        if now - getattr(self._mine, "used", now) > REST_SECONDS:
            connection.close()
        self._mine.used = now
        return connection

    def close(self) -> None:
        """Close the connections of all threads."""
        for connection in self._opened:
            connection.close()

    def get(self, path: str) -> Json:
        """Read one object or list."""
        return _object(self.text("GET", path))

    def items(self, path: str) -> list[Json]:
        """The objects of a list."""
        found: list[Json] = self.get(path)["items"]
        return found

    def served(self) -> set[str]:
        """The kinds of groups that are served, as PLURAL.GROUP."""
        groups = _object(self.text("GET", "/apis", accept=DISCOVERY))["items"]
        return {
            f"{resource['resource']}.{group['metadata']['name']}"
            for group in groups
            for version in group["versions"]
            for resource in version.get("resources") or ()
        }

    def create(self, manifest: Mapping[str, Any], namespace: str = "") -> Json:
        """Create an object."""
        path = collection(manifest["apiVersion"], manifest["kind"], namespace)
        return _object(self.text("POST", path, json.dumps(manifest).encode()))

    def post(self, path: str, body: Mapping[str, Any]) -> Json:
        """Post to a path, for example a subresource."""
        return _object(self.text("POST", path, json.dumps(body).encode()))

    def patch(self, path: str, change: Any, *, kind: str = MERGE) -> Json:
        """Change an object."""
        return _object(self.text("PATCH", path, json.dumps(change).encode(), kind=kind))

    def delete(self, path: str, options: Mapping[str, Any] | None = None) -> Json:
        """Delete an object or all of a list."""
        return _object(self.text("DELETE", path, json.dumps(options).encode() if options else None))

    def apply(self, manifest: Mapping[str, Any], namespace: str = "") -> Json:
        """Apply an object, whether it exists or not."""
        path = collection(manifest["apiVersion"], manifest["kind"], namespace)
        return self.patch(f"{path}/{manifest['metadata']['name']}?{OWNER}", manifest, kind=APPLY)

    def create_text(self, path: str, document: str) -> None:
        """Create an object as it stands in a file; the server parses it, which is faster than Python."""
        self.text("POST", path, document.encode(), kind="application/yaml")


def collection(version: str, kind: str, namespace: str = "") -> str:
    """The path of the objects of a kind."""
    root = f"/api/{version}" if "/" not in version else f"/apis/{version}"
    plural = CORE.get(kind) or kind.lower() + ("es" if kind.endswith("s") else "s")
    inside = "" if CLUSTER_WIDE.match(kind) else f"/namespaces/{namespace or 'default'}"
    return f"{root}{inside}/{plural}"


def exists(client: Client, path: str) -> bool:
    """Whether there is such an object."""
    try:
        client.get(path)
    except ApiError as refused:
        if refused.code == 404:
            return False
        raise
    return True


def eventually(
    what: str,
    probe: Callable[[], Found | None],
    *,
    limit: float = PATIENCE_SECONDS,
    say: Callable[[], str] = str,
) -> Found:
    """What a probe finds once it finds something; AssertionError after the limit."""
    end, pause = time.monotonic() + limit, 0.05
    while True:
        if found := probe():
            return found
        if time.monotonic() > end:
            raise AssertionError(f"{what}: not within {limit:.0f} s {say()}")
        time.sleep(pause)
        pause = min(pause * 1.2, 0.5)  # what has not come at once may come late, on a busy machine


def _object(text: str) -> Json:
    found: Json = json.loads(text)
    return found


def _refusal(code: int, text: str) -> ApiError:
    try:
        status = json.loads(text)
    except ValueError:
        return ApiError(code, text)
    return ApiError(code, status.get("message", text), status.get("reason", ""))
