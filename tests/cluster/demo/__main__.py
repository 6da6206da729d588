"""`make demo-cluster`: the demonstration on a real control plane, from an empty machine to two reports.

The API server, JobSet and Volcano are the real ones; the node runs pods as processes of this machine. The
operator is installed from its manifests, and jobs are submitted by the official SDK, as on any cluster.
"""

from __future__ import annotations

import json
import shutil
import signal
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

import click
import yaml

from kfp_trainer.runtime_operator.settings import read_settings
from kfp_trainer.runtime_operator.workloads.tiny import make_demo_data, make_tiny_model

from ..control_plane.build import BuildError, why_not
from ..control_plane.client import collection
from ..control_plane.parts import PARTS
from ..control_plane.plane import LAST_LOGS, Plane, running_plane
from ..operator_install import installation
from .jobs import Jobs
from .telling import show_kubectl

NEEDED = ("scheduler", "process-node", "jobset", "volcano")
NAMESPACE = "default"
RUNTIMES = Path(__file__).with_name("runtimes.yaml")
CLAIM = {
    "apiVersion": "v1",
    "kind": "PersistentVolumeClaim",
    "metadata": {"name": "workspace"},
    "spec": {"accessModes": ["ReadWriteMany"], "resources": {"requests": {"storage": "1Gi"}}},
}
SETTINGS = (
    "--model=/workspace/model",
    "--dataset=/workspace/dataset",
    "--output=/workspace/tuned",
    "--max-steps=200",
    "--learning-rate=3e-3",
    "--sequence-length=128",
    "--log-every=20",
    "--threads=1",
)


def main() -> int:
    """Run it, and say where the results are."""
    if reason := next(filter(None, [why_not(), *(PARTS[name].why_not() for name in NEEDED)]), ""):
        print(f"make demo-cluster: not on this machine: {reason}; `make demo` runs without", file=sys.stderr)
        return 3
    for number in (signal.SIGINT, signal.SIGTERM):  # a shell starts what runs beside it without the first
        signal.signal(number, signal.default_int_handler)
    try:
        return run()
    except BuildError as failed:
        print(failed, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"\nstopped; nothing is left but the logs in {LAST_LOGS}")
        return 130


def run() -> int:
    """Start a control plane, install, train, evaluate, keep the results; everything else goes again."""
    began = time.monotonic()
    home = read_settings()
    model, data = home.cache / "demo" / "tiny-model", home.cache / "demo" / "messages"
    if not data.exists():
        make_demo_data(data)
    if not model.exists():
        click.echo("Make a small base model (once, about 30 s).")
        make_tiny_model(model)
    click.echo("Start a control plane: etcd, the API server, its controllers, JobSet, Volcano, one node.")
    with running_plane(NEEDED, click.echo) as plane:
        plane.need(*NEEDED)
        click.echo(
            f"It runs after {time.monotonic() - began:.0f} s. In another terminal you can look into it:\n"
        )
        click.echo(f"  export KUBECONFIG={plane.kubeconfig}\n")
        click.echo("$ kubectl apply --server-side -k manifests/overlays/standalone")
        with installation(plane) as installed:
            click.echo(f"The operator is ready after {installed.seconds:.0f} s.")
            prepare(plane, model, data)
            ended = train_and_evaluate(plane)
            folder = keep_results(plane, home.runs / f"demo-cluster-{datetime.now(UTC):%Y%m%d-%H%M%S}")
    if ended:
        show_results(folder)
    click.echo(f"\nDone in {time.monotonic() - began:.0f} s.")
    return 0 if ended else 1


def prepare(plane: Plane, model: Path, data: Path) -> None:
    """What an administrator does once: a claim to work on, and two runtimes."""
    plane.client.create(CLAIM, NAMESPACE)
    text = RUNTIMES.read_text(encoding="utf-8")
    text = text.replace("value: MODEL", f"value: {model.as_uri()}")
    text = text.replace("value: DATASET", f"value: {data.as_uri()}")
    for document in yaml.safe_load_all(text):
        plane.client.create(document, NAMESPACE)


def train_and_evaluate(plane: Plane) -> bool:
    """What an ML engineer does: two jobs, one after the other. Whether both are complete."""
    jobs = Jobs(plane.kubeconfig, NAMESPACE, click.echo)
    click.echo("\nSubmit `tickets` by the Kubeflow SDK: two initializers, then a gang of two nodes.\n")
    jobs.submit("tickets", runtime="finetune", nodes=2, arguments=SETTINGS)
    jobs.wait_until_it_runs("tickets")
    show_kubectl(plane, NAMESPACE, "get", "trainjobs,jobsets,podgroups.scheduling.volcano.sh,pods")
    jobs.follow("tickets")
    is_complete = jobs.ends_well("tickets")
    show_kubectl(plane, NAMESPACE, "describe", "trainjob", "tickets")
    if not is_complete:
        return False
    click.echo("\nSubmit `judged`: the answers of base and tuned model to held-out messages.\n")
    jobs.submit("judged", runtime="evaluate", nodes=1)
    jobs.follow("judged")
    is_complete = jobs.ends_well("judged")
    show_kubectl(plane, NAMESPACE, "get", "trainjobs")
    return is_complete


def keep_results(plane: Plane, folder: Path) -> Path:
    """Copy what the jobs left on their claim, which goes with the control plane."""
    claim = plane.client.get(f"{collection('v1', 'PersistentVolumeClaim', NAMESPACE)}/workspace")
    name = claim["spec"]["volumeName"]
    volume = plane.client.get(f"{collection('v1', 'PersistentVolume')}/{name}")
    for part in ("tuned", "evaluation"):
        source = Path(volume["spec"]["hostPath"]["path"], part)
        if source.is_dir():
            shutil.copytree(source, folder / part)
    return folder


def show_results(folder: Path) -> None:
    """What the model has learnt, and where to look."""
    evaluation = json.loads((folder / "evaluation" / "evaluation.json").read_text(encoding="utf-8"))
    score = next(each for each in evaluation["scores"] if each["name"] == "exact_match")
    base, tuned = (score[which]["value"] for which in ("base", "tuned"))
    click.echo(f"\nRight answers   {base:.0%} -> {tuned:.0%} of {evaluation['rows']} held-out messages")
    for report in ("tuned/training_report.html", "evaluation/evaluation_report.html"):
        click.echo(f"Report          {folder / report}")


if __name__ == "__main__":
    sys.exit(main())
