"""The GPU's benchmark runs, on a model small enough for a CPU; and it counts operations as it says."""

from pathlib import Path

import pytest

from tests.perf.bench_finetune_gpu import Speed, flops_per_token, measure
from tests.perf.made_models import EIGHT_BILLION

pytestmark = [
    # notices of libraries that a test process, with warnings as errors, would die of
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]
TINY = {
    "hidden_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "intermediate_size": 128,
    "vocab_size": 1000,
    "max_position_embeddings": 256,
    "tie_word_embeddings": False,
}


def test_it_runs_and_fills_every_sequence(tmp_path: Path) -> None:
    steps, batch, length = 3, 2, 128
    speed = measure(tmp_path, TINY, steps=steps, batch=batch, length=length, device="cpu")
    assert speed.result.tokens == steps * batch * length
    assert speed.result.truncated_rows == speed.result.rows == steps * batch
    assert speed.tokens_per_second > 0


def test_operations_of_a_token() -> None:
    """Eight billion weights without the table of words, four operations each, and a tenth more to attend."""
    assert flops_per_token(EIGHT_BILLION, length=4096) == pytest.approx(3.32e10, rel=0.01)
    assert flops_per_token(EIGHT_BILLION, length=0) == pytest.approx(4 * 7.50e9, rel=0.01)


def test_a_share_of_the_peak(tmp_path: Path) -> None:
    speed = Speed(12_500, 3.2e10, result=None)  # type: ignore[arg-type]  # the share needs no result
    assert speed.mfu(989e12) == pytest.approx(0.404, abs=0.001)
