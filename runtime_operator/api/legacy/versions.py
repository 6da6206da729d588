"""Which version of kubeflow.org a job was written as: MPIJobs of v1 and of v2beta1 mean different things.

Both are versions of one CRD, and an API server serves every object in each of them. So the version that its
author wrote stands in an annotation, which our webhook sets when the job is made; where no webhook ran, the
one that is told to have written the object first counts.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ..shapes import at, items, mapping
from .names import API_VERSION, GROUP

MPI: Final = "MPIJob"
SSH_VERSION: Final = f"{GROUP}/v2beta1"
"""The MPI Operator's: launcher and workers trust each other by ssh."""
MPI_MANAGER: Final = f"{GROUP}/mpi-operator"
"""What stands in runPolicy.managedBy of a job of that version that is ours."""
WRITTEN_AS: Final = "kfp-trainer/written-as"
"""The annotation."""

Json = Mapping[str, Any]


def versions_of(kind: str) -> tuple[str, ...]:
    """Return the versions in which a kind is served, the stored one first."""
    return (API_VERSION, SSH_VERSION) if kind == MPI else (API_VERSION,)


def not_served(document: Json) -> str:
    """Return what is said of a version in which nobody serves the kind of a document."""
    known = " or ".join(versions_of(str(document.get("kind"))))
    return f"must be {known}, got {document.get('apiVersion')!r}"


def written_as(document: Json) -> str:
    """Return the version that says what a document means."""
    version = str(document.get("apiVersion"))
    if document.get("kind") != MPI or version not in versions_of(MPI):
        return version
    metadata = at(document, "metadata")
    marked = at(metadata, "annotations").get(WRITTEN_AS)
    return str(marked) if marked in versions_of(MPI) else _first_written(metadata) or version


def marked(document: Json, old: Json | None = None) -> Json:
    """Return a document that says how it was written; one that is changed stays what it was."""
    if document.get("kind") != MPI:
        return document
    version = written_as(document if old is None else old)
    metadata = at(document, "metadata")
    annotations = {**at(metadata, "annotations"), WRITTEN_AS: version}
    return {**document, "metadata": {**metadata, "annotations": annotations}}


def _first_written(metadata: Json) -> str:
    """The version of whoever wrote the object first, of those who wrote more than its status."""
    writers = [
        (str(each.get("time", "")), str(each["apiVersion"]))
        for each in map(mapping, items(metadata.get("managedFields")))
        if not each.get("subresource") and each.get("apiVersion") in versions_of(MPI)
    ]
    return min(writers, default=("", ""))[1]
