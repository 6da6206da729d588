"""The least work that parsing a TrainJob and building its JobSet can be: what our own code is measured by.

The builder knows one runtime, makes new dicts only where something changes, checks nothing, explains
nothing and knows no plug-in. The typed parse is a handful of hand-written models of just the fields that
the builder reads. Both are too bad to be used and too fast to be beaten by much.
"""

from __future__ import annotations

import json
from typing import Any

from pydantic import BaseModel, ConfigDict

Document = dict[str, Any]

API_VERSION = "trainer.kubeflow.org/v1alpha1"
STEP_LABEL = "trainer.kubeflow.org/trainjob-ancestor-step"
INDEX = "metadata.annotations['batch.kubernetes.io/job-completion-index']"
SIZE = 4096  # bytes of the TrainJob as an API server sends it


def train_job() -> Document:
    """A TrainJob as it is stored: two initializers, resources, env, a patch of Kueue, managed fields."""
    spec = {
        "runtimeRef": {"apiGroup": "trainer.kubeflow.org", "kind": "ClusterTrainingRuntime", "name": "llm"},
        "initializer": {
            step: {
                "storageUri": f"hf://{repository}",
                "env": [{"name": "HF_ENDPOINT", "value": "https://mirror.lab.example"}],
                "secretRef": {"name": "hf-token"},
            }
            for step, repository in (("dataset", "lab/instructions"), ("model", "lab/base-1b"))
        },
        "trainer": {
            "image": "lab.example/trainer:1",
            "command": ["torchrun"],
            "args": ["/workspace/train.py", *(f"--setting-{n}=value-{n}" for n in range(10))],
            "env": [{"name": f"SETTING_{n}", "value": f"a value of some length {n}"} for n in range(7)],
            "numNodes": 4,
            "numProcPerNode": 8,
            "resourcesPerNode": {
                "limits": {"cpu": "64", "memory": "512Gi", "nvidia.com/gpu": "8"},
                "requests": {"cpu": "32", "memory": "256Gi", "nvidia.com/gpu": "8"},
            },
        },
        "runtimePatches": [_patch()],
        "suspend": False,
        "managedBy": "trainer.kubeflow.org/trainjob-controller",
    }
    job = {"apiVersion": API_VERSION, "kind": "TrainJob", "metadata": _metadata(spec), "spec": spec}
    missing = SIZE - len(json.dumps(job, separators=(",", ":")))
    job["metadata"]["annotations"]["pad"] = "x" * max(missing, 0)
    return job


def _patch() -> Document:
    pod = {
        "nodeSelector": {"node.kubernetes.io/instance-type": "big"},
        "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}],
    }
    jobs = [{"name": "node", "template": {"spec": {"template": {"spec": pod}}}}]
    return {
        "manager": "acme.io/placement",
        "trainingRuntimeSpec": {"template": {"spec": {"replicatedJobs": jobs}}},
    }


def _metadata(spec: Document) -> Document:
    owned = {"f:spec": _fields(spec)}
    return {
        "name": "tune-00001",
        "namespace": "lab",
        "uid": "0d3b6c1e-1111-4222-8333-000000000001",
        "resourceVersion": "12345",
        "generation": 1,
        "creationTimestamp": "2026-11-20T04:00:00Z",
        "labels": {"team": "nlp"},
        "annotations": {"acme.io/experiment": "instructions", "pad": ""},
        "managedFields": [
            {
                "manager": "sdk",
                "operation": "Update",
                "apiVersion": API_VERSION,
                "fieldsType": "FieldsV1",
                "fieldsV1": owned,
            }
        ],
    }


def _fields(value: Any) -> Document:
    return {f"f:{key}": _fields(below) for key, below in value.items()} if isinstance(value, dict) else {}


def runtime() -> Document:
    """The runtime of that job: a dataset, a model, and the nodes that wait for both."""
    mount = [{"name": "initializer", "mountPath": "/workspace"}]
    steps = ("dataset-initializer", "model-initializer")
    node = {
        "command": ["torchrun"],
        "livenessProbe": {"httpGet": {"path": "/healthz", "port": 8080}, "periodSeconds": 30},
        "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
    }
    jobs = [*(_job(step, step, mount) for step in steps), _job("node", "trainer", mount, **node)]
    jobs[-1]["dependsOn"] = [{"name": step, "status": "Complete"} for step in steps]
    claim = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "20Gi"}}}
    claims = [{"templates": [{"metadata": {"name": "initializer"}, "spec": claim}]}]
    spec = {
        "mlPolicy": {"numNodes": 1, "torch": {}},
        "template": {"spec": {"volumeClaimPolicies": claims, "replicatedJobs": jobs}},
    }
    metadata = {"name": "llm", "labels": {"trainer.kubeflow.org/framework": "torch"}}
    return {"apiVersion": API_VERSION, "kind": "ClusterTrainingRuntime", "metadata": metadata, "spec": spec}


def _job(name: str, step: str, mounts: list[Document], **more: Any) -> Document:
    container = {"name": name, "image": f"lab.example/{name}:1", "volumeMounts": mounts, **more}
    pod = {"restartPolicy": "Never", "containers": [container]}
    template = {
        "metadata": {"labels": {STEP_LABEL: step}},
        "spec": {"backoffLimit": 0, "template": {"spec": pod}},
    }
    return {"name": name, "replicas": 1, "groupName": "default", "template": template}


