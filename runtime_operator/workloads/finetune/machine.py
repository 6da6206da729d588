"""What this machine has to compute with: memory that may be used, and GPUs.

Before torch is loaded the driver's own program is asked, afterwards torch itself, which is surer. A limit of
the container counts before the machine's memory.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ASKED = "--query-gpu=name,memory.total,compute_cap"
GROUP_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


@dataclass(frozen=True, slots=True)
class Gpu:
    """One GPU."""

    name: str
    memory: int
    bf16: bool


@dataclass(frozen=True, slots=True)
class Machine:
    """What a plan is made for."""

    memory: int
    """bytes that may be used, of the container or the machine"""
    gpus: tuple[Gpu, ...] = ()

    @property
    def device(self) -> str:
        """What is computed with."""
        return "gpu" if self.gpus else "cpu"


def read_machine() -> Machine:
    """Look at the machine that runs us."""
    gpus = _gpus_of_torch() if "torch" in sys.modules else _gpus_of_driver()
    return Machine(memory=_memory(), gpus=gpus)


def _gpus_of_torch() -> tuple[Gpu, ...]:
    import torch

    if not torch.cuda.is_available():
        return ()
    every = [torch.cuda.get_device_properties(at) for at in range(torch.cuda.device_count())]
    return tuple(Gpu(each.name, each.total_memory, each.major >= 8) for each in every)


def _gpus_of_driver() -> tuple[Gpu, ...]:
    program = shutil.which("nvidia-smi")
    if program is None:
        return ()
    asked = [program, ASKED, "--format=csv,noheader,nounits"]
    try:
        said = subprocess.run(asked, capture_output=True, text=True, timeout=20, check=True).stdout
    except (OSError, subprocess.SubprocessError):  # no driver behind it: torch will see none either
        return ()
    return _visible(gpus_of_list(said), os.environ.get("CUDA_VISIBLE_DEVICES"))


def gpus_of_list(said: str) -> tuple[Gpu, ...]:
    """The GPUs that the driver's program lists, a line each."""
    found = [line.rsplit(",", 2) for line in said.splitlines() if line.count(",") >= 2]
    return tuple(
        Gpu(name.strip(), int(memory) << 20, float(capability) >= 8)
        for name, memory, capability in found
        if memory.strip().isdigit()
    )


def _visible(gpus: tuple[Gpu, ...], chosen: str | None) -> tuple[Gpu, ...]:
    """Those of them that this process may use."""
    if chosen is None or not gpus:
        return gpus
    names = [name.strip() for name in chosen.split(",") if name.strip()]
    return tuple(
        gpus[int(name)] if name.isdigit() and int(name) < len(gpus) else gpus[0]
        for name in names[: len(gpus)]
    )


def _memory() -> int:
    limits = [_of_machine()]
    for name in GROUP_LIMITS:
        file = Path(name)
        if file.is_file() and (text := file.read_text().strip()).isdigit():
            limits.append(int(text))
    return min(limits)


def _of_machine() -> int:
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemTotal:"):
            return int(line.split()[1]) << 10
    return 1 << 62
