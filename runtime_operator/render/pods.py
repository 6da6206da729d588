"""The pods of one replicated job, while plug-ins still work on them.

`Pods` is what upstream calls a pod set: how many, for which step, which containers, and everything that a
plug-in adds. It is made anew for every render from a `Draft` of the (patched) template, and turned into the
replicated job of the JobSet at the end.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ..api.names import STEPS
from .overlay import Container, Object, Overlay


class Shell(NamedTuple):
    """The dicts around a pod's spec, with a place for everything that is filled in; copied, never changed."""

    job: dict[str, Any]
    template: dict[str, Any]
    spec: dict[str, Any]
    pod: dict[str, Any]


def shell_of(job: Object, step: str) -> Shell:
    """The shell of a replicated job; a known step has one replica of all its pods."""
    template = job.get("template") or {}
    spec = template.get("spec") or {}
    return Shell(
        {**job, "template": None, **({"replicas": 1} if step in STEPS else {})},
        {**template, "spec": None},
        {"parallelism": None, "completions": None, **spec, "template": None},
        {**(spec.get("template") or {}), "spec": None},
    )


class Draft(NamedTuple):
    """A replicated job of the template, before a TrainJob changes it."""

    job: Object
    """the entry of replicatedJobs"""
    pod: Object
    """its pods' spec"""
    name: str
    step: str
    """dataset-initializer, model-initializer, trainer, or empty"""
    size: int
    """pods of one replica"""
    replicas: int
    wave: int
    """pods of one wave exist at the same time; every dependsOn edge starts a new one"""
    labelled: bool
    """upstream, too, takes these pods for the trainer's"""
    doubtful: bool
    """a container lacks its image, or a volume is a folder of the node"""
    containers: tuple[Object, ...]
    init_containers: tuple[Object, ...]
    main: int
    """the place of the container that does the step's work, -1 where there is none"""
    shell: Shell


def draft(job: Object, *, step: str, size: int, wave: int, labelled: bool, main: str) -> Draft:
    """Take a replicated job apart; `main` names the container that does the step's work."""
    pod = pod_spec(job)
    containers = tuple(pod.get("containers") or ())
    names = [each.get("name") for each in containers]
    return Draft(
        job=job,
        pod=pod,
        name=job["name"],
        step=step,
        size=size,
        replicas=1 if step in STEPS else job.get("replicas", 1),
        wave=wave,
        labelled=labelled,
        doubtful=is_doubtful(pod),
        containers=containers,
        init_containers=tuple(pod.get("initContainers") or ()),
        main=names.index(main) if main in names else -1,
        shell=shell_of(job, step),
    )


def is_doubtful(pod: Object) -> bool:
    """Whether a container of the pod has no image, or a volume is a folder of the node."""
    containers = (*(pod.get("containers") or ()), *(pod.get("initContainers") or ()))
    return not all(each.get("image") for each in containers) or any(
        "hostPath" in each for each in pod.get("volumes") or ()
    )


GANG_LABEL = "scheduling.x-k8s.io/pod-group"
"""on the pods of a gang of scheduler-plugins"""
GANG_ANNOTATION = "scheduling.k8s.io/group-name"
"""on the pods of a gang of Volcano"""


def is_in_gang(job: Object) -> bool:
    """Whether the pods of a (built) replicated job carry the mark of a gang."""
    metadata = job["template"]["spec"]["template"].get("metadata") or {}
    return GANG_LABEL in (metadata.get("labels") or ()) or GANG_ANNOTATION in (
        metadata.get("annotations") or ()
    )


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
        "doubtful",
        "init_containers",
        "job",
        "labelled",
        "main",
        "name",
        "replicas",
        "shell",
        "size",
        "step",
        "wave",
    )

    def __init__(self, draft: Draft) -> None:
        (
            self.job,
            self.source,
            self.name,
            self.step,
            self.count,
            self.replicas,
            self.wave,
            self.labelled,
            self.doubtful,
            containers,
            init_containers,
            main,
            self.shell,
        ) = draft
        self.size = self.count
        """pods of one replica before anybody counted them anew"""
        self.own = None
        self.containers = [Container(each) for each in containers]
        self.init_containers = [Container(each) for each in init_containers] if init_containers else []
        self.main = self.containers[main] if main >= 0 else None
        """the container that does the step's work"""
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
        self._put_containers("containers", self.containers)
        if self.init_containers:
            self._put_containers("initContainers", self.init_containers)
        return self.source if self.own is None else self.own

    def _put_containers(self, key: str, containers: list[Container]) -> None:
        for each in containers:
            if each.own is not None:
                break
        else:
            if len(containers) == len(self.source.get(key) or ()):
                return
        self.put(key, [each.built() for each in containers])

    def built_job(self, *, upstream: bool) -> dict[str, Any]:
        """The replicated job as it goes out; a side job whose pods nobody counted keeps its completions."""
        job, template, spec, pod = self.shell
        job, template, spec, pod = job.copy(), template.copy(), spec.copy(), pod.copy()
        job["template"], template["spec"], spec["template"] = template, spec, pod
        pod["spec"] = self.built()
        if self._labels or self._annotations:
            pod["metadata"] = self._metadata(pod.get("metadata") or {})
        is_counted = self.step in STEPS or self.count != self.size
        spec["parallelism"] = self.count
        if is_counted or upstream or spec["completions"] is None:
            spec["completions"] = self.count
        return job

    def _metadata(self, metadata: Object) -> Object:
        built = dict(metadata)
        if self._labels:
            built["labels"] = {**(built.get("labels") or {}), **self._labels}
        if self._annotations:
            built["annotations"] = {**(built.get("annotations") or {}), **self._annotations}
        return built
