"""The pods of one replicated job, while plug-ins still work on them.

`Pods` is what upstream calls a pod set: how many, for which step, which containers, and everything that a
plug-in adds. It is made anew for every render from a `Draft` of the (patched) template, and turned into the
replicated job of the JobSet at the end.
"""

from __future__ import annotations

from typing import NamedTuple

from .overlay import Container, Object, Overlay


class Draft(NamedTuple):
    """A replicated job of the template, before a TrainJob changes it."""

    job: Object
    """the entry of replicatedJobs"""
    pod: Object
    """its pods' spec"""
    step: str
    """dataset-initializer, model-initializer, trainer, or empty"""
    size: int
    """pods of one replica"""
    main: str
    """the container that does the step's work"""
    wave: int
    """pods of one wave exist at the same time; every dependsOn edge starts a new one"""
    labelled: bool
    """upstream, too, takes these pods for the trainer's"""
    imageless: bool
    """a container lacks its image, which the job then has to name"""


def has_imageless(pod: Object) -> bool:
    """Whether a container of the pod has no image."""
    containers = (*(pod.get("containers") or ()), *(pod.get("initContainers") or ()))
    return not all(each.get("image") for each in containers)


def pod_spec(job: Object) -> Object:
    """The spec of the pods of a replicated job; empty where a patch made the job up."""
    template = ((job.get("template") or {}).get("spec") or {}).get("template") or {}
    return template.get("spec") or {}


class Pods(Overlay):
    """One replicated job: an overlay of its pods' spec, whose containers stand in lists of their own."""

    __slots__ = (
        "_annotations",
        "_labels",
        "containers",
        "count",
        "imageless",
        "init_containers",
        "job",
        "labelled",
        "main",
        "name",
        "replicas",
        "step",
        "wave",
    )

    def __init__(self, draft: Draft) -> None:
        job, pod, self.step, self.count, main, self.wave, self.labelled, self.imageless = draft
        self.source = pod
        self.changed = None
        self.job = job
        """the entry of replicatedJobs as the template has it"""
        self.name: str = job["name"]
        self.replicas: int = job.get("replicas", 1)
        self.main: Container | None = None
        """the container that does the step's work"""
        self.containers: list[Container] = []
        for source in pod.get("containers") or ():
            container = Container(source)
            self.containers.append(container)
            if container.name == main and self.main is None:
                self.main = container
        sources = pod.get("initContainers")
        self.init_containers = [Container(each) for each in sources] if sources else []
        self._labels: dict[str, str] | None = None
        self._annotations: dict[str, str] | None = None

    @property
    def labels(self) -> dict[str, str]:
        """Labels that the pod template gets on top."""
        if self._labels is None:
            self._labels = {}
        return self._labels

    @property
    def annotations(self) -> dict[str, str]:
        """Annotations that the pod template gets on top."""
        if self._annotations is None:
            self._annotations = {}
        return self._annotations

    def container(self, name: str) -> Container | None:
        """A container by name; a regular one goes before an init container."""
        for each in (*self.containers, *self.init_containers):
            if each.name == name:
                return each
        return None

    def add_volumes(self, *volumes: Object) -> None:
        """Give the pod volumes: one of the same name is replaced."""
        self.merge("volumes", volumes)

    def built(self) -> Object:
        """The pod's spec as it goes out."""
        source = self.source
        built = {**source, **self.changed} if self.changed else {**source}
        if self._touched(self.containers, "containers"):
            built["containers"] = [each.built() for each in self.containers]
        if self.init_containers and self._touched(self.init_containers, "initContainers"):
            built["initContainers"] = [each.built() for each in self.init_containers]
        return built

    def _touched(self, containers: list[Container], key: str) -> bool:
        for each in containers:
            if each.changed:
                return True
        return len(containers) != len(self.source.get(key) or ())

    def built_metadata(self, metadata: Object | None) -> Object | None:
        """The metadata of the pod template as it goes out."""
        if not self._labels and not self._annotations:
            return metadata
        built = dict(metadata or {})
        if self._labels:
            built["labels"] = {**(built.get("labels") or {}), **self._labels}
        if self._annotations:
            built["annotations"] = {**(built.get("annotations") or {}), **self._annotations}
        return built
