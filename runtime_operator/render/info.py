"""What a render knows and what it has made so far: the value that plug-ins read and edit.

It lives for one call of `render`. Plug-ins change `pods`, add objects, warn, and write down what they
decided; they never change the job, the runtime or the facts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from .overlay import Object
from .plan import Gang, RawDecision
from .pods import TRAINER, Pods

if TYPE_CHECKING:
    from ..api import ClusterTrainingRuntime, TrainingRuntime, TrainJob
    from .facts import Facts

Compat = Literal["upstream"]
OWNER_VERSION = "trainer.kubeflow.org/v1alpha1"


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
        spec: Object,
        pods: list[Pods],
        upstream: bool,
        kueue: bool,
    ) -> None:
        self.job = job
        self.runtime = runtime
        self.facts = facts
        self.spec = spec
        """the JobSet spec of the runtime with the job's patches merged in; shared, never written to"""
        self.pods = pods
        """the replicated jobs, in their order"""
        self.upstream = upstream
        """compat: build what Trainer 2.3 builds, faults and all"""
        self.kueue = kueue
        """Kueue manages this job"""
        self.upstream_pods = upstream or kueue
        """keep upstream's job names, order, counts and requests: Kueue computes them with upstream's code"""
        self.labels: dict[str, str] = {}
        self.annotations: dict[str, str] = {}
        self.gang: Gang | None = None
        self.warnings: list[str] = []
        self.decisions: list[RawDecision] = []
        self.name: str = ""
        self.namespace: str = ""
        self.owner: Object = {}
        self.subdomain: str = ""
        self.trainer: Pods | None = None

    def pod_set(self, name: str) -> Pods | None:
        """The pods of the replicated job of this name."""
        return next((each for each in self.pods if each.name == name), None)

    def trainers(self) -> Sequence[Pods]:
        """Every pod set of the trainer's step; mostly one."""
        return [each for each in self.pods if each.step == TRAINER]

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
        metadata = {"name": name, "namespace": self.namespace, "ownerReferences": [self.owner]}
        return {"apiVersion": version, "kind": kind, "metadata": metadata, **body}

    def existing(self, kind: str, name: str) -> Object | None:
        """An object that stands in the cluster already, as far as the caller looked."""
        return self.facts.existing.get((kind, name))

    def decide(self, field: str, value: object, reason: str, *args: object) -> None:
        """Write down a choice; `reason % args` becomes text only when somebody reads it."""
        self.decisions.append((field, value, reason, args))

    def warn(self, text: str) -> None:
        """Tell the user something that does not stop the job."""
        self.warnings.append(text)


def key_of(target: Mapping[str, Any]) -> tuple[str, str]:
    """How `Facts.existing` names an object: kind and name."""
    return target["kind"], target["metadata"]["name"]
