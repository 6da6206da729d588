"""Pods of components as Kubeflow Pipelines starts them: its env, labels, annotations, a Workflow as owner.

Between Kubernetes and a component's program stand two programs in a real cluster, which pass SIGTERM on to
the program's process group and leave up to a second later, so that the kernel kills what is left. One program
stands for both here, and says how long that second is. It also kills a step at moments that a test has
chosen, and starts it again, as Argo does when a pod is lost.
"""

import json
import sys
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import yaml

from kfp_trainer.components.training.train_job import train_job
from tests.cluster.control_plane.client import ApiError, Client, Json, collection, eventually, exists
from tests.cluster.process_node.starting import PROCESS_NODE

ROOT = Path(__file__).resolve().parents[2]
ARGO = "argoproj.io/v1alpha1"
ACCOUNT = "pipeline-runner"
STORE = "mlpipeline/v2/artifacts/demo"
ENDED = ("Succeeded", "Failed")
Since = Literal["started", "said"]
EMISSARY = """
import os, signal, subprocess, sys, threading, time
after_term, lives = float(sys.argv[1]), [each.split("+") for each in sys.argv[2].split(",") if each]
command, running = sys.argv[3:], None
def end(number, frame):
    if running:
        os.killpg(running.pid, signal.SIGTERM)
    time.sleep(after_term)
    if running:
        os.killpg(running.pid, signal.SIGKILL)
    os._exit(143)
signal.signal(signal.SIGTERM, end)
def start():
    said = threading.Event()
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    told = subprocess.Popen(command, start_new_session=True, **pipes)
    def copy():
        for line in told.stdout:
            print(line, end="", flush=True)
            if line.startswith("TrainJob "):
                said.set()
    thread = threading.Thread(target=copy)
    thread.start()
    return told, said, thread
for since, seconds in lives:
    running, said, thread = start()
    while since == "said" and running.poll() is None and not said.wait(0.05):
        pass
    over = time.monotonic() + float(seconds)
    while running.poll() is None and time.monotonic() < over and not os.path.exists("/minio/kill"):
        time.sleep(0.02)
    if running.poll() is None:
        os.killpg(running.pid, signal.SIGKILL)
        running.wait()
        print("killed", flush=True)
    if os.path.exists("/minio/kill"):
        os.unlink("/minio/kill")
running, said, thread = start()
code = running.wait()
thread.join()
sys.exit(1 if code else 0)
"""
WORKFLOWS = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "workflows.argoproj.io"},
    "spec": {
        "group": "argoproj.io",
        "scope": "Namespaced",
        "names": {
            "kind": "Workflow",
            "plural": "workflows",
            "singular": "workflow",
            "listKind": "WorkflowList",
        },
        "versions": [
            {
                "name": "v1alpha1",
                "served": True,
                "storage": True,
                "schema": {
                    "openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
                },
            }
        ],
    },
}


def prepare(client: Client) -> None:
    """Serve Workflows, as a cluster with Argo does; the garbage collector learns of it within 30 s."""
    client.apply(WORKFLOWS)
    eventually("Workflows are served", lambda: "workflows.argoproj.io" in client.served())


def shipped_rights(namespace: str) -> list[Json]:
    """What manifests/kfp grants, for a namespace."""
    files = ("role/role.yaml", "role_binding.yaml")
    found: list[Json] = [yaml.safe_load((ROOT / "manifests/kfp" / each).read_text()) for each in files]
    for document in found:
        for subject in document.get("subjects", ()):
            subject["namespace"] = namespace
    return found


