"""A plain command uses every GPU of the machine; whoever says how many processes he wants gets those."""

import os
import sys
from typing import Any

import pytest

from kfp_trainer.runtime_operator.workloads.finetune import FinetuneSettings
from kfp_trainer.runtime_operator.workloads.finetune.launching import (
    TORCHRUN,
    VISIBLE,
    as_flags,
    take_one_gpu,
    torchrun_command,
)
from kfp_trainer.runtime_operator.workloads.finetune.machine import Gpu, Machine
from kfp_trainer.runtime_operator.workloads.finetune.plan import fit_batch

GIVEN = {"model": "m", "dataset": "d"}
GPU = Gpu("H200", 139 << 30, bf16=True)

STARTED: dict[str, tuple[int, dict[str, str], dict[str, Any], int | None]] = {
    "no GPU: this process": (0, {}, {}, None),
    "one GPU: this process": (1, {}, {}, None),
    "eight GPUs: a process each": (8, {}, {}, 8),
    "as many as the batch divides among": (8, {}, {"batch_size": 12}, 6),
    "in its parts": (8, {}, {"batch_size": 16, "accumulation": 4}, 4),
    "a batch of one": (8, {}, {"batch_size": 1}, None),
    "under torchrun": (8, {"RANK": "0"}, {}, None),
    "in a pod that says how many": (8, {"PET_NPROC_PER_NODE": "1"}, {}, None),
}


@pytest.mark.parametrize("sentence", STARTED)
def test_started(sentence: str) -> None:
    gpus, environment, more, processes = STARTED[sentence]
    settings = FinetuneSettings.model_validate({**GIVEN, **more})
    command = torchrun_command(settings, Machine(memory=1 << 40, gpus=(GPU,) * gpus), environment)
    assert (command is None) == (processes is None)
    if command:
        assert command[:4] == [sys.executable, "-m", TORCHRUN, "--standalone"]
        assert command[4] == f"--nproc-per-node={processes}"
        assert "--model=m" in command


def test_flags_are_read_as_they_were_given() -> None:
    given = {"lora_targets": ["q_proj", "v_proj"], "packing": True, "epochs": 0.5, "max_steps": None}
    settings = FinetuneSettings.model_validate({**GIVEN, **given})
    flags = as_flags(settings)
    assert flags == [
        "--model=m",
        "--dataset=d",
        "--epochs=0.5",
        "--packing=true",
        "--lora-targets=q_proj,v_proj",
    ]
    read = {flag[2:].split("=")[0].replace("-", "_"): flag.split("=")[1] for flag in flags}
    assert FinetuneSettings.model_validate(read) == settings


BATCHES = {
    "16 where it divides": ({}, 8, 16),
    "more for four nodes of eight": ({}, 32, 32),
    "the next multiple": ({}, 6, 18),
    "with its parts": ({"accumulation": 3}, 2, 18),
    "an asked one stays": ({"batch_size": 16}, 6, 16),
}


@pytest.mark.parametrize("sentence", BATCHES)
def test_batches(sentence: str) -> None:
    more, processes, rows = BATCHES[sentence]
    settings = FinetuneSettings.model_validate({**GIVEN, **more})
    assert fit_batch(settings, processes).batch_size == rows


SEEN = {"all": ({}, "0"), "some": ({VISIBLE: "2,3"}, "2"), "none": ({VISIBLE: ""}, "")}


@pytest.mark.parametrize("sentence", SEEN)
def test_a_process_alone_takes_one_gpu(sentence: str, monkeypatch: pytest.MonkeyPatch) -> None:
    environment, left = SEEN[sentence]
    monkeypatch.delenv(VISIBLE, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    take_one_gpu()
    assert os.environ[VISIBLE] == left
