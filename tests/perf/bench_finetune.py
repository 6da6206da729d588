"""What `finetune` costs beside the bare TRL script: CPU time a step, and time until the first step.

    python -m tests.perf.bench_finetune [PAIRS]

The same model (5 million parameters), rows, batches, LoRA and seed; a line of progress after every step on
both sides. The two processes of a pair start together and then take turns, step by step, so that whatever
else runs here slows both alike. Both are watched in the same way from inside: the process's CPU time between
two beginnings of a step. That both did the same work is seen by their losses, which are equal. The bound is
that of a bootstrap over all pairs of steps.
"""

from __future__ import annotations

import contextlib
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from kfp_trainer.runtime_operator.workloads.tiny import make_demo_data
from tests.perf.bench_local import upper_bound
from tests.perf.made_models import SMALL, make_llama

PAIRS, STEPS, FIRST = 5, 40, 3
BATCH, RATE, RANK = 8, 1e-3, 16
MOST_MEDIAN, MOST_BOUND, MOST_SECONDS = 0.01, 0.03, 1.0


@dataclass(frozen=True, slots=True)
class Cost:
    """What one run cost."""

    steps: list[float]
    """CPU seconds of each"""
    until_first: float
    """seconds from the start of the process to the beginning of its first step"""
    losses: list[float]


def main(arguments: Sequence[str] = ()) -> int:
    """Print the table; 1 if a limit is passed."""
    pairs = int(arguments[0]) if arguments else PAIRS
    with TemporaryDirectory() as folder:
        here = Path(folder)
        make_llama(here / "model", SMALL)
        make_demo_data(here / "data")
        found = [measure_pair(here, number) for number in range(pairs)]
    for bare, ours in found:
        assert bare.losses == ours.losses
    ratios = [
        mine / theirs - 1
        for bare, ours in found
        for mine, theirs in zip(ours.steps[FIRST:], bare.steps[FIRST:], strict=True)
    ]
    later = [ours.until_first - bare.until_first for bare, ours in found]
    rows = [
        ("CPU time a step, median", statistics.median(ratios), MOST_MEDIAN, "{:+.2%}"),
        ("CPU time a step, upper bound (97.5 %)", upper_bound(ratios), MOST_BOUND, "{:+.2%}"),
        ("first step later, median", statistics.median(later), MOST_SECONDS, "{:+.2f} s"),
    ]
    print(f"| finetune beside bare TRL, {len(ratios)} steps each | measured | limit |\n|---|---|---|")
    for name, value, limit, form in rows:
        print(f"| {name} | {form.format(value)} | {form.format(limit)} |")
    theirs = statistics.median(step for bare, _ in found for step in bare.steps[FIRST:])
    print(f"\nA step of the bare script took {1000 * theirs:.0f} ms of CPU time.")
    return int(any(value > limit for _, value, limit, _ in rows))


def measure_pair(here: Path, number: int) -> tuple[Cost, Cost]:
    """Both at once, turn by turn; the one that begins changes."""
    (bare_waits, ours_gives), (ours_waits, bare_gives) = os.pipe(), os.pipe()
    os.write(ours_gives if number % 2 == 0 else bare_gives, b"!")
    begun = time.time()
    running = [
        _start("bare", here, waits=bare_waits, gives=bare_gives),
        _start("ours", here, waits=ours_waits, gives=ours_gives),
    ]
    for end in (bare_waits, bare_gives, ours_waits, ours_gives):
        os.close(end)
    for process in running:
        if process.wait() != 0:
            raise RuntimeError(f"{process.args!r} ended with {process.returncode}")
    bare, ours = (json.loads((here / f"{side}.json").read_text()) for side in ("bare", "ours"))
    return (
        Cost(bare["steps"], bare["first"] - begun, bare["losses"]),
        Cost(ours["steps"], ours["first"] - begun, ours["losses"]),
    )


def _start(side: str, here: Path, *, waits: int, gives: int) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "tests.perf.bench_finetune", side, str(here), str(waits), str(gives)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}
    nothing = subprocess.DEVNULL
    return subprocess.Popen(command, env=environment, stdout=nothing, stderr=nothing, pass_fds=(waits, gives))


