"""What a render knows and what it has made so far: the value that plug-ins read and edit.

It lives for one call of `render`. Plug-ins change `pods`, add objects, warn, and write down what they
decided; they never change the job, the runtime or the facts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..api.names import TRAINER_STEP
from .overlay import Object
from .plan import Gang, RawDecision
from .pods import Pods

if TYPE_CHECKING:
    from ..api.runtime import ClusterTrainingRuntime, TrainingRuntime
    from ..api.trainjob import TrainJob
    from .facts import Facts


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
        "own_labels",
        "owner",
        "pods",
        "runtime",
        "spec",
        "subdomain",
        "trainer",
        "upstream",
        "upstream_pods",
        "warnings",
    )

    def __init__(
        self,
        job: TrainJob,
        runtime: TrainingRuntime | ClusterTrainingRuntime,
        facts: Facts,
        *,
        upstream: bool,
        kueue: bool,
    ) -> None:
        self.job = job
        self.runtime = runtime
        self.facts = facts
        self.spec: Object = {}
        """the JobSet spec of the runtime with the job's patches merged in; shared, never written to"""
        self.pods: list[Pods] = []
        """the replicated jobs, in their order"""
        self.upstream = upstream
        """compat: build what Trainer 2.3 builds, faults and all"""
        self.kueue = kueue
        """Kueue manages this job"""
        self.upstream_pods = upstream or kueue
        """keep upstream's job names, order, counts and requests: Kueue computes them with upstream's code"""
        self.labels: dict[str, str] = {}
        """labels of the JobSet, from the runtime and the job's patches"""
        self.annotations: dict[str, str] = {}
        """annotations of the JobSet, from the runtime and the job's patches"""
        self.own_labels: Mapping[str, str] = {}
        """what every object of ours is labelled with"""
        self.gang: Gang | None = None
        self.warnings: list[str] = []
        self.decisions: list[RawDecision] = []
        self.name: str = ""
        self.namespace: str = ""
        self.owner: Object | None = None
        """the reference by which objects go with their job; absent for a job that no cluster knows yet"""
        self.subdomain: str = ""
        """the name of the Service under which the pods find each other"""
        self.trainer: Pods | None = None
        """the pods that train; for MPI those of the launcher"""

    def pod_set(self, name: str) -> Pods | None:
        """The pods of the replicated job of this name."""
        return next((each for each in self.pods if each.name == name), None)

    def trainers(self) -> Sequence[Pods]:
        """Every pod set of the trainer's step; mostly one."""
        return [each for each in self.pods if each.step == TRAINER_STEP]

    def host(self, pods: Pods, index: int = 0, replica: int = 0) -> str:
        """The host name under which the other pods of the job find this one."""
        return f"{self.name}-{pods.name}-{replica}-{index}.{self.subdomain}"

    def hosts(self, pods: Pods) -> list[str]:
        """The host names of all pods of a pod set."""
        return [
            self.host(pods, index, replica) for replica in range(pods.replicas) for index in range(pods.count)
        ]

    def owned(self, version: str, kind: str, name: str, **body: Any) -> Object:
        """An object of the job's namespace that goes when the job goes."""
        return {"apiVersion": version, "kind": kind, "metadata": self.metadata(name), **body}

    def metadata(self, name: str) -> dict[str, Any]:
        """Metadata of an object that belongs to the job."""
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
