"""What may be set for the TrainJob of a step: its size, where it queues, how patient it is.

What a person sets on the task itself (GPUs, memory, tolerations, node selectors, secrets, claims) reaches the
TrainJob, too, and counts more.
"""

from __future__ import annotations

import re
from dataclasses import replace
from hashlib import sha256
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, field_validator

from ..api.names import GROUP, KUEUE_QUEUE_LABEL, TRAIN_JOB, VERSION
from ..launch.passthrough import TaskConfig, read_task_config
from ..workloads.settings import Settings

GPU = "nvidia.com/gpu"
SECRET_KEY = re.compile(r"[a-z0-9][a-z0-9.-]*/[A-Za-z0-9._-]+")

Quantity = Annotated[str, BeforeValidator(lambda value: value if isinstance(value, str) else f"{value:g}")]


class JobSettings(Settings):
    """The TrainJob around a training."""

    nodes: int = Field(default=1, ge=1, description="machines that train together")
    gpus: int | None = Field(default=None, ge=0, description="GPUs a node; unset: as the runtime says")
    gpu_resource: str = Field(default=GPU, description="the name of the GPU resource, as the cluster has it")
    cpu: Quantity | None = Field(default=None, description="CPUs a node, as 8 or 500m")
    memory: Quantity | None = Field(default=None, description="memory a node, as 64Gi")
    runtime: str = Field(
        default="trl-finetune", description="the training runtime, of the namespace or cluster"
    )
    image: str | None = Field(default=None, description="another image than the runtime's")
    retries: int = Field(default=0, ge=0, description="how often a failed job is made anew")
    deadline: int | None = Field(default=None, gt=0, description="seconds after which a running job is ended")
    queue: str | None = Field(default=None, description="the local queue of Kueue that the job waits in")
    claims: dict[str, str] = Field(default={}, description="claims to mount, as {claim: /path}")
    secrets: dict[str, str] = Field(
        default={}, description="variables from Secrets, as {HF_TOKEN: secret/key}; never the value itself"
    )
    node_selector: dict[str, str] = Field(default={}, description="labels that its nodes must have")
    tolerations: list[dict[str, Any]] = Field(default=[], description="taints that its pods bear")
    labels: dict[str, str] = Field(default={}, description="labels of the TrainJob")
    annotations: dict[str, str] = Field(default={}, description="annotations of the TrainJob")

    def train_job(self, **trainer: Any) -> dict[str, Any]:
        """The TrainJob with this size, and with `trainer` beside what is set here."""
        queue = {KUEUE_QUEUE_LABEL: self.queue} if self.queue else {}
        metadata = {"labels": {**self.labels, **queue}, "annotations": self.annotations}
        spec: dict[str, Any] = {
            "runtimeRef": {"name": self.runtime},
            "trainer": {"numNodes": self.nodes, **self._own(), **trainer},
        }
        if self.deadline:
            spec["activeDeadlineSeconds"] = self.deadline
        return {
            "apiVersion": f"{GROUP}/{VERSION}",
            "kind": TRAIN_JOB,
            "metadata": {name: value for name, value in metadata.items() if value},
            "spec": spec,
        }

    def on_task(self, task_config: object) -> TaskConfig:
        """What is set on the task, with what is set here beside it; the task counts more."""
        task = read_task_config(task_config)
        named = {each["name"] for each in task.env}
        return replace(
            task,
            env=[*(each for each in self._env() if each["name"] not in named), *task.env],
            volumes=[*task.volumes, *self._volumes()],
            volumeMounts=[
                *task.volumeMounts,
                *({"name": _volume(claim), "mountPath": path} for claim, path in self.claims.items()),
            ],
            nodeSelector={**self.node_selector, **task.nodeSelector},
            tolerations=[*task.tolerations, *self.tolerations],
        )

    def _volumes(self) -> list[dict[str, Any]]:
        return [
            {"name": _volume(claim), "persistentVolumeClaim": {"claimName": claim}} for claim in self.claims
        ]

    def _env(self) -> list[dict[str, Any]]:
        found = [(name, *place.split("/", 1)) for name, place in self.secrets.items()]
        return [
            {"name": name, "valueFrom": {"secretKeyRef": {"name": secret, "key": key}}}
            for name, secret, key in found
        ]

    @field_validator("secrets")
    @classmethod
    def _name_their_keys(cls, secrets: dict[str, str]) -> dict[str, str]:
        for name, place in secrets.items():
            if not SECRET_KEY.fullmatch(place):
                raise ValueError(f"{name} must be SECRET/KEY, the name of a Secret and of a key in it")
        return secrets

    def _own(self) -> dict[str, Any]:
        wanted = {"cpu": self.cpu, "memory": self.memory, self.gpu_resource: self.gpus}
        limits = {name: str(value) for name, value in wanted.items() if value is not None}
        own: dict[str, Any] = {"resourcesPerNode": {"requests": limits, "limits": limits}} if limits else {}
        return {**own, "image": self.image} if self.image else own


def _volume(claim: str) -> str:
    """The name of a claim's volume; a name of an object may be too long or hold dots."""
    return f"claim-{sha256(claim.encode()).hexdigest()[:10]}"
