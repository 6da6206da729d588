"""Progress is read by people, by programs and by Katib's collector."""

import json
import math
from dataclasses import replace

from kfp_trainer.runtime_operator.workloads.finetune.progress import ProgressLog, StepEvent, step_line
from tests.katib import collected

EVENT = StepEvent(
    step=10,
    of=200,
    epoch=0.5,
    loss=2.31,
    learning_rate=1e-05,
    gradient_norm=float("nan"),
    tokens=900,
    tokens_per_second=456.7,
    remaining_seconds=12.3,
)


def test_katib_reads_every_value_of_a_line() -> None:
    assert {name: float(value) for name, value in collected(step_line(EVENT))} == {
        "step": 10,
        "of": 200,
        "loss": 2.31,
        "learning_rate": 1e-05,
        "tokens_per_second": 457,
        "remaining_seconds": 12,
    }


def test_events_are_one_json_line_each(tmp_path) -> None:
    said: list[str] = []
    log = ProgressLog(tmp_path / "out" / "progress.jsonl", say=said.append, clock=lambda: 5.0)
    log.write("start", steps=200)
    log.step(EVENT)
    log.close()
    start, step = map(json.loads, (tmp_path / "out" / "progress.jsonl").read_text().splitlines())
    assert start == {"event": "start", "time": 5.0, "steps": 200}
    assert (step["event"], step["loss"], step["gradient_norm"]) == ("step", 2.31, None)
    assert said == [step_line(EVENT)]


def test_a_look_at_held_out_rows_is_no_loss_of_training(tmp_path) -> None:
    said: list[str] = []
    log = ProgressLog(tmp_path / "progress.jsonl", say=said.append, clock=lambda: 5.0)
    log.held_out(20, 1.25)
    log.close()
    [event] = map(json.loads, (tmp_path / "progress.jsonl").read_text().splitlines())
    assert event == {"event": "held_out", "time": 5.0, "step": 20, "eval_loss": 1.25}
    found = {name: float(value) for name, value in collected(said[0])}
    assert found == {"step": 20, "eval_loss": 1.25}


def test_a_loss_that_is_no_number_is_none_for_katib(tmp_path) -> None:
    said: list[str] = []
    log = ProgressLog(tmp_path / "progress.jsonl", say=said.append)
    for value in (math.nan, math.inf, -math.inf):
        log.step(replace(EVENT, loss=value))
        log.held_out(20, value)
    log.close()
    assert collected("\n".join(said), "loss", "eval_loss") == []
    assert all("loss is no number" in line for line in said)
