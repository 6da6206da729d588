"""What a render knows and what it has made so far: the value that plug-ins read and edit.

It lives for one call of `render`. Plug-ins change `pods`, add objects, warn, and write down what they
decided; they never change the job, the runtime or the facts.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..api.names import API_VERSION, TRAIN_JOB
from .overlay import Object
from .plan import Gang, PodSet, RawDecision
from .pod_requests import pod_requests
from .pods import Pods

if TYPE_CHECKING:
    from ..api.runtime import ClusterTrainingRuntime, TrainingRuntime
    from ..api.trainjob import TrainJob
    from .facts import Facts

    Runtime = TrainingRuntime | ClusterTrainingRuntime


_NOTHING: Mapping[str, Any] = {}


def _owner(name: str, uid: str) -> Object:
    return {
        "apiVersion": API_VERSION,
        "kind": TRAIN_JOB,
        "name": name,
        "uid": uid,
        "controller": True,
        "blockOwnerDeletion": True,
    }


class Info:
    """One job on its way to a Plan."""

    __slots__ = (
        "annotations",
        "decisions",
        "facts",
        "gang",
        "job",
        "kueue",
        "labels",
        "name",
        "namespace",
        "old_runtime",
        "own_labels",
        "owner",
        "pods",
        "runtime",
        "spec",
        "subdomain",
        "trainer",
        "trainers",
        "upstream",
        "upstream_pods",
        "warnings",
    )

    def __init__(self, job: TrainJob, runtime: Runtime, facts: Facts, *, upstream: bool, kueue: bool) -> None:
        metadata = job.metadata
        uid = metadata.get("uid")
        self.job = job
        self.runtime = runtime
        self.facts = facts
        self.upstream = upstream
        """compat: build what Trainer 2.3 builds, faults and all"""
        self.kueue = kueue
        """Kueue manages this job"""
        self.upstream_pods = upstream or kueue
        """keep upstream's job names, order, counts and requests: Kueue computes them with upstream's code"""
        self.name: str = metadata["name"]
        self.namespace: str = metadata.get("namespace") or "default"
        self.owner = _owner(self.name, uid) if uid else None
        """the reference by which objects go with their job; absent for a job that no cluster knows yet"""
        self.subdomain = self.name
        """the name of the Service under which the pods find each other"""
        self.own_labels: Mapping[str, str] = _NOTHING
        """what every object of ours is labelled with"""
        self.spec: Object = _NOTHING
        """the JobSet spec of the runtime with the job's patches merged in; shared, never written to"""
        self.labels: Mapping[str, str] = _NOTHING
        """labels of the JobSet, from the runtime and the job's patches"""
        self.annotations: Mapping[str, str] = _NOTHING
        """annotations of the JobSet, from the runtime and the job's patches"""
        self.pods: list[Pods] = []
        """the replicated jobs, in their order"""
        self.trainer: Pods | None = None
        """the pods that train; for MPI those of the launcher"""
        self.trainers: list[Pods] = []
        """every pod set of the trainer's step; only upstream knows more than one"""
        self.old_runtime = False
        """the runtime is written as of old, when programs read MASTER_ADDR themselves"""
        self.gang: Gang | None = None
        self.warnings: list[str] = []
        self.decisions: list[RawDecision] = []

    def pod_set(self, name: str) -> Pods | None:
        """The pods of the replicated job of this name."""
        return next((each for each in self.pods if each.name == name), None)

    def host(self, pods: Pods, index: int = 0, replica: int = 0) -> str:
        """The host name under which the other pods of the job find this one."""
        return f"{self.name}-{pods.name}-{replica}-{index}.{self.subdomain}"

    def hosts(self, pods: Pods) -> list[str]:
        """The host names of all pods of a pod set; upstream names replicas as well that it does not build."""
        replicas = pods.job.get("replicas", 1) if self.upstream else pods.replicas
        return [self.host(pods, index, replica) for replica in range(replicas) for index in range(pods.count)]

    def pod_sets(self) -> tuple[PodSet, ...]:
        """The pods as a plan tells of them."""
        return tuple(
            PodSet(
                each.name,
                each.step,
                each.count * each.replicas,
                pod_requests(each.built(), upstream=self.upstream),
                each.wave,
            )
            for each in self.pods
        )

    def endpoints(self) -> Mapping[str, tuple[str, ...]]:
        """The host names of all pods, by pod set."""
        return {each.name: tuple(self.hosts(each)) for each in self.pods}

    def owned(self, version: str, kind: str, name: str, **body: Any) -> Object:
        """An object of the job's namespace that goes when the job goes."""
        body["apiVersion"], body["kind"], body["metadata"] = version, kind, self.metadata(name)
        return body

    def metadata(self, name: str) -> dict[str, Any]:
        """Metadata of an object that belongs to the job."""
        if self.own_labels and self.owner is not None:
            return {
                "name": name,
                "namespace": self.namespace,
                "labels": self.own_labels,
                "ownerReferences": [self.owner],
            }
        metadata: dict[str, Any] = {"name": name, "namespace": self.namespace}
        if self.own_labels:
            metadata["labels"] = self.own_labels
        if self.owner is not None:
            metadata["ownerReferences"] = [self.owner]
        return metadata

    def existing(self, kind: str, name: str) -> Object | None:
        """An object that stands in the cluster already, as far as the caller looked."""
        return self.facts.existing.get((kind, name))

    def decide(self, field: str, value: object, reason: str, *args: object) -> None:
        """Write down a choice; `reason % args` becomes text only when somebody reads it."""
        self.decisions.append((field, value, reason, args))

    def warn(self, text: str) -> None:
        """Tell the user something that does not stop the job."""
        self.warnings.append(text)
