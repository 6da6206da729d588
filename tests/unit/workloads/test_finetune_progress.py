"""Progress is read by people, by programs and by Katib's collector."""

import json
import re

from kfp_trainer.runtime_operator.workloads.finetune.progress import ProgressLog, StepEvent, step_line

# the filter that Katib's StdOut collector uses when an experiment names none
KATIB = re.compile(r"([\w|-]+)\s*=\s*([+-]?\d*(\.\d+)?([Ee][+-]?\d+)?)")
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
    assert {name: float(value) for name, value, *_ in KATIB.findall(step_line(EVENT))} == {
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