class Watch:
    """Lets a step begin when the other side's has ended, and notes the CPU time from one to the next."""

    def __init__(self, waits: int, gives: int) -> None:
        from transformers.trainer_callback import CallbackHandler

        self.steps: list[float] = []
        self.first = self._since = 0.0
        self._waits, self._gives = waits, gives
        begins, ends = CallbackHandler.on_step_begin, CallbackHandler.on_train_end

        def on_step_begin(handler: Any, *given: Any) -> Any:
            self._end_step()
            self.first = self.first or time.time()
            os.read(self._waits, 1)  # nothing comes, and at once, when the other side is over
            self._since = time.process_time()
            return begins(handler, *given)

        def on_train_end(handler: Any, *given: Any) -> Any:
            self._end_step()
            return ends(handler, *given)

        CallbackHandler.on_step_begin = on_step_begin
        CallbackHandler.on_train_end = on_train_end

    def _end_step(self) -> None:
        if self._since:
            self.steps.append(time.process_time() - self._since)
            with contextlib.suppress(BrokenPipeError):
                os.write(self._gives, b"!")

    def write(self, file: Path, losses: list[float]) -> None:
        """Keep what was noted."""
        file.write_text(json.dumps({"steps": self.steps, "first": self.first, "losses": losses}))


def run_ours(here: Path) -> list[float]:
    """As the command does it, down to its lines on the terminal."""
    from kfp_trainer.runtime_operator.workloads.finetune import FinetuneSettings, finetune

    given = {"model": here / "model", "dataset": here / "data", "output": here / "out", "threads": 1}
    more = {"max_steps": STEPS, "batch_size": BATCH, "learning_rate": RATE, "save_every": 0, "warmup": 0}
    more |= {"log_every": 1}
    result = finetune(FinetuneSettings.model_validate({**given, **more, "lora_rank": RANK}))
    return [point.loss for point in result.curve]


def run_bare(here: Path) -> list[float]:
    """What a person would write with TRL alone for the same work."""
    import torch
    from datasets import load_dataset
    from peft import LoraConfig
    from transformers import AutoModelForCausalLM, AutoTokenizer
    from trl import SFTConfig, SFTTrainer

    torch.set_num_threads(1)
    rows = load_dataset("json", data_files=str(here / "data" / "train.jsonl"), split="train").map(_as_turns)
    config = SFTConfig(
        output_dir=str(here / "bare"),
        max_steps=STEPS,
        per_device_train_batch_size=BATCH,
        learning_rate=RATE,
        lr_scheduler_type="cosine",
        weight_decay=0.01,
        max_length=1024,
        seed=7,
        data_seed=7,
        logging_steps=1,
        logging_first_step=True,
        save_strategy="no",
        report_to="none",
        use_cpu=True,
        bf16=False,
        gradient_checkpointing=False,
        dataloader_pin_memory=False,
        completion_only_loss=True,
        disable_tqdm=True,
    )
    trainer = SFTTrainer(
        model=AutoModelForCausalLM.from_pretrained(here / "model", dtype=torch.float32),
        args=config,
        train_dataset=rows,
        processing_class=AutoTokenizer.from_pretrained(here / "model"),
        peft_config=LoraConfig(r=RANK, lora_alpha=32, target_modules="all-linear", task_type="CAUSAL_LM"),
    )
    trainer.train()
    trainer.save_model(str(here / "bare"))
    return [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]


def _as_turns(row: dict[str, str]) -> dict[str, Any]:
    return {
        "prompt": [{"role": "user", "content": row["prompt"]}],
        "completion": [{"role": "assistant", "content": row["completion"]}],
    }


def run_one(side: str, here: Path, watch: Watch) -> int:
    """One side, watched."""
    losses = run_ours(here) if side == "ours" else run_bare(here)
    watch.write(here / f"{side}.json", losses)
    return 0


if __name__ == "__main__":
    if sys.argv[1:2] in (["ours"], ["bare"]):
        side, folder, waits, gives = sys.argv[1:]
        sys.exit(run_one(side, Path(folder), Watch(int(waits), int(gives))))
    sys.exit(main(sys.argv[1:]))
