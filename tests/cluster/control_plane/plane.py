"""A real control plane on loopback: etcd, the API server and its controllers, and the parts asked for.

CRDs are served before anything that watches them starts: the peer's manager exits without its own and ignores
those that come later, and Kubernetes' garbage collector looks for new kinds every 30 s only.
"""

import itertools
import json
import os
import re
import shutil
import signal
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from . import core
from .accounts import grants, provisioner_grants
from .addresses import API_PORT, NODE
from .build import CACHE, Say, build
from .client import UNREACHABLE, ApiError, Client, collection, eventually
from .cluster import Cluster
from .parts import PARTS
from .shipped import texts
from .site import Site
from .webhooks import By, configurations, endpoint, front, service

RUNS = CACHE / "runs"
LAST_LOGS = CACHE / "last-logs"
READY_SECONDS = 120.0
AT_ONCE = 4
PUBLISHED = "kube-system"
STORES = ("etcd", "kube-apiserver")
ASLEEP = [name for name, part in PARTS.items() if part.programs]
"""parts whose clients wait ever longer between two tries; a process node's does not"""
CRDS = collection("apiextensions.k8s.io/v1", "CustomResourceDefinition")
CRD_NAME = re.compile(r"^kind: CustomResourceDefinition\nmetadata:\n(?:  .*\n)*?  name: (\S+)$", re.MULTILINE)


