"""Builders of small documents; every argument lands in `spec`."""

from __future__ import annotations

from typing import Any, Protocol

import pytest

API_VERSION = "trainer.kubeflow.org/v1alpha1"


class Builder(Protocol):
    def __call__(self, **spec: Any) -> dict[str, Any]: ...


@pytest.fixture(scope="session")
def job() -> Builder:
    def build(**spec: Any) -> dict[str, Any]:
        return {
            "apiVersion": API_VERSION,
            "kind": "TrainJob",
            "metadata": {"name": "bert", "namespace": "lab"},
            "spec": {"runtimeRef": {"name": "torch"}, **spec},
        }

    return build


@pytest.fixture(scope="session")
def runtime() -> Builder:
    def build(**spec: Any) -> dict[str, Any]:
        return {
            "apiVersion": API_VERSION,
            "kind": "ClusterTrainingRuntime",
            "metadata": {"name": "torch"},
            "spec": {
                "mlPolicy": {"torch": {}},
                "template": {"spec": {"replicatedJobs": [node_job()]}},
                **spec,
            },
        }

    return build


def node_job(**container: Any) -> dict[str, Any]:
    return {
        "name": "node",
        "template": {
            "metadata": {"labels": {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}},
            "spec": {
                "template": {
                    "spec": {"containers": [{"name": "node", "image": "lab.example/i", **container}]}
                }
            },
        },
    }
