"""What is sent for a job: the TrainJob with the marks by which it is known again, and what it needs.

The marks are annotations, for nothing else of ours lasts in a cluster: a digest of what was asked for, who
asked, and how often that one has asked before. A TrainJob without them was made by somebody else.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from ...api.legacy import is_legacy
from ...api.modernise import modernise
from ...api.names import KINDS, TRAIN_JOB
from ...errors import SpecError
from ..protocol import Document

DIGEST = "kfp-trainer/request-digest"
OWNER = "kfp-trainer/request-owner"
ATTEMPT = "kfp-trainer/request-attempt"


@dataclass(frozen=True, slots=True)
class Request:
    """One TrainJob, the objects that it needs, and a digest of both."""

    train_job: Mapping[str, Any]
    others: tuple[Document, ...]
    digest: str
    warnings: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The job's name."""
        return str(self.train_job["metadata"]["name"])

    @property
    def suspend(self) -> bool:
        """Whether the job is to rest at first."""
        return bool(self.train_job["spec"].get("suspend"))

    def marked(self, *, owner: str, attempt: int) -> Document:
        """The TrainJob as it is sent."""
        metadata = self.train_job["metadata"]
        marks = {DIGEST: self.digest, OWNER: owner, ATTEMPT: str(attempt)}
        annotations = {**(metadata.get("annotations") or {}), **marks}
        return {**self.train_job, "metadata": {**metadata, "annotations": annotations}}


def prepare(documents: Document | Sequence[Document], *, namespace: str) -> Request:
    """Sort the documents of a job; SpecError if there is no TrainJob among them, or more than one."""
    given = [documents] if isinstance(documents, Mapping) else list(documents)
    modern = [modernise(each) if each.get("kind") in KINDS else (each, ()) for each in given]
    warnings = tuple(warning for _, told in modern for warning in told)
    jobs = [document for document, _ in modern if document.get("kind") == TRAIN_JOB]
    if older := next((each for each in given if is_legacy(each)), None):
        kind = older["kind"]
        raise SpecError(
            f"kind: {kind}s are run in a cluster by `kubectl create -f FILE`;"
            " this command runs them here, or `convert` makes TrainJobs of them"
        )
    if len(jobs) != 1:
        raise SpecError(f"needs one TrainJob, got {len(jobs)}; give one at a time")
    others = tuple(document for document, _ in modern if document.get("kind") != TRAIN_JOB)
    job = _placed(jobs[0], namespace)
    return Request(job, others, _digest(job, others), warnings)


def _placed(job: Document, namespace: str) -> Mapping[str, Any]:
    """The TrainJob in its namespace; one without a name, or of another namespace, cannot be followed."""
    metadata = job.get("metadata") or {}
    if not metadata.get("name"):
        raise SpecError("metadata.name: is missing; give the job a name, by which it is found again")
    if metadata.get("namespace", namespace) != namespace:
        place = metadata["namespace"]
        raise SpecError(
            f"metadata.namespace: is {place!r}, and this command works in {namespace!r}; pass -n {place}"
        )
    return {**job, "metadata": {**metadata, "namespace": namespace}, "spec": job.get("spec") or {}}


def _digest(job: Mapping[str, Any], others: Sequence[Document]) -> str:
    """A digest of all that was asked for, but for the job's rest, which may be asked for anew."""
    asked = [{**job["spec"], "suspend": None}, job["metadata"].get("labels") or {}, *others]
    return sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()[:16]
