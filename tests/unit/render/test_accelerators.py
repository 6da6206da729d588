"""Accelerators of any vendor are counted; shares of one are not."""

from __future__ import annotations

from typing import Any

import pytest

from kfp_trainer.runtime_operator.render.accelerators import accelerator_names, accelerators, is_accelerator

DEVICES = [
    "nvidia.com/gpu",
    "nvidia.com/gpu.shared",
    "nvidia.com/mig-1g.5gb",
    "amd.com/gpu",
    "gpu.intel.com/i915",
    "gpu.intel.com/xe",
    "habana.ai/gaudi",
    "google.com/tpu",
    "aws.amazon.com/neuron",
    "aws.amazon.com/neuroncore",
    "aws.amazon.com/neurondevice",
    "huawei.com/Ascend910",
    "cambricon.com/mlu370",
    "hygon.com/dcu",
    "qualcomm.com/qaic",
    "rebellions.ai/npu",
]
OTHERS = [
    "cpu",
    "memory",
    "gpu",
    "ephemeral-storage",
    "hugepages-2Mi",
    "rdma/hca_shared_devices_a",
    "vpc.amazonaws.com/efa",
    "nvidia.com/gpumem",
    "nvidia.com/gpucores",
    "nvidia.com/gpumem-percentage",
    "gpu.intel.com/i915_monitoring",
    "gpu.intel.com/memory.max",
    "kubernetes.io/gpu",
    "x.kubernetes.io/gpu",
    "cloud-tpus.google.com.example/v",
]


@pytest.mark.parametrize("name", DEVICES)
def test_is_a_device(name: str) -> None:
    assert is_accelerator(name)


@pytest.mark.parametrize("name", OTHERS)
def test_is_none(name: str) -> None:
    assert not is_accelerator(name)


COUNTS: dict[str, tuple[dict[str, Any], int, int]] = {
    "limits alone": ({"limits": {"nvidia.com/gpu": 8}}, 8, 8),
    "requests go first": ({"requests": {"nvidia.com/gpu": "2"}, "limits": {"nvidia.com/gpu": 4}}, 2, 2),
    "slices are counted, and upstream misses them": (
        {"limits": {"nvidia.com/mig-1g.5gb": 2, "nvidia.com/mig-2g.10gb": 1}},
        3,
        0,
    ),
    "memory of a gpu is no gpu, though upstream takes it for one": (
        {"limits": {"nvidia.com/gpumem": 4000}},
        0,
        4000,
    ),
    "cpu only": ({"limits": {"cpu": 4}}, 0, 0),
    "nothing": ({}, 0, 0),
    "a request of none leaves the word to the limits": (
        {"requests": {"amd.com/gpu": 0}, "limits": {"amd.com/gpu": 1}},
        1,
        1,
    ),
}


@pytest.mark.parametrize("sentence", COUNTS)
def test_counts(sentence: str) -> None:
    resources, ours, upstream = COUNTS[sentence]
    assert (accelerators(resources), accelerators(resources, upstream=True)) == (ours, upstream)


def test_names_are_sorted_and_unique() -> None:
    resources = {
        "requests": {"nvidia.com/gpu": 1, "cpu": 1},
        "limits": {"nvidia.com/gpu": 1, "amd.com/gpu": 1},
    }
    assert accelerator_names(resources) == ["amd.com/gpu", "nvidia.com/gpu"]
