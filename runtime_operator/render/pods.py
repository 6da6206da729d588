"""The pods of one replicated job, while plug-ins still work on them.

`Pods` is what upstream calls a pod set: how many, for which step, which containers, and everything that a
plug-in adds. It is made anew for every render from the (patched) template, and turned into the replicated
job of the JobSet at the end.
"""

from __future__ import annotations

from .overlay import Container, Object, Overlay

STEP_LABEL = "trainer.kubeflow.org/trainjob-ancestor-step"
DATASET, MODEL, TRAINER = "dataset-initializer", "model-initializer", "trainer"
NODE, LAUNCHER = "node", "launcher"


class Pods:
    """One replicated job: read and edited by plug-ins."""

    __slots__ = (
        "annotations",
        "containers",
        "count",
        "init_containers",
        "job",
        "labels",
        "main",
        "name",
        "replicas",
        "spec",
        "step",
        "wave",
    )

    def __init__(self, job: Object, *, step: str, count: int, main: str) -> None:
        spec: Object = job["template"]["spec"]["template"].get("spec") or {}
        self.job = Overlay(job)
        """the entry of replicatedJobs: name, replicas, dependsOn, groupName"""
        self.spec = Overlay(spec)
        """the pod's spec; containers and initContainers stand in their own lists"""
        self.name: str = job["name"]
        self.step = step
        """dataset-initializer, model-initializer, trainer, or empty"""
        self.count = count
        """pods of one replica"""
        self.replicas: int = job.get("replicas", 1)
        self.wave = 0
        self.containers = [Container(each) for each in spec.get("containers") or ()]
        self.init_containers = [Container(each) for each in spec.get("initContainers") or ()]
        self.main = next((each for each in self.containers if each.name == main), None)
        """the container that does the step's work"""
        self.labels: dict[str, str] = {}
        """labels that the pod template gets on top"""
        self.annotations: dict[str, str] = {}

    def container(self, name: str) -> Container | None:
        """A container by name; a regular one goes before an init container."""
        for each in (*self.containers, *self.init_containers):
            if each.name == name:
                return each
        return None

    def add_volumes(self, *volumes: Object) -> None:
        """Give the pod volumes: one of the same name is replaced."""
        self.spec.merge("volumes", volumes)
