"""The demonstration: a small base model, an instruction set it does badly on, and the pipeline that mends it.

Everything is made on the spot, so there is nothing to download. The base model and the data are kept in the
cache: a second run starts at once.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path

from kfp_trainer.runtime_operator.errors import SetupError
from kfp_trainer.runtime_operator.settings import Settings

Say = Callable[[str], None]
NEEDED = ("kfp", "torch", "transformers", "trl", "peft", "datasets")
THREADS = 1  # a model this small gains nothing from a second one
TRAINING = {
    "max_steps": 200,
    "learning_rate": 3e-3,
    "sequence_length": 128,
    "log_every": 20,
    "threads": THREADS,
}


def run_demo(settings: Settings, *, say: Say) -> Path:
    """Run the demonstration and return the folder of its results."""
    started = time.monotonic()
    say("Fine-tune a small language model on this machine, then compare it with its base.")
    require_packages()
    model, data = prepare(settings.cache / "demo", say)
    folder = settings.runs / f"demo-{datetime.now(UTC):%Y%m%d-%H%M%S}"
    say(f"\nRun the pipeline finetune_llm; results go to {folder}")
    run_pipeline(model, data, folder)
    show_results(folder, say)
    say(f"\nDone in {time.monotonic() - started:.0f} s.")
    return folder


def require_packages() -> None:
    """Raise SetupError when this installation cannot train."""
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise SetupError(
            f"this needs {', '.join(missing)}: pip install 'kfp-trainer[local,pipelines]' "
            "(3.2 GB to download: torch brings its CUDA libraries)"
        )


def prepare(cache: Path, say: Say) -> tuple[Path, Path]:
    """Make the base model and the data, unless an earlier run has."""
    from kfp_trainer.runtime_operator.workloads.tiny import make_demo_data, make_tiny_model

    model, data = cache / "tiny-model", cache / "messages"
    if not data.exists():
        say("Write an instruction set: customers' messages to sort.")
        make_demo_data(data)
    if not model.exists():
        say("Make a base model that has read such messages (half a million parameters; once, about 30 s).")
        make_tiny_model(model)
    return model, data


def run_pipeline(model: Path, data: Path, folder: Path) -> None:
    """Fine-tune and evaluate."""
    from kfp_trainer.pipelines.catalogue import load_pipeline
    from kfp_trainer.pipelines.local_run import run_local

    arguments = {"model_path": str(model), "dataset_path": str(data), "output_path": str(folder / "model")}
    choices = {"training": TRAINING, "evaluation": {"threads": THREADS}}
    run_local(load_pipeline("finetune_llm"), {**arguments, **choices}, folder)


def show_results(folder: Path, say: Say) -> None:
    """Say what the model has learnt, where to look, and what to try next."""
    result = json.loads((folder / "model/result.json").read_text())
    evaluation = json.loads((folder / "model/evaluation.json").read_text())
    say(f"\nLoss            {result['first_loss']:.2f} -> {result['last_loss']:.2f}")
    base, tuned = evaluation["base_exact_match"], evaluation["tuned_exact_match"]
    say(f"Right answers   {base:.0%} -> {tuned:.0%} of {evaluation['rows']} held-out messages")
    for name in ("training_report.html", "evaluation_report.html"):
        say(f"Report          {folder / 'model' / name}")
    say("\nTry next:")
    say("  kfp-trainer finetune --help          your own model and data")
    say("  kfp-trainer pipelines compile finetune_llm    the same pipeline, for the Pipelines UI")
    say("  kfp-trainer explain -f job.yaml      what a TrainJob of yours becomes on a cluster")