class Run:
    """One run of a pipeline: a Workflow, and the pods of its steps."""

    def __init__(self, client: Client, namespace: str, store: Path) -> None:
        self.client, self.namespace, self.store = client, namespace, store
        self.id = str(uuid.uuid4())
        head = {"name": f"demo-{self.id[:5]}", "labels": {"pipeline/runid": self.id}}
        made = client.create({"apiVersion": ARGO, "kind": "Workflow", "metadata": head}, namespace)
        self.workflow, self._uid = made["metadata"]["name"], made["metadata"]["uid"]
        self._pods = 0

    @property
    def workflow_path(self) -> str:
        """Where the Workflow lies."""
        return f"{collection(ARGO, 'Workflow', self.namespace)}/{self.workflow}"

    def execution(self, task: str = "train-job") -> str:
        """A new execution of a task: what the driver draws for it, as the folder of its outputs."""
        return f"{self.id}/{task}/{uuid.uuid4()}"

    def executor_input(self, execution: str, values: Mapping[str, Any]) -> Json:
        """What the driver hands to the program."""
        folder = f"{STORE}/{execution}"
        kinds = {"summary": "system.Markdown", "training_metrics": "system.Metrics"}
        artifacts = {
            name: {
                "artifacts": [
                    {
                        "name": name,
                        "type": {"schemaTitle": kind},
                        "uri": f"minio://{folder}/{name}",
                        "metadata": {},
                    }
                ]
            }
            for name, kind in kinds.items()
        }
        return {
            "inputs": {"parameterValues": dict(values)},
            "outputs": {
                "parameters": {"job_name": {"outputFile": f"/minio/{folder}/job_name"}},
                "artifacts": artifacts,
                "outputFile": f"/minio/{folder}/output_metadata.json",
            },
        }

    def start(
        self,
        execution: str,
        values: Mapping[str, Any],
        *,
        component: Any = train_job,
        after_term: float = 0.3,
        lives: Sequence[tuple[Since, float]] = (),
        **spec: Any,
    ) -> str:
        """Start a pod of a step, which is killed and started again at the end of each of `lives`.

        A life lasts so long since the step was started, or since it said which TrainJob it launches. It also
        ends when there is a file `kill` in the store.
        """
        told = json.dumps(self.executor_input(execution, values))
        words = [told if word == "{{$}}" else word for word in _container(component)]
        times = ",".join(f"{since}+{seconds:.3f}" for since, seconds in lives)
        command = [sys.executable, "-S", "-c", EMISSARY, str(after_term), times, *words]
        self._pods += 1
        name = f"{self.workflow}-system-container-impl-{self._pods}"
        mounts = [{"name": "minio", "mountPath": "/minio"}, *spec.pop("mounts", ())]
        volumes = [{"name": "minio", "hostPath": {"path": str(self.store)}}, *spec.pop("volumes", ())]
        main = {
            "name": "main",
            "image": "ghcr.io/kfp-trainer/workload:0.1.0",
            "command": command,
            "env": self._env(),
            "volumeMounts": mounts,
            "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
        }
        whole = {
            "serviceAccountName": ACCOUNT,
            "restartPolicy": "Never",
            "nodeSelector": {"pool": PROCESS_NODE},
            "containers": [main],
            "volumes": volumes,
            **spec,
        }
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": self._metadata(name), "spec": whole}
        self.client.create(pod, self.namespace)
        return name

    def _env(self) -> list[Json]:
        def own(path: str) -> Json:
            return {"fieldRef": {"fieldPath": path}}

        return [
            {"name": "KFP_POD_NAME", "valueFrom": own("metadata.name")},
            {"name": "KFP_POD_UID", "valueFrom": own("metadata.uid")},
            {"name": "ARGO_NODE_ID", "value": f"{self.workflow}-{self._pods}"},
            {"name": "ARGO_PROGRESS_FILE", "value": "/var/run/argo/progress"},
        ]

    def _metadata(self, name: str) -> Json:
        owner = {"apiVersion": ARGO, "kind": "Workflow", "name": self.workflow, "uid": self._uid}
        return {
            "name": name,
            "labels": {
                "pipeline/runid": self.id,
                "pipelines.kubeflow.org/v2_component": "true",
                "workflows.argoproj.io/workflow": self.workflow,
            },
            "annotations": {
                "workflows.argoproj.io/node-name": f"{self.workflow}(0).root(0).executor({self._pods})"
            },
            "ownerReferences": [{**owner, "controller": True, "blockOwnerDeletion": True}],
        }

    def ended(self, name: str, *, limit: float = 180.0) -> str:
        """Wait until a pod has ended; how."""
        path = f"{collection('v1', 'Pod', self.namespace)}/{name}"

        def phase() -> str | None:
            found = self.client.get(path)["status"].get("phase")
            return found if found in ENDED else None

        return eventually(f"{name} has ended", phase, limit=limit, say=lambda: self.log(name))

    def log(self, name: str) -> str:
        """What a pod has printed."""
        return self.client.text("GET", f"{collection('v1', 'Pod', self.namespace)}/{name}/log")

    def log_so_far(self, name: str) -> str:
        """What a pod has printed that may not have started yet."""
        try:
            return self.log(name)
        except ApiError as refused:
            if refused.code in (400, 404):
                return ""
            raise

    def pods(self) -> set[str]:
        """The names of the pods of this run's steps."""
        found = self.client.items(collection("v1", "Pod", self.namespace))
        return {
            each["metadata"]["name"]
            for each in found
            if each["metadata"]["labels"].get("pipeline/runid") == self.id
        }

    def delete(self) -> None:
        """Delete the run with all that it has, as a person does in the Pipelines UI."""
        if exists(self.client, self.workflow_path):
            self.client.delete(self.workflow_path, {"propagationPolicy": "Background"})

    def outputs(self, execution: str) -> Json:
        """What an execution has left for the pipeline."""
        folder = self.store / STORE / execution
        told: Json = json.loads((folder / "output_metadata.json").read_text())
        return {
            "job_name": (folder / "job_name").read_text(),
            "summary": (folder / "summary").read_text(),
            **told,
        }

    def train_jobs(self) -> list[Json]:
        """The TrainJobs of this run."""
        found = self.client.items(collection("trainer.kubeflow.org/v1alpha1", "TrainJob", self.namespace))
        return [each for each in found if each["metadata"]["labels"].get("pipeline/runid") == self.id]


def _container(component: Any) -> list[str]:
    """Command and arguments of a component, as they stand in its compiled document."""
    spec = component.pipeline_spec
    (executor,) = spec.deployment_spec["executors"].values()
    return [*executor["container"]["command"], *executor["container"]["args"]]
