"""Jobs of the older kinds, as small as they can be."""

from __future__ import annotations

from typing import Any

from kfp_trainer.runtime_operator.api.legacy import LEGACY_KINDS, LegacyJob, read_legacy

ROLES = {
    "TFJob": ["Chief", "Worker"],
    "PyTorchJob": ["Master", "Worker"],
    "MPIJob": ["Launcher", "Worker"],
    "XGBoostJob": ["Master", "Worker"],
    "PaddleJob": ["Worker"],
    "JAXJob": ["Worker"],
}
"""of the kinds that are served unless somebody says otherwise, those that a job has at least"""


def legacy_document(
    kind: str, roles: dict[str, dict[str, Any]], *, name: str = "job", version: str = "v1", **spec: Any
) -> dict[str, Any]:
    """A document of a kind; of each role what differs from one replica of the framework's container."""
    known = LEGACY_KINDS[kind]
    return {
        "apiVersion": f"kubeflow.org/{version}",
        "kind": kind,
        "metadata": {"name": name, "namespace": "lab", "uid": "u-1"},
        "spec": {
            known.field: {role: _role(known.container, **given) for role, given in roles.items()},
            **spec,
        },
    }


def legacy_job(kind: str, roles: dict[str, dict[str, Any]], *, name: str = "job", **spec: Any) -> LegacyJob:
    """The same, as it is meant."""
    return read_legacy(legacy_document(kind, roles, name=name, **spec))


def ssh_job(workers: int = 2, *, launcher: dict[str, Any] | None = None, **spec: Any) -> LegacyJob:
    """An MPIJob of v2beta1, as it is meant."""
    return legacy_job(
        "MPIJob", {"Launcher": launcher or {}, "Worker": {"replicas": workers}}, version="v2beta1", **spec
    )


def _role(
    container: str, *, pod: dict[str, Any] | None = None, metadata: dict[str, Any] | None = None, **given: Any
) -> dict[str, Any]:
    main = {"name": container, "image": "lab.example/train:1"}
    template: dict[str, Any] = {"spec": {"containers": [main], **(pod or {})}}
    if metadata:
        template["metadata"] = metadata
    return {"replicas": 1, "template": template, **given}
