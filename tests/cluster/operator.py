"""Our operator as a process beside the control plane, with our CRDs; without its webhook.

The peer's manager acts on the same kinds, and Kueue judges them, so both are stopped when ours starts.
"""

import signal
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.control_plane.client import APPLY, OWNER, ApiError, Client, Json, collection, eventually
from tests.cluster.control_plane.cluster import Cluster
from tests.cluster.control_plane.plane import Plane
from tests.cluster.control_plane.processes import Process
from tests.cluster.control_plane.site import HOST, ROOT
from tests.cluster.manifests import condition, job

TRAINER = "trainer.kubeflow.org/v1alpha1"
CRDS = collection("apiextensions.k8s.io/v1", "CustomResourceDefinition")
KFP_TRAINER = Path(sys.executable).parent / "kfp-trainer"
NAME = "kfp-trainer-operator"
OTHERS = ("trainer", "kueue")
"""parts with webhooks of their own for our kinds; a test that wants one gets it started again"""


def install_crds(client: Client) -> None:
    """Serve our kinds; the peer's of the same names become ours."""
    for path in sorted((ROOT / "manifests" / "crds").glob("trainer.*.yaml")):
        name = path.stem.partition("_")[2] + ".trainer.kubeflow.org"
        client.text("PATCH", f"{CRDS}/{name}?{OWNER}", path.read_bytes(), kind=APPLY)
    eventually("our field is served", lambda: _knows_why(client))


def _knows_why(client: Client) -> bool:
    """Whether the API server keeps what only our schema has."""
    try:
        known = client.get("/openapi/v3/apis/trainer.kubeflow.org/v1alpha1")
    except ApiError:
        return False
    status = known["components"]["schemas"].get("org.kubeflow.trainer.v1alpha1.TrainJob", {})
    return "why" in str(status.get("properties", {}).get("status", {}))


@contextmanager
def running_operator(cluster: Cluster, *flags: str, kubeconfig: Path | None = None) -> Iterator[Process]:
    """Run it until the block ends, ready from the beginning."""
    plane = cluster
    if not isinstance(plane, Plane):
        pytest.skip("an existing cluster: another operator may act there")
    plane.need("jobset")
    for part in OTHERS:
        if part in plane.started:
            plane.stop_part(part)
    install_crds(plane.client)
    ports = {f"--{name}-port": plane.site.port(f"{NAME}-{name}") for name in ("health", "metrics")}
    command = [KFP_TRAINER, "operator", "--kubeconfig", kubeconfig or plane.kubeconfig]
    command += [
        "--host",
        HOST,
        "--no-webhook",
        "--no-leader-election",
        *(each for pair in ports.items() for each in pair),
    ]
    process = plane.site.run_command(NAME, [*command, *flags])
    try:
        wait_until_it_leads(plane, process)
        yield process
    finally:
        process.stop()


def start_again(plane: Plane, process: Process) -> None:
    """Start an operator that was killed, and wait until it acts."""
    process.start()
    wait_until_it_leads(plane, process)


def kill(process: Process) -> None:
    """End it as a crash would."""
    process.signal(signal.SIGKILL)
    eventually("it is dead", lambda: process.pid is None)


def wait_until_it_leads(plane: Plane, process: Process) -> None:
    """Wait until it acts on jobs."""
    url = f"http://{HOST}:{plane.site.port(f'{NAME}-metrics')}/metrics"

    def leads() -> bool:
        if process.pid is None:
            raise RuntimeError(f"the operator ended: {process.last_words()}")
        try:
            with urllib.request.urlopen(url, timeout=5) as page:
                return "kfp_trainer_is_leader 1.0" in page.read().decode()
        except (urllib.error.URLError, OSError):
            return False

    eventually("the operator leads", leads, say=process.last_words)


def writes(plane: Plane) -> int:
    """How many writes of specs and statuses the operator has made since it started."""
    url = f"http://{HOST}:{plane.site.port(f'{NAME}-metrics')}/metrics"
    with urllib.request.urlopen(url, timeout=30) as page:
        lines = page.read().decode().splitlines()
    counted = (line.rpartition(" ") for line in lines if line.startswith("kfp_trainer_writes_total{"))
    return sum(int(float(value)) for _, _, value in counted)


def step(name: str, ancestor: str, template: Json, *, container: str = "", **replicated: Any) -> Json:
    """One step of a runtime."""
    (only,) = template["spec"]["containers"]
    spec = {**template["spec"], "containers": [{**only, "name": container or name}]}
    metadata = {"labels": {"trainer.kubeflow.org/trainjob-ancestor-step": ancestor}}
    pods = job({**template, "spec": spec}, 1)
    return {"name": name, **replicated, "template": {"metadata": metadata, "spec": pods}}


def runtime(*steps: Json, name: str = "plain", policy: Json | None = None, **spec: Any) -> Json:
    """A runtime of these steps, perhaps as a gang."""
    grouped = {"podGroupPolicy": policy} if policy else {}
    return {
        "apiVersion": TRAINER,
        "kind": "TrainingRuntime",
        "metadata": {"name": name},
        "spec": {
            "mlPolicy": {"numNodes": 1},
            **grouped,
            "template": {"spec": {**spec, "replicatedJobs": list(steps)}},
        },
    }


def train_job(
    name: str, *, nodes: int = 1, runtime: str = "plain", labels: Json | None = None, **spec: Any
) -> Json:
    """A job of a runtime in its namespace."""
    return {
        "apiVersion": TRAINER,
        "kind": "TrainJob",
        "metadata": {"name": name, "labels": labels or {}},
        "spec": {
            "runtimeRef": {"name": runtime, "kind": "TrainingRuntime"},
            "trainer": {"numNodes": nodes},
            **spec,
        },
    }


def path_of(namespace: str, name: str) -> str:
    """Where a job lies."""
    return f"{collection(TRAINER, 'TrainJob', namespace)}/{name}"


def ended(client: Client, namespace: str, name: str, *, limit: float = 120.0) -> tuple[str, str]:
    """Wait until a job has ended; how, and with which message."""

    def look() -> tuple[str, str] | None:
        found = client.get(path_of(namespace, name))
        for type_ in ("Complete", "Failed"):
            said = condition(found, type_)
            if said:
                return type_, said["message"]
        return None

    def say() -> str:
        return str(client.get(path_of(namespace, name)).get("status"))

    end: tuple[str, str] = eventually(f"{name} has ended", look, limit=limit, say=say)
    return end


def why(client: Client, namespace: str, name: str) -> str:
    """What a job waits for; empty if it says nothing."""
    return str((client.get(path_of(namespace, name)).get("status") or {}).get("why", ""))


def delete_jobs(client: Client, namespace: str) -> None:
    """Delete all jobs of a namespace and wait until they are gone."""
    jobs = collection(TRAINER, "TrainJob", namespace)
    client.delete(jobs)
    eventually("the jobs are gone", lambda: not client.items(jobs))


Simulated = Callable[..., str]
