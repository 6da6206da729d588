"""A real control plane on loopback: etcd, the API server and its controllers, and the parts asked for.

CRDs are served before anything that watches them starts: the peer's manager exits without its own and ignores
those that come later, and Kubernetes' garbage collector looks for new kinds every 30 s only.
"""

import os
import shutil
import signal
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from . import core
from .build import CACHE, Say, build
from .client import UNREACHABLE, ApiError, Client, collection, eventually
from .parts import PARTS
from .site import Site
from .webhooks import configurations

RUNS = CACHE / "runs"
LAST_LOGS = CACHE / "last-logs"
READY_SECONDS = 60.0
CRDS = collection("apiextensions.k8s.io/v1", "CustomResourceDefinition")


class Plane:
    """One running control plane."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.client = site.admin()
        self._clients = [self.client]
        self.started: list[str] = []
        self.seconds: dict[str, float] = {}

    def need(self, *names: str) -> None:
        """Start the parts of these names that do not run yet."""
        for name in names:
            if name not in self.started:
                began = time.monotonic()
                self._start_part(name)
                self.started.append(name)
                self.seconds[name] = time.monotonic() - began

    def kill(self, name: str) -> None:
        """End a program as a crash would."""
        self.site.processes[name].kill()

    def hang(self, name: str) -> None:
        """Let a program hang until it is told to go on."""
        self.site.processes[name].signal(signal.SIGSTOP)

    def go_on(self, name: str) -> None:
        """Let a program that hangs go on."""
        self.site.processes[name].signal(signal.SIGCONT)

    def start_again(self, name: str) -> None:
        """Start a program that was killed, on the same ports and with the same files."""
        self.site.processes[name].start()
        if name in ("etcd", "kube-apiserver"):
            self.wait_until_ready()

    def wait_until_ready(self) -> None:
        """Wait until the API server is ready."""
        self._wait("kube-apiserver", lambda: self.client.text("GET", "/readyz") == "ok")

    def token(self, namespace: str, account: str) -> str:
        """A token of a ServiceAccount."""
        path = f"{collection('v1', 'ServiceAccount', namespace)}/{account}/token"
        request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
        return str(self.client.post(path, request)["status"]["token"])

    def client_of(self, namespace: str, account: str) -> Client:
        """A client that may do what a ServiceAccount may do."""
        client = self.site.bearer(self.token(namespace, account))
        self._clients.append(client)
        return client

    def kubeconfig_of(self, namespace: str, account: str) -> Path:
        """A kubeconfig with which a program acts as a ServiceAccount."""
        return self.site.write_kubeconfig(f"{namespace}.{account}", self.token(namespace, account))

    def close(self) -> None:
        """Close all connections to it."""
        for client in self._clients:
            client.close()

    def resident_mb(self) -> dict[str, int]:
        """The memory of each program."""
        return {name: process.resident_mb() for name, process in self.site.processes.items()}

    def start_core(self, crds_of: Iterable[str]) -> None:
        """Start etcd, the API server, serve the CRDs of these parts, then start the controllers."""
        began = time.monotonic()
        core.start_etcd(self.site)
        core.start_api_server(self.site)
        self.wait_until_ready()
        self.seconds["kube-apiserver"] = time.monotonic() - began
        self._serve_crds([path for name in crds_of for path in PARTS[name].crd_files()])
        core.start_controllers(self.site)
        self.seconds["core"] = time.monotonic() - began

    def _serve_crds(self, files: Iterable[Path]) -> None:
        for path in files:
            for document in path.read_text(encoding="utf-8").split("\n---\n"):
                if "\nkind: CustomResourceDefinition" in document:
                    self.client.apply_text(document)
        eventually("CRDs are served", lambda: all(map(_is_served, self.client.items(CRDS))))

    def _start_part(self, name: str) -> None:
        part = PARTS[name]
        part.start(self.site)
        if part.made:
            self._wait(name, lambda: bool(self.client.get(part.made)))
        if manifest := part.webhook_file():
            self._wait(name, lambda: self.site.listens(f"{name}-webhook"))
            for configuration in configurations(name, manifest, self.site, only=part.only_hooks):
                self.client.apply(configuration)

    def _wait(self, name: str, probe: Callable[[], bool]) -> None:
        """Wait for an answer; a program that has ended meanwhile is told with its last words."""

        def answers() -> bool:
            process = self.site.processes[name]
            if process.pid is None:
                raise RuntimeError(f"{name}: ended while it started\n{process.last_words()}")
            try:
                return probe()
            except (*UNREACHABLE, ApiError):
                return False

        eventually(f"{name} is ready", answers, limit=READY_SECONDS)


@contextmanager
def running_plane(parts: Iterable[str], say: Say) -> Iterator[Plane]:
    """A plane that can carry these parts; it, and all that it wrote but its logs, is gone at the end.

    The parts themselves start when they are needed.
    """
    parts = list(parts)
    programs = [*core.PROGRAMS, *(name for part in parts for name in PARTS[part].programs)]
    built = build(programs, say)
    _sweep()
    site = Site(RUNS / str(os.getpid()), built)
    plane = Plane(site)
    try:
        plane.start_core(parts)
        yield plane
    finally:
        plane.close()
        site.clear(keep_logs_in=LAST_LOGS)


def _sweep() -> None:
    """Remove what runs that were killed have left."""
    for folder in RUNS.glob("*"):
        if not Path("/proc", folder.name).exists():
            shutil.rmtree(folder, ignore_errors=True)


def _is_served(crd: dict[str, object]) -> bool:
    status = crd.get("status")
    conditions = status.get("conditions") or [] if isinstance(status, dict) else []
    return any(each["type"] == "Established" and each["status"] == "True" for each in conditions)
