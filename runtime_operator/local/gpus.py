"""The GPUs of this machine, handed out exclusively: a device has one pod at a time, whichever job it is of.

Who has what stands in one file, changed under a lock. A pod whose folder has gone, or whose end is on disk,
has nothing any more, so that a runner that died with its pods leaves no device taken for ever.
"""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from ..errors import Retryable
from .folder import locked, write_json
from .process.files import read_json
from .reporting import ENDED

SUFFIX = "/gpu"


@lru_cache(maxsize=1)
def machine_gpus() -> tuple[str, ...]:
    """The GPUs of this machine, by number."""
    command = ["nvidia-smi", "--query-gpu=index", "--format=csv,noheader"]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, timeout=20, check=True)
    except (OSError, subprocess.SubprocessError):
        return ()
    return tuple(answer.stdout.split())


def asked(pod: Mapping[str, Any]) -> int:
    """How many GPUs the containers of a pod ask for together."""
    total = 0
    for container in pod["spec"].get("containers") or ():
        resources = container.get("resources") or {}
        limits = {**(resources.get("requests") or {}), **(resources.get("limits") or {})}
        total += sum(int(amount) for name, amount in limits.items() if name.endswith(SUFFIX))
    return total


def devices_for(jobs: Path, folder: Path, pod: Mapping[str, Any]) -> tuple[str, ...] | None:
    """Take the devices a pod asks for; None where this machine has none to hand out."""
    present = machine_gpus()
    if not present:
        return None
    with locked(jobs / ".devices.lock"):
        held = _held(jobs)
        free = [each for each in present if each not in held]
        wanted = asked(pod)
        if wanted > len(free):
            raise Retryable(f"needs {wanted} GPUs and {len(free)} of {len(present)} are free", after=5)
        mine = tuple(free[:wanted])
        write_json(jobs / ".devices.json", held | dict.fromkeys(mine, str(folder)))
    return mine


def hand_back(jobs: Path, folder: Path) -> None:
    """Let go of the devices of a pod."""
    if machine_gpus():
        with locked(jobs / ".devices.lock"):
            left = {device: owner for device, owner in _held(jobs).items() if owner != str(folder)}
            write_json(jobs / ".devices.json", left)


def _held(jobs: Path) -> dict[str, str]:
    """Which pod has which device, without those that have ended."""
    held = read_json(jobs / ".devices.json") or {}
    return {device: owner for device, owner in held.items() if _has_it(Path(owner))}


def _has_it(pod: Path) -> bool:
    status = read_json(pod / "status.json") or {}
    return pod.exists() and status.get("phase") not in ENDED
