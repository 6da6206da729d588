"""The container images of this project: one table, one place to change.

The tag of an image is the version of the library inside it, so that a component and the code it calls
never differ.
"""

from __future__ import annotations

from importlib.metadata import version
from types import MappingProxyType
from typing import Literal

REGISTRY = "ghcr.io/kfp-trainer"
VERSION = version("kfp-trainer")

ImageName = Literal["operator", "workload", "workload-cuda", "workload-torchtune"]

IMAGES = MappingProxyType(
    {
        "operator": f"{REGISTRY}/operator:{VERSION}",  # controller and webhook; no torch
        "workload": f"{REGISTRY}/workload:{VERSION}",  # fetch, fine-tune, evaluate on CPU
        "workload-cuda": f"{REGISTRY}/workload-cuda:{VERSION}",  # the same with CUDA
        "workload-torchtune": f"{REGISTRY}/workload-torchtune:{VERSION}",  # torchtune needs an older torchao
    }
)


def image(name: ImageName) -> str:
    """Return the full reference of one of our images."""
    return IMAGES[name]
