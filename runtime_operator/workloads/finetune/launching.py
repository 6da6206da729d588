"""A plain command on a machine with several GPUs: one process a GPU, through torchrun.

Under torchrun, or in a pod that says how many processes it wants, nothing is started here. A process that
stays alone takes one GPU: given several, the Trainer would split every batch among them in its slow way.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

from ..settings import flags
from .machine import Machine
from .settings import FinetuneSettings

MODULE = "kfp_trainer.runtime_operator.workloads.finetune"
TORCHRUN = "kfp_trainer.runtime_operator.workloads.torchrun"
TOLD = ("RANK", "PET_NPROC_PER_NODE", "PET_NNODES")
VISIBLE = "CUDA_VISIBLE_DEVICES"


def torchrun_command(
    settings: FinetuneSettings, machine: Machine, environment: Mapping[str, str]
) -> list[str] | None:
    """What to run instead of this process; none where it is right as it is."""
    processes = processes_to_start(settings, machine, environment)
    if processes == 1:
        return None
    torchrun = ["-m", TORCHRUN, "--standalone", f"--nproc-per-node={processes}"]
    return [sys.executable, *torchrun, "-m", MODULE, *as_flags(settings)]


def processes_to_start(settings: FinetuneSettings, machine: Machine, environment: Mapping[str, str]) -> int:
    """As many as there are GPUs, or as an asked batch divides among; 1: this process will do."""
    gpus = len(machine.gpus)
    if gpus < 2 or any(name in environment for name in TOLD):
        return 1
    if "batch_size" not in settings.model_fields_set:
        return gpus
    parts = settings.accumulation or 1
    return max((each for each in range(1, gpus + 1) if settings.batch_size % (each * parts) == 0), default=1)


def as_flags(settings: FinetuneSettings) -> list[str]:
    """The settings that were given, as the command takes them."""
    names = [name for name in type(settings).model_fields if name in settings.model_fields_set]
    return flags({name: getattr(settings, name) for name in names})


def take_one_gpu() -> None:
    """Let this process see no more than one GPU; to be called before torch is loaded."""
    os.environ[VISIBLE] = os.environ.get(VISIBLE, "0").split(",")[0]