class Plane(Cluster):
    """One running control plane."""

    def __init__(self, site: Site) -> None:
        super().__init__(site.admin(), site.kubeconfig)
        self.site = site
        self.started: list[str] = []
        self.seconds: dict[str, float] = {}
        self._of_part: dict[str, list[str]] = {}
        self._was_away = False

    def why_not(self, name: str) -> str:
        """Why it cannot carry a part; empty if it can."""
        return PARTS[name].why_not()

    def need(self, *names: str) -> None:
        """Start the parts of these names that do not run yet, all at once."""
        missing = [name for name in names if name not in self.started]
        if not missing:
            return
        began = time.monotonic()
        with ThreadPoolExecutor(AT_ONCE) as pool:
            for _ in pool.map(self._prepare, missing):
                pass
        for name in missing:  # in this thread, whose end is theirs
            self._run(name, PARTS[name].start)
        for name in missing:
            self._wait_for_webhooks(name)
            self._run(name, PARTS[name].start_when_admitting)
        for name in missing:
            self._wait_for_object(name)
            self.seconds[name] = time.monotonic() - began
        self.started += missing
        self.mark(self.started)

    def start_part(
        self, name: str, *, flags: Sequence[str] = (), settings: Mapping[str, Any] | None = None
    ) -> None:
        """Start a part with more flags, or with other settings in its manager's configuration file."""
        self.site.flags[name], self.site.settings[name] = list(flags), dict(settings or {})
        self.need(name)

    def stop_part(self, name: str) -> None:
        """Stop a part; its kinds and its objects stay, and its webhooks ask nobody any more."""
        for configuration in self._configurations(name, "url"):
            path = collection(configuration["apiVersion"], configuration["kind"])
            self.client.delete(f"{path}/{configuration['metadata']['name']}")
        for process in self._of_part.pop(name):
            self.site.processes.pop(process).stop()
        self.started.remove(name)

    def call_webhooks(self, name: str, by: By) -> None:
        """Let the API server call a part's webhooks by its Service or by URL."""
        for configuration in self._configurations(name, by):
            self.client.apply(configuration)

    def publish(self, name: str, port: int) -> str:
        """Let pods reach a port of this machine by a Service; its host name, at port 443."""
        for document in front(name, port):
            self.client.apply(document, PUBLISHED)
        return f"{name}.{PUBLISHED}.svc"

    def kill(self, name: str) -> None:
        """End a program as a crash would."""
        self.site.processes[name].kill()
        self._was_away |= name in STORES

    def hang(self, name: str) -> None:
        """Let a program hang until it is told to go on."""
        self.site.processes[name].signal(signal.SIGSTOP)

    def go_on(self, name: str) -> None:
        """Let a program that hangs go on."""
        self.site.processes[name].signal(signal.SIGCONT)

    def start_again(self, name: str) -> None:
        """Start a program that was killed, on the same ports and with the same files."""
        self.site.processes[name].start()
        if name in STORES:
            self.wait_until_ready()

    def wake_up(self) -> None:
        """Start the controllers again if the API server was away, for they may wait a minute to ask again."""
        if not self._was_away:
            return
        self._was_away = False
        parts = [programs for name, programs in self._of_part.items() if name in ASLEEP]
        for program in itertools.chain(["kube-controller-manager"], *parts):
            self.site.processes[program].kill()
            self.site.processes[program].start()
        for name in self.started:
            self._wait_for_webhooks(name)

    def wait_until_ready(self) -> None:
        """Wait until the API server is ready."""
        self._wait("kube-apiserver", lambda: self.client.text("GET", "/readyz") == "ok")

    def bearer(self, token: str) -> Client:
        """A client that shows a token."""
        return self.site.bearer(token)

    def write_kubeconfig(self, name: str, token: str, *, port: int = 0) -> Path:
        """A kubeconfig with a token; at another port something lies between."""
        return self.site.write_kubeconfig(name, token, port=port)

    def audited(self, user: str) -> list[dict[str, Any]]:
        """What the audit log tells of a user, for example system:serviceaccount:NAMESPACE:NAME."""
        lines = (self.site.folder / "audit.log").read_text(encoding="utf-8").splitlines()
        events = (json.loads(line) for line in lines if user in line)
        return [each for each in events if each["user"]["username"] == user]

    def resident_mb(self) -> dict[str, int]:
        """The memory of each program."""
        return {name: process.resident_mb() for name, process in self.site.processes.items()}

    def start_core(self, crds_of: Iterable[str]) -> None:
        """Start etcd, the API server, serve the CRDs of these parts, then start the controllers."""
        began = time.monotonic()
        core.start_etcd(self.site)
        core.start_egress(self.site)
        core.start_api_server(self.site)
        self.wait_until_ready()
        self.seconds["kube-apiserver"] = time.monotonic() - began
        self._serve_crds([path for name in crds_of for path in PARTS[name].crd_files()])
        core.start_controllers(self.site)
        self.client.apply(provisioner_grants())
        self.client.apply(endpoint("kubernetes", str(NODE), API_PORT), "default")
        self.mark([])
        self.seconds["core"] = time.monotonic() - began

    def _serve_crds(self, files: Iterable[Path]) -> None:
        found = [text for path in files for text in texts(path) if CRD_NAME.search(text)]
        with ThreadPoolExecutor(AT_ONCE) as pool:
            for _ in pool.map(lambda each: self.client.create_text(CRDS, each), found):
                pass
        names = {match[1] for text in found if (match := CRD_NAME.search(text))}
        eventually("CRDs are served", lambda: names <= self.client.served())

    def _prepare(self, name: str) -> None:
        """Make what a part finds when it starts: its accounts, the Service of its webhooks, and these."""
        part, namespace = PARTS[name], f"{name}-system"
        if part.accounts or part.webhooks:
            self.client.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}})
        for program, account in part.accounts.items():
            head = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": program}}
            self.client.apply(head, namespace)
            for document, place in grants(program, namespace, account, part.sources()):
                self.client.apply(document, place)
            self.site.act_as(program, self.token(namespace, program))
        if part.webhooks:
            for document, place in service(name, self.site):
                self.client.apply(document, place)
            self.call_webhooks(name, "url")

    def _configurations(self, name: str, by: By) -> list[dict[str, Any]]:
        part = PARTS[name]
        if (manifest := part.webhook_file()) is None:
            return []
        named = part.hooks_are_named
        return configurations(name, manifest, self.site, only=part.only_hooks, own_names=named, by=by)

    def _run(self, name: str, start: Callable[[Site], None]) -> None:
        before = set(self.site.processes)
        start(self.site)
        self._of_part.setdefault(name, []).extend(self.site.processes.keys() - before)

    def _wait_for_webhooks(self, name: str) -> None:
        if PARTS[name].webhooks:
            webhook = f"{name}-webhook"
            program = webhook if webhook in self.site.processes else name
            self._wait(program, lambda: self.site.listens(webhook))

    def _wait_for_object(self, name: str) -> None:
        """Wait for what a part makes when it is ready."""
        if path := PARTS[name].made:
            self._wait(name, lambda: bool(self.client.get(path)))

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
def running_plane(
    parts: Iterable[str], say: Say, *, kinds_of: Iterable[str] = (), name: str = ""
) -> Iterator[Plane]:
    """A plane that can carry these parts; it, and all that it wrote but its logs, is gone at the end.

    The parts themselves start when they are needed; of others it may serve the kinds. A second one in this
    process needs a name.
    """
    parts = list(parts)
    programs = [*core.PROGRAMS, *(name for part in parts for name in PARTS[part].programs)]
    built = build(programs, say)
    _sweep()
    namespaces = ["default", "kube-system", *(f"{name}-system" for name in PARTS)]
    folder = RUNS / "-".join(filter(None, (str(os.getpid()), name)))
    shutil.rmtree(folder, ignore_errors=True)  # of a program of before that had the same number
    site = Site(folder, built, namespaces)
    plane = Plane(site)
    try:
        plane.start_core([*parts, *kinds_of])
        yield plane
    finally:
        plane.close()
        site.clear(keep_logs_in=LAST_LOGS / name)


def _sweep() -> None:
    """Remove what runs that were killed have left."""
    for folder in RUNS.glob("*"):
        if not Path("/proc", folder.name.partition("-")[0]).exists():
            shutil.rmtree(folder, ignore_errors=True)
