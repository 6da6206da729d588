"""Which GPUs a container sees: the pod's devices, handed to its containers in order as they ask."""

from __future__ import annotations

from itertools import takewhile

from .pod import Container, Object, containers

_SUFFIX = "/gpu"


def visible_devices(container: Container, pod: Object, gpus: tuple[str, ...] | None) -> dict[str, str]:
    """Return the variable that shows a container its devices; none at all where devices are not handed out.

    Init containers run before the others and see the same devices as they do; sidecars run beside them.
    """
    if gpus is None:
        return {}
    earlier = takewhile(lambda one: one.name != container.name, containers(pod))
    before = sum(_asked(one) for one in earlier if "init" not in (one.kind, container.kind))
    return {"CUDA_VISIBLE_DEVICES": ",".join(gpus[before : before + _asked(container)])}


def _asked(container: Container) -> int:
    resources = container.spec.get("resources") or {}
    limits = {**(resources.get("requests") or {}), **(resources.get("limits") or {})}
    return sum(int(amount) for name, amount in limits.items() if name.endswith(_SUFFIX))
