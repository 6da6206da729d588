"""The pods of one replicated job, while plug-ins still work on them.

`Pods` is what upstream calls a pod set: how many, for which step, which containers, and everything that a
plug-in adds. It is made anew for every render from the (patched) template, and turned into the replicated
job of the JobSet at the end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .overlay import Container, Object, Overlay

if TYPE_CHECKING:
    from .prepared import Draft


def pod_spec(job: Object) -> Object:
    """The spec of the pods of a replicated job; empty where a patch made the job up."""
    template = ((job.get("template") or {}).get("spec") or {}).get("template") or {}
    return template.get("spec") or {}


class Pods:
    """One replicated job: read and edited by plug-ins."""

    __slots__ = (
        "annotations",
        "containers",
        "count",
        "init_containers",
        "job",
        "labelled",
        "labels",
        "main",
        "name",
        "replicas",
        "spec",
        "step",
        "wave",
    )

    def __init__(self, draft: Draft) -> None:
        job = draft.job
        spec = pod_spec(job)
        self.job = Overlay(job)
        """the entry of replicatedJobs: name, replicas, dependsOn, groupName"""
        self.spec = Overlay(spec)
        """the pod's spec; containers and initContainers stand in their own lists"""
        self.name: str = job["name"]
        self.step = draft.step
        """dataset-initializer, model-initializer, trainer, or empty"""
        self.labelled = draft.labelled
        """upstream, too, takes these pods for the trainer's"""
        self.count = draft.count
        """pods of one replica"""
        self.replicas: int = job.get("replicas", 1)
        self.wave = draft.wave
        """pods of one wave exist at the same time; every dependsOn edge starts a new one"""
        self.containers = [Container(each) for each in spec.get("containers") or ()]
        self.init_containers = [Container(each) for each in spec.get("initContainers") or ()]
        self.main = next((each for each in self.containers if each.name == draft.main), None)
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

    def built_spec(self) -> Object:
        """The pod's spec with all changes in it."""
        source = self.spec.source
        changed = self.spec.changed
        for key, containers in (("containers", self.containers), ("initContainers", self.init_containers)):
            if len(containers) != len(source.get(key) or ()) or any(each.changed for each in containers):
                changed = {**(changed or {}), key: [each.built() for each in containers]}
        return {**source, **changed} if changed else source
