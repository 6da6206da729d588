"""Older spellings become today's fields, as far as that is a plain rewriting.

What Trainer 2.0 and 2.1 called podSpecOverrides, podTemplateOverrides, spec.labels and spec.annotations is a
runtime patch today; v2alpha1 has the schema of v1alpha1. The older fields come before the patches a document
already has, so a patch of today wins. The given document never changes; what needs no rewriting is shared.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .names import (
    API_VERSION,
    OLD_API_VERSION,
    OLDER_SPELLINGS_MANAGER,
    QUEUE_ANNOTATION,
    TRAIN_JOB,
)
from .shapes import at, items, mapping
from .tolerances import Tolerance, notice

Document = Mapping[str, Any]
OVERRIDES = ("podSpecOverrides", "podTemplateOverrides")
METADATA = ("labels", "annotations")
OLDER_FIELDS = frozenset((*OVERRIDES, *METADATA))


def modernise(document: Document) -> tuple[Document, tuple[str, ...]]:
    """Return the document as it is written today, and a warning for each older spelling in it."""
    spec = mapping(document.get("spec"))
    if document.get("kind") == TRAIN_JOB:
        changed, warnings = _train_job(document, spec)
    else:
        changed, warnings = document, _runtime_notices(spec)
    if document.get("apiVersion") == OLD_API_VERSION:
        changed = {**changed, "apiVersion": API_VERSION}
        warnings = (old_version(document), *warnings)
    return changed, warnings


def old_version(document: Document) -> str:
    """Return the warning about a version that only early texts know."""
    kind = document.get("kind")
    text = f"{OLD_API_VERSION} {kind} is deprecated; use {API_VERSION} {kind}"
    return notice(Tolerance.OLD_VERSION, "apiVersion", text)


def _train_job(document: Document, spec: Document) -> tuple[Document, tuple[str, ...]]:
    annotations = at(document, "metadata", "annotations")
    if OLDER_FIELDS.isdisjoint(spec) and QUEUE_ANNOTATION not in annotations:
        return document, ()
    patches = [*_metadata_patch(spec, annotations), *_override_patches(spec)]
    new = {key: value for key, value in spec.items() if key not in OLDER_FIELDS}
    if patches:
        new["runtimePatches"] = [*patches, *items(spec.get("runtimePatches"))]
    return {**document, "spec": new}, tuple(_job_notices(spec))


def _job_notices(spec: Document) -> Iterator[str]:
    for name in METADATA:
        if name in spec:
            path = f"spec.runtimePatches[].trainingRuntimeSpec.template.metadata.{name}"
            text = f"understood as {name} of the JobSet; write them to {path}"
            yield notice(Tolerance.METADATA, f"spec.{name}", text)
    for name in OVERRIDES:
        if name in spec:
            text = "understood as runtime patches; write them to spec.runtimePatches"
            yield notice(Tolerance.OVERRIDES, f"spec.{name}", text)


def _metadata_patch(spec: Document, annotations: Document) -> Iterator[dict[str, Any]]:
    metadata = {name: dict(mapping(spec.get(name))) for name in METADATA if mapping(spec.get(name))}
    if QUEUE_ANNOTATION in annotations:
        queue = {QUEUE_ANNOTATION: annotations[QUEUE_ANNOTATION]}
        metadata["annotations"] = {**queue, **metadata.get("annotations", {})}
    if metadata:
        yield {
            "manager": OLDER_SPELLINGS_MANAGER,
            "trainingRuntimeSpec": {"template": {"metadata": metadata}},
        }


def _override_patches(spec: Document) -> Iterator[dict[str, Any]]:
    """One patch an override: two overrides may be meant for the same job."""
    templates = [
        *((mapping(one), {"spec": _pod(one)}) for one in items(spec.get(OVERRIDES[0]))),
        *((mapping(one), _pod(one)) for one in items(spec.get(OVERRIDES[1]))),
    ]
    for number, (override, template) in enumerate(templates):
        jobs = [
            {"name": mapping(target).get("name"), "template": {"spec": {"template": template}}}
            for target in items(override.get("targetJobs"))
        ]
        yield {
            "manager": f"{OLDER_SPELLINGS_MANAGER}-{number}",
            "trainingRuntimeSpec": {"template": {"spec": {"replicatedJobs": jobs}}},
        }


def _pod(override: Any) -> dict[str, Any]:
    return {key: value for key, value in mapping(override).items() if key != "targetJobs"}


def _runtime_notices(spec: Document) -> tuple[str, ...]:
    torch = at(spec, "mlPolicy", "torch")
    if "numProcPerNode" not in torch and "elasticPolicy" not in torch:
        return ()
    return tuple(_torch_notices(torch))


def _torch_notices(torch: Document) -> Iterator[str]:
    if "numProcPerNode" in torch:
        value = torch["numProcPerNode"]
        text = (
            f"{value!r} processes a node where the job says nothing else; Trainer 2.2 dropped this field, "
            "write spec.trainer.numProcPerNode in the TrainJob"
        )
        yield notice(Tolerance.PROCESSES, "spec.mlPolicy.torch.numProcPerNode", text)
    if "elasticPolicy" in torch:
        policy = at(torch, "elasticPolicy")
        span = f"{policy.get('minNodes', 1)} to {policy.get('maxNodes', 'any number of')} nodes"
        text = f"{span}; Trainer 2.2 dropped this field, other releases ignore it"
        yield notice(Tolerance.ELASTIC, "spec.mlPolicy.torch.elasticPolicy", text)
