"""A heap of documents, sorted into what a cluster would make of it.

Jobs and runtimes are ours; of two jobs of one kind and name the first is stored and the second is sent to
change it. Everything else (PriorityClass, LimitRange, RuntimeClass, Secret, JobSet …) is taken for an
object that exists already. An API server fills in some things, and so does this: the namespace `default`,
a name for a generateName, and a uid that stands in for the real one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ..api.legacy import is_legacy
from ..api.names import KINDS, TRAIN_JOB, TRAINING_RUNTIME
from .plan import Object

DEFAULT_NAMESPACE = "default"
STAND_IN_UID = "00000000-0000-4000-8000-000000000000"
GENERATED = "xxxxx"
CLUSTER_KINDS = frozenset(
    {
        "ClusterTrainingRuntime",
        "ClusterQueue",
        "Namespace",
        "Node",
        "PersistentVolume",
        "PriorityClass",
        "Queue",
        "ResourceFlavor",
        "RuntimeClass",
        "StorageClass",
    }
)


@dataclass(frozen=True, slots=True)
class Sent:
    """A job that is sent to the API server, and the stored one it is to replace."""

    job: Object
    old: Object | None = None


@dataclass(frozen=True, slots=True)
class World:
    """The documents of a file by their parts in it."""

    runtimes: tuple[Object, ...]
    sent: tuple[Sent, ...]
    others: tuple[Object, ...]

    def existing(self, namespace: str) -> dict[tuple[str, str], Object]:
        """The objects that exist in a namespace and in the cluster, by kind and name."""
        return {
            (each["kind"], each["metadata"]["name"]): each
            for each in self.others
            if _namespace(each) in (None, namespace)
        }


def sort_documents(documents: Iterable[Object]) -> World:
    """Tell runtimes, TrainJobs and other objects apart; a name that comes twice is an update."""
    runtimes: dict[tuple[str, str | None, str], Object] = {}
    sent: dict[tuple[str, str | None, str], Sent] = {}
    others: list[Object] = []
    for document in documents:
        if document.get("kind") not in KINDS and not is_legacy(document):
            others.append(document)
            continue
        ours = _as_sent(document)
        place = (_namespace(ours), str(ours["metadata"].get("name", "")))
        if ours["kind"] == TRAIN_JOB or is_legacy(ours):
            known = sent.get((ours["kind"], *place))
            sent[ours["kind"], *place] = Sent(ours, old=known.job if known else None)
        else:
            runtimes[ours["kind"], *place] = ours
    return World(tuple(runtimes.values()), tuple(sent.values()), tuple(others))


def runtime_of(job: Object, runtimes: Sequence[Object]) -> Object | None:
    """The runtime a (stored) TrainJob refers to, if it is among these."""
    reference = job["spec"]["runtimeRef"]
    for runtime in runtimes:
        if (runtime["kind"], runtime["metadata"]["name"]) == (reference["kind"], reference["name"]) and (
            runtime["kind"] != TRAINING_RUNTIME or _namespace(runtime) == _namespace(job)
        ):
            return runtime
    return None


def _as_sent(document: Object) -> Object:
    """The document with what an API server adds before anybody sees it."""
    metadata: dict[str, Any] = dict(document.get("metadata") or {})
    if document["kind"] not in CLUSTER_KINDS and not metadata.get("namespace"):
        metadata["namespace"] = DEFAULT_NAMESPACE
    if not metadata.get("name") and metadata.get("generateName"):
        metadata["name"] = f"{metadata['generateName']}{GENERATED}"
    if not metadata.get("uid"):
        metadata["uid"] = STAND_IN_UID
    return {**document, "metadata": metadata}


def _namespace(document: Object) -> str | None:
    """The namespace of an object; None where its kind has none."""
    if document.get("kind") in CLUSTER_KINDS:
        return None
    return str(document["metadata"].get("namespace") or DEFAULT_NAMESPACE)
