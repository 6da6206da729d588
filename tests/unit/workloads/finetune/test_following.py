"""A run's time, its curves and its padding, as its report tells them."""

from pathlib import Path

import pytest

from kfp_trainer.runtime_operator.workloads.finetune.curve import curve_of, read_steps
from kfp_trainer.runtime_operator.workloads.finetune.padding import padding_share
from kfp_trainer.runtime_operator.workloads.finetune.stopwatch import Stopwatch, Timed


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_part_within_a_part_stops_the_outer_one() -> None:
    clock = Clock()
    watch = Stopwatch(clock)
    with watch.measuring("train"):
        clock.now = 2.0
        with watch.measuring("evaluate"):
            clock.now = 5.0
        clock.now = 6.0
    clock.now = 9.0
    assert watch.seconds == {"train": 3.0, "evaluate": 3.0}


def test_time_counts_also_where_a_part_fails() -> None:
    clock = Clock()
    watch = Stopwatch(clock)
    with pytest.raises(OSError, match="full"), watch.measuring("checkpoint"):
        clock.now = 1.0
        raise OSError("full")
    assert watch.seconds == {"checkpoint": 1.0}


def test_a_trainer_counts_looks_and_checkpoints_apart() -> None:
    clock = Clock()

    class Bare:
        def evaluate(self) -> float:
            clock.now += 2
            return 0.5

        def _save_checkpoint(self, model: object, trial: object) -> None:
            clock.now += 3

    class Trainer(Timed, Bare):
        watch = Stopwatch(clock)

    trainer = Trainer()
    with trainer.watch.measuring("train"):
        assert trainer.evaluate() == 0.5
        trainer._save_checkpoint(None, None)
        clock.now += 1
    assert trainer.watch.seconds == {"train": 1.0, "evaluate": 2.0, "checkpoint": 3.0}


def test_the_curve_of_a_run_that_was_killed(tmp_path: Path) -> None:
    file = tmp_path / "progress.jsonl"
    step = '{"event": "step", "step": %d, "loss": %s, "learning_rate": 0.1, "memory": 7}'
    lines = ['{"event": "start"}', step % (1, 3.0), step % (2, 2.5), '{"event": "st', step % (2, "null")]
    file.write_text("\n".join(lines) + "\n")
    first, second = curve_of(read_steps(file))
    assert (first.step, first.loss, first.memory, first.tokens_per_second) == (1, 3.0, 7, None)
    assert second.step == 2
    assert second.loss != second.loss  # of a step done twice the newer counts, and it was no number
    assert read_steps(tmp_path / "none") == {}


PADDING: dict[str, tuple[list[int], int, int, float]] = {
    "rows of one length": ([5, 5, 5, 5], 2, 100, 0.0),
    "one at a time": ([1, 9, 3], 1, 100, 0.0),
    "a short one beside a long one": ([2, 10], 2, 100, 0.4),
    "the long one is cut": ([2, 10], 2, 4, 0.25),
    "no rows": ([], 2, 4, 0.0),
}


@pytest.mark.parametrize("sentence", PADDING)
def test_padding(sentence: str) -> None:
    lengths, together, limit, expected = PADDING[sentence]
    assert padding_share(lengths, together=together, limit=limit) == pytest.approx(expected)
