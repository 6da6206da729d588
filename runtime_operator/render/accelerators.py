"""How many accelerators a container gets, whatever their vendor calls them.

Every extended resource has a vendor's domain; what of it is a device and what is a share of one (memory,
cores) only its name tells. Upstream knows names that contain `gpu` and nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from .quantity import read

_DEVICE = re.compile(
    r"gpu|^mig-|tpu|hpu|npu|gaudi|neuron|ascend|mlu|dcu|qaic|^i915$|^xe$|accelerator", re.IGNORECASE
)
_SHARE = re.compile(r"mem|core|percent|priority|weight|monitoring", re.IGNORECASE)
_WHOLE_CORE = frozenset({"aws.amazon.com/neuroncore"})
"""devices whose name says core: a process runs on each"""


def accelerators(resources: Mapping[str, Any], *, upstream: bool = False) -> int:
    """Count a container's accelerators from its requests, else from its limits."""
    count = _count_upstream if upstream else _count
    return count(resources.get("requests") or {}) or count(resources.get("limits") or {})


def accelerator_names(resources: Mapping[str, Any]) -> list[str]:
    """Name the accelerator resources among requests and limits, sorted."""
    named = {*(resources.get("requests") or {}), *(resources.get("limits") or {})}
    return sorted(name for name in named if is_accelerator(name))


def is_accelerator(resource: str) -> bool:
    """Tell whether a resource name is a vendor's device, not a share of one."""
    domain, slash, device = resource.partition("/")
    if not slash or domain == "kubernetes.io" or domain.endswith(".kubernetes.io"):
        return False
    return resource in _WHOLE_CORE or (bool(_DEVICE.search(device)) and not _SHARE.search(device))


def _count(amounts: Mapping[str, Any]) -> int:
    return sum(read(value).ceil() for name, value in amounts.items() if is_accelerator(name))


def _count_upstream(amounts: Mapping[str, Any]) -> int:
    return next((read(value).ceil() for name, value in amounts.items() if "gpu" in name.lower()), 0)
