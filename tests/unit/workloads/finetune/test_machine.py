"""What a machine has is read from the driver's words, the container's limit and what may be seen."""

import os
import stat
from pathlib import Path

import pytest

from kfp_trainer.runtime_operator.workloads.finetune import machine
from kfp_trainer.runtime_operator.workloads.finetune.machine import Gpu, gpus_of_list

SAID = "NVIDIA H200, 143771, 9.0\nTesla T4, 15360, 7.5\n"
H200, T4 = Gpu("NVIDIA H200", 143771 << 20, bf16=True), Gpu("Tesla T4", 15360 << 20, bf16=False)

LISTS = {
    "two GPUs, one too old for bfloat16": (SAID, (H200, T4)),
    "a name with a comma": ("A, B, 1024, 8.6\n", (Gpu("A, B", 1 << 30, bf16=True),)),
    "memory it does not tell": ("GB10, [N/A], 12.1\n", ()),
    "no devices": ("No devices were found\n", ()),
}


@pytest.mark.parametrize("sentence", LISTS)
def test_lists(sentence: str) -> None:
    said, gpus = LISTS[sentence]
    assert gpus_of_list(said) == gpus


SEEN = {
    "all": (None, (H200, T4)),
    "one": ("1", (T4,)),
    "in another order": ("1,0", (T4, H200)),
    "none": ("", ()),
    "by another name": ("GPU-7f", (H200,)),
}


@pytest.mark.parametrize("sentence", SEEN)
def test_what_may_be_seen(sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chosen, gpus = SEEN[sentence]
    program = tmp_path / "nvidia-smi"
    program.write_text(f"#!/bin/sh\ncat <<'END'\n{SAID}END\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.delitem(machine.sys.modules, "torch", raising=False)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    if chosen is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", chosen)
    assert machine.read_machine().gpus == gpus


def test_the_containers_limit_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    limit = tmp_path / "memory.max"
    monkeypatch.setattr(machine, "GROUP_LIMITS", (str(limit), str(tmp_path / "none")))
    limit.write_text("max\n")
    free = machine.read_machine().memory
    assert free > 1 << 28
    limit.write_text("1048576\n")
    assert machine.read_machine().memory == 1 << 20
