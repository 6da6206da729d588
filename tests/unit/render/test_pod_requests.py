"""What one pod asks of a node."""

from __future__ import annotations

from typing import Any

import pytest

from kfp_trainer.runtime_operator.render.pod_requests import pod_requests


def container(
    requests: dict[str, Any] | None = None, limits: dict[str, Any] | None = None, **more: Any
) -> dict[str, Any]:
    resources = {"requests": requests, "limits": limits}
    return {"name": "c", "resources": {key: value for key, value in resources.items() if value}, **more}


def sidecar(requests: dict[str, Any]) -> dict[str, Any]:
    return container(requests, restartPolicy="Always")


BOTH_WAYS: dict[str, tuple[dict[str, Any], dict[str, str]]] = {
    "containers add up": (
        {"containers": [container({"cpu": "500m"}), container({"cpu": 1})]},
        {"cpu": "1500m"},
    ),
    "a container without resources": ({"containers": [{"name": "c"}, {"name": "d", "resources": {}}]}, {}),
    "no containers at all": ({}, {}),
    "an init container that asks more decides": (
        {"initContainers": [container({"cpu": 4})], "containers": [container({"cpu": 1})]},
        {"cpu": "4"},
    ),
    "an init container that asks less does not": (
        {"initContainers": [container({"cpu": 1, "memory": "1Gi"})], "containers": [container({"cpu": 2})]},
        {"cpu": "2", "memory": "1Gi"},
    ),
    "a native sidecar adds to the containers": (
        {"initContainers": [sidecar({"cpu": "500m"})], "containers": [container({"cpu": 1})]},
        {"cpu": "1500m"},
    ),
    "an init container runs beside the sidecars started before it": (
        {
            "initContainers": [sidecar({"cpu": 1}), container({"cpu": 4}), sidecar({"cpu": 1})],
            "containers": [container({"cpu": 1})],
        },
        {"cpu": "5"},
    ),
    "two sidecars pile up": (
        {
            "initContainers": [sidecar({"cpu": 1}), sidecar({"cpu": 2}), container({"cpu": 3})],
            "containers": [container({"cpu": 1})],
        },
        {"cpu": "6"},
    ),
    "resources of the pod replace the sum, for what a pod may have": (
        {
            "resources": {"requests": {"cpu": 8, "hugepages-2Mi": "4Mi", "nvidia.com/gpu": 9}},
            "containers": [container({"cpu": 1, "memory": "1Gi"})],
        },
        {"cpu": "8", "memory": "1Gi", "hugepages-2Mi": "4Mi"},
    ),
    "overhead comes on top": (
        {"overhead": {"memory": "64Mi"}, "containers": [container({"memory": "64Mi"})]},
        {"memory": "128Mi"},
    ),
}


@pytest.mark.parametrize("sentence", BOTH_WAYS)
@pytest.mark.parametrize("upstream", [False, True])
def test_requests(sentence: str, upstream: bool) -> None:
    pod, want = BOTH_WAYS[sentence]
    assert pod_requests(pod, upstream=upstream) == want


LIMIT_RANGE = {
    "spec": {
        "limits": [
            {"type": "Pod", "max": {"cpu": 99}},
            {"type": "Container", "default": {"cpu": 2, "memory": "2Gi"}, "defaultRequest": {"cpu": "250m"}},
        ]
    }
}
GVISOR = {"gvisor": {"overhead": {"podFixed": {"cpu": "250m"}}}, "plain": {}}
BETTER: dict[str, tuple[dict[str, Any], dict[str, str]]] = {
    "a limit stands in where no request is given": (
        {"containers": [container({"cpu": 1}, {"cpu": 4, "nvidia.com/gpu": 8})]},
        {"cpu": "1", "nvidia.com/gpu": "8", "memory": "2Gi"},
    ),
    "the limit range speaks for a container that says nothing": (
        {"containers": [{"name": "c"}]},
        {"cpu": "250m", "memory": "2Gi"},
    ),
    "a runtime class brings its overhead": (
        {"runtimeClassName": "gvisor", "containers": [container({"cpu": 1, "memory": 1})]},
        {"cpu": "1250m", "memory": "1"},
    ),
    "overhead of the pod itself goes before": (
        {
            "runtimeClassName": "gvisor",
            "overhead": {"cpu": 1},
            "containers": [container({"cpu": 1, "memory": 1})],
        },
        {"cpu": "2", "memory": "1"},
    ),
    "a runtime class without overhead": (
        {"runtimeClassName": "plain", "containers": [container({"cpu": 1, "memory": 1})]},
        {"cpu": "1", "memory": "1"},
    ),
    "limits of the pod stand in too": (
        {"resources": {"limits": {"cpu": 3}}, "containers": [container({"memory": 1})]},
        {"cpu": "3", "memory": "1"},
    ),
}


@pytest.mark.parametrize("sentence", BETTER)
def test_what_a_scheduler_counts(sentence: str) -> None:
    pod, want = BETTER[sentence]
    assert pod_requests(pod, limit_ranges=[LIMIT_RANGE, {}], runtime_classes=GVISOR) == want


def test_upstream_knows_requests_only() -> None:
    pod = {"runtimeClassName": "gvisor", "containers": [container({"cpu": 1}, {"nvidia.com/gpu": 8})]}
    assert pod_requests(pod, upstream=True, limit_ranges=[LIMIT_RANGE], runtime_classes=GVISOR) == {
        "cpu": "1"
    }
