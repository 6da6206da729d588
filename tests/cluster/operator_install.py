"""Our operator as its manifests install it: a Deployment on the process node, called through its Service.

Everything but the CRDs goes again at the end, since a webhook that nobody serves would keep other tests from
creating their jobs. The peer's manager serves the same kinds, and Kueue judges them, so both are stopped
meanwhile.
"""

import json
import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.cluster.control_plane.client import Json, collection, eventually
from tests.cluster.control_plane.cluster import Cluster
from tests.cluster.control_plane.nodes import pods_of
from tests.cluster.control_plane.plane import Plane
from tests.cluster.control_plane.site import ROOT
from tests.cluster.pod_programs import kubectl
from tests.cluster.process_node.starting import PROCESS_NODE

NAMESPACE = "kubeflow-system"
NAME = "kubeflow-trainer-controller-manager"
DEPLOYMENT = f"{collection('apps/v1', 'Deployment', NAMESPACE)}/{NAME}"
OTHERS = ("trainer", "kueue")
"""parts with webhooks of their own for our kinds"""
READY_SECONDS = 120.0
PLACED = json.dumps(
    [{"op": "add", "path": "/spec/template/spec/nodeSelector", "value": {"pool": PROCESS_NODE}}]
)


class Installed:
    """The installation, and how long it took to be ready."""

    def __init__(self, plane: Plane, folder: Path, namespace: str) -> None:
        self.plane, self.folder, self.namespace = plane, folder, namespace
        self.client = plane.client
        self.deployment = f"{collection('apps/v1', 'Deployment', namespace)}/{NAME}"
        self.account, self.selector = NAME, "app.kubernetes.io/component=manager"
        self.seconds = 0.0
        self._since = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")

    def audited(self) -> list[Json]:
        """What the operator has asked of the API server since it was installed."""
        events = self.plane.audited(f"system:serviceaccount:{self.namespace}:{self.account}")
        return [each for each in events if each["requestReceivedTimestamp"] >= self._since]

    def apply(self) -> None:
        """Apply the overlay, as an administrator does."""
        self._kubectl("apply", "--server-side", "--force-conflicts", "-k", str(self.folder))

    def is_ready(self) -> None:
        """Wait until the Deployment has what it wants."""
        eventually("the operator is ready", self._is_available, limit=READY_SECONDS, say=self.words)

    def scale(self, replicas: int) -> None:
        """Wait until there are so many replicas, and they are ready."""
        self.client.patch(self.deployment, {"spec": {"replicas": replicas}})
        self.is_ready()
        eventually("no other is left", lambda: len(self.pods()) == replicas, limit=READY_SECONDS)

    def pods(self) -> list[Json]:
        """The pods of the operator."""
        return pods_of(self.client, self.namespace, self.selector)

    def words(self) -> str:
        """The log of the operator's pods."""
        logs = f"{collection('v1', 'Pod', self.namespace)}/{{}}/log"
        told = []
        for pod in self.pods():
            states = str(pod["status"].get("containerStatuses", pod["status"]))
            said = kubectl(self.plane, self.namespace, "logs", pod["metadata"]["name"]).stdout
            told.append(f"{logs.format(pod['metadata']['name'])}: {states}\n{said}")
        return "\n".join(told)

    def remove(self) -> None:
        """Remove all but the CRDs, which tests of other installations share."""
        selected = "--selector=app.kubernetes.io/name=kfp-trainer"
        self._kubectl("delete", "-k", str(self.folder), selected, "--ignore-not-found", "--wait=true")

    def _is_available(self) -> bool:
        found = self.client.get(self.deployment)
        wanted, status = found["spec"]["replicas"], found.get("status", {})
        return bool(
            status.get("observedGeneration") == found["metadata"]["generation"]
            and status.get("updatedReplicas", 0) == wanted
            and status.get("availableReplicas", 0) == wanted
            and status.get("replicas", 0) == wanted
        )

    def _kubectl(self, *words: str) -> None:
        done = kubectl(self.plane, self.namespace, *words)
        assert done.returncode == 0, done.stderr


@contextmanager
def installation(
    cluster: Cluster, overlay: str = "standalone", *, namespace: str = NAMESPACE
) -> Iterator[Installed]:
    """Install an overlay until the block ends, ready from the beginning."""
    if not isinstance(cluster, Plane):
        pytest.skip("an existing cluster: another operator may act there")
    for part in OTHERS:
        if part in cluster.started:
            cluster.stop_part(part)
    with manifests_of(cluster, overlay, namespace=namespace) as made:
        began = time.monotonic()
        try:
            made.apply()
            made.is_ready()
            made.seconds = time.monotonic() - began
            yield made
        finally:
            made.remove()


@contextmanager
def manifests_of(plane: Plane, overlay: str, *, namespace: str = NAMESPACE) -> Iterator[Installed]:
    """An overlay whose pods the process node gets, not applied yet."""
    with TemporaryDirectory() as folder:
        base = os.path.relpath(ROOT / "manifests" / "overlays" / overlay, Path(folder).resolve())
        kustomization = {
            "namespace": namespace,
            "resources": [base],
            "patches": [{"target": {"kind": "Deployment"}, "patch": PLACED}],
        }
        Path(folder, "kustomization.yaml").write_text(json.dumps(kustomization), encoding="utf-8")
        yield Installed(plane, Path(folder), namespace)


def run_kubectl(
    cluster: Cluster, namespace: str, manifest: Json, *words: str
) -> subprocess.CompletedProcess[str]:
    """What kubectl says when it creates an object."""
    return kubectl(cluster, namespace, "create", "-f", "-", *words, told=json.dumps(manifest))
