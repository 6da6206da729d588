"""How fast eight billion parameters are fine-tuned on one GPU: LoRA, bf16, sequences of 4,096 tokens.

    python -m tests.perf.bench_finetune_gpu [STEPS]

The model has random weights and is made on the spot (16 GB on disk), the rows are mock sentences, longer than
a sequence; both change nothing about the speed. Without a GPU nothing is measured. The share of the GPU's
arithmetic (MFU) counts what LoRA must compute and no more: forward, and backward through the activations
(4 operations a weight and token, since the base has no gradients of its own), and attention over the tokens
before; what is computed twice to save memory does not count.
"""

from __future__ import annotations

import os
import statistics
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from kfp_trainer.runtime_operator.workloads.finetune import FinetuneResult, FinetuneSettings, finetune
from kfp_trainer.runtime_operator.workloads.finetune.machine import read_machine
from tests.perf.made_models import EIGHT_BILLION, long_rows, make_llama

STEPS, BATCH, LENGTH = 30, 8, 4096
FIRST = 5  # until then memory and kernels are still being settled
LEAST_TOKENS, LEAST_MFU = 12_500, 0.40
WORDS_A_TOKEN = 1.5  # of our small vocabulary a word is one token or more
PEAKS = {"H200": 989e12, "H100": 989e12, "A100": 312e12, "L40S": 362e12}
"""bf16 operations a second, dense, by the name of the GPU"""


@dataclass(frozen=True, slots=True)
class Speed:
    """What a run reached."""

    tokens_per_second: float
    flops_per_token: float
    result: FinetuneResult

    def mfu(self, peak: float) -> float:
        """The share of the arithmetic that a GPU of this peak could do."""
        return self.tokens_per_second * self.flops_per_token / peak


def main(arguments: Sequence[str] = ()) -> int:
    """Print the table; 1 if a target is missed, 0 where there is no GPU."""
    gpus = read_machine().gpus
    if not gpus:
        print("There is no GPU here: nothing is measured.")
        return 0
    steps = int(arguments[0]) if arguments else STEPS
    name = gpus[0].name
    with TemporaryDirectory(dir=os.environ.get("TMPDIR")) as folder:
        speed = measure(Path(folder), EIGHT_BILLION, steps=steps, batch=BATCH, length=LENGTH, device="cuda")
    peak = next((value for kind, value in PEAKS.items() if kind in name), None)
    rows = [("tokens/s", f"{speed.tokens_per_second:,.0f}", f"{LEAST_TOKENS:,}")]
    if peak:
        rows.append(("MFU", f"{speed.mfu(peak):.1%}", f"{LEAST_MFU:.0%}"))
    result = speed.result
    rows += [
        ("GiB of the GPU at most", f"{result.peak_memory / 2**30:.1f}", ""),
        ("GiB planned for", f"{sum(result.estimated_memory.values()) / 2**30:.1f}", ""),
        ("rows at once", f"{result.rows_at_once} × {result.accumulation}", ""),
        ("activations computed twice", "yes" if result.gradient_checkpointing else "no", ""),
    ]
    print(f"| 8B, LoRA, bf16, {LENGTH} tokens, {name} | measured | at least |\n|---|---|---|")
    for what, value, limit in rows:
        print(f"| {what} | {value} | {limit} |")
    slow = speed.tokens_per_second < LEAST_TOKENS or (peak is not None and speed.mfu(peak) < LEAST_MFU)
    return int(slow)


def measure(
    here: Path, shape: Mapping[str, Any], *, steps: int, batch: int, length: int, device: str
) -> Speed:
    """Train a model of this shape for some steps, and take the median of their speeds."""
    precision = "bf16" if device == "cuda" else "fp32"
    make_llama(here / "model", shape, device=device, precision=precision)
    rows = long_rows(here / "data", rows=steps * batch, words=int(length * WORDS_A_TOKEN))
    result = finetune(
        FinetuneSettings(
            model=here / "model",
            dataset=rows,
            output=here / "out",
            max_steps=steps,
            batch_size=batch,
            sequence_length=length,
            learning_rate=1e-4,
            merge=False,
            save_every=0,
            log_every=1,
        )
    )
    told = [point.tokens_per_second or 0.0 for point in result.curve if point.step > min(FIRST, steps - 1)]
    return Speed(statistics.median(told), flops_per_token(shape, length=length), result)


def flops_per_token(shape: Mapping[str, Any], *, length: int) -> float:
    """What LoRA must compute for a token of a sequence of this length."""
    width, layers, inner = shape["hidden_size"], shape["num_hidden_layers"], shape["intermediate_size"]
    narrow = width * shape["num_key_value_heads"] / shape["num_attention_heads"]
    weights = layers * (2 * width * width + 2 * width * narrow + 3 * width * inner)
    weights += shape["vocab_size"] * width
    attention = 6 * layers * width * length  # two products, half of them masked, forward and twice backward
    return 4 * weights + attention


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