def build(job: Document, of: Document) -> Document:
    """Build the JobSet of a job of that runtime, sharing whatever does not change.

    Labels, a claim, pods side by side and JobSet's defaults are what any operator would have to add.
    """
    metadata, spec = job["metadata"], job["spec"]
    name, trainer = metadata["name"], spec["trainer"]
    template = of["spec"]["template"]["spec"]
    jobs = [_built(each, name, spec, trainer) for each in template["replicatedJobs"]]
    owner = {
        "apiVersion": API_VERSION,
        "kind": "TrainJob",
        "name": name,
        "uid": metadata["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }
    named = {
        "name": name,
        "namespace": metadata["namespace"],
        "labels": metadata["labels"],
        "annotations": metadata["annotations"],
        "ownerReferences": [owner],
    }
    whole = {
        **template,
        "replicatedJobs": jobs,
        "suspend": bool(spec.get("suspend")),
        "network": {"enableDNSHostnames": True, "publishNotReadyAddresses": True},
        "successPolicy": {"operator": "All", "targetReplicatedJobs": ["node"]},
        "failurePolicy": {"maxRestarts": 0},
    }
    return {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": named, "spec": whole}


def _built(rjob: Document, name: str, spec: Document, trainer: Document) -> Document:
    job = dict(rjob["template"]["spec"])
    pod = dict(job["template"]["spec"])
    container = dict(pod["containers"][0])
    if rjob["name"] == "node":
        job["completions"] = job["parallelism"] = trainer["numNodes"]
        for key in ("image", "command", "args"):
            container[key] = trainer[key]
        container["resources"] = trainer["resourcesPerNode"]
        container["env"] = trainer["env"] + [
            {"name": "PET_NNODES", "value": str(trainer["numNodes"])},
            {"name": "PET_NPROC_PER_NODE", "value": str(trainer["numProcPerNode"])},
            {"name": "PET_NODE_RANK", "valueFrom": {"fieldRef": {"fieldPath": INDEX}}},
            {"name": "PET_MASTER_ADDR", "value": f"{name}-node-0-0.{name}"},
            {"name": "PET_MASTER_PORT", "value": "29500"},
        ]
        container["ports"] = [{"containerPort": 29500}]
        for patch in spec.get("runtimePatches", ()):
            for each in patch["trainingRuntimeSpec"]["template"]["spec"]["replicatedJobs"]:
                if each["name"] == "node":
                    pod.update(each["template"]["spec"]["template"]["spec"])
    else:
        source = spec["initializer"]["dataset" if rjob["name"].startswith("dataset") else "model"]
        job["completions"] = job["parallelism"] = 1
        container["env"] = [{"name": "STORAGE_URI", "value": source["storageUri"]}, *source["env"]]
        container["envFrom"] = [{"secretRef": {"name": source["secretRef"]["name"]}}]
    pod["containers"] = [container]
    pod["volumes"] = [{"name": "initializer", "persistentVolumeClaim": {"claimName": f"{name}-initializer"}}]
    if "affinity" not in pod:
        together = {
            "matchExpressions": [{"key": "jobset.sigs.k8s.io/job-key", "operator": "In", "values": [name]}]
        }
        term = {"labelSelector": together, "topologyKey": "kubernetes.io/hostname"}
        pod["affinity"] = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    job["template"] = {**job["template"], "spec": pod}
    labels = {**rjob["template"]["metadata"]["labels"], "acme.io/train-job": name}
    return {**rjob, "template": {"metadata": {"labels": labels}, "spec": job}}


class _Part(BaseModel):
    model_config = ConfigDict(extra="ignore")


class Metadata(_Part):
    """What a controller reads of an object's metadata."""

    name: str = ""
    namespace: str = ""
    uid: str = ""
    resourceVersion: str = ""
    generation: int = 0
    deletionTimestamp: str | None = None
    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}


class EnvVar(_Part):
    """One variable."""

    name: str
    value: str | None = None
    valueFrom: dict[str, Any] | None = None


class Reference(_Part):
    """A Secret by name."""

    name: str


class Source(_Part):
    """Where a dataset or a model is."""

    storageUri: str | None = None
    env: list[EnvVar] = []
    secretRef: Reference | None = None


class Initializer(_Part):
    """What is fetched first."""

    dataset: Source | None = None
    model: Source | None = None


class Resources(_Part):
    """What a node gets."""

    limits: dict[str, str | int] = {}
    requests: dict[str, str | int] = {}


class Trainer(_Part):
    """How to train."""

    image: str | None = None
    command: list[str] = []
    args: list[str] = []
    env: list[EnvVar] = []
    numNodes: int | None = None
    numProcPerNode: int | None = None
    resourcesPerNode: Resources | None = None


class RuntimeRef(_Part):
    """Which runtime."""

    name: str
    apiGroup: str = "trainer.kubeflow.org"
    kind: str = "ClusterTrainingRuntime"


class Patch(_Part):
    """A patch; its inside stays a dict."""

    manager: str
    trainingRuntimeSpec: dict[str, Any] | None = None


class Spec(_Part):
    """What the person wants."""

    runtimeRef: RuntimeRef
    initializer: Initializer | None = None
    trainer: Trainer | None = None
    runtimePatches: list[Patch] = []
    suspend: bool = False
    managedBy: str = ""


class TypedTrainJob(_Part):
    """The typed view of a TrainJob, and nothing around it."""

    apiVersion: str
    kind: str
    metadata: Metadata
    spec: Spec
