"""A terminal draws the steps over and over and keeps every other line; a file keeps all."""

import time
from io import StringIO
from pathlib import Path

import pytest

from kfp_trainer.runtime_operator.workloads.finetune.progress import ProgressLog, StepEvent
from kfp_trainer.runtime_operator.workloads.live import LiveLine

DRAWN = {
    10: "██████░░░░░░░░░░░░░░░░░░ step 10 of 40, loss 0.250, 1:35 left",
    40: "████████████████████████ step 40 of 40, loss 0.250, 1:35 left",
}


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


def followed(out: StringIO, folder: Path, *, loss: float = 0.25) -> str:
    live = LiveLine(out)
    log = ProgressLog(folder / "progress.jsonl", say=live.say, end=live.end, clock=time.time)
    for step in DRAWN:
        log.step(StepEvent(step, 40, 1.0, loss, 1e-3, None, 100, 50.0, 95.0))
        log.held_out(step, 0.5)
    log.step(StepEvent(40, 40, 1.0, loss, 1e-3, None, 100, 50.0, 95.0))
    log.close()
    return out.getvalue()


def test_a_terminal_shows_the_latest_step_and_all_else(tmp_path: Path) -> None:
    drawn = [f"\r\x1b[K{DRAWN[step]}\n" for step in (10, 40, 40)]
    looks = [f"step={step} eval_loss=0.5000\n" for step in DRAWN]
    assert followed(Terminal(), tmp_path) == f"{drawn[0]}{looks[0]}{drawn[1]}{looks[1]}{drawn[2]}"


def test_a_file_has_lines_that_collectors_read(tmp_path: Path) -> None:
    lines = followed(StringIO(), tmp_path).splitlines()
    assert [line.split()[0] for line in lines] == ["step=10", "step=10", "step=40", "step=40", "step=40"]
    assert all("loss=0." in line for line in lines)


@pytest.mark.parametrize("loss", [float("nan"), float("inf")])
def test_a_loss_that_is_no_number_is_said(loss: float, tmp_path: Path) -> None:
    assert followed(Terminal(), tmp_path, loss=loss).count("loss is no number") == 3
