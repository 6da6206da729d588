"""What a person sees of a local run: each thing once, and training as a line that moves on a terminal."""

from io import StringIO
from pathlib import Path

import pytest

from kfp_trainer.pipelines.screen import Screen

STEP = "   step={} of=40 loss=0.2500 learning_rate=0.001 tokens_per_second=50 remaining_seconds=95"
FETCHED = (
    '   {"event": "end", "time": 1.0, "folder": "/x", "source": "hf://org/small", "revision": "r", '
    '"digest": "sha256:0", "files": 7, "bytes": 2500000, "fetched": 0, "seconds": 0.1}'
)


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


CASES = {
    "words stay as they are": ("── fetch-model\n   hello\n", "── fetch-model\n   hello\n"),
    "a fetch is told in words": (f"{FETCHED}\n", "   hf://org/small: 7 files, 2.5 MB, whole\n"),
    "the beginning of a fetch is not": ('   {"event": "begin", "time": 1.0, "bytes": 0}\n', ""),
    "JSON of somebody else stays": ('   {"event": "end of", "x\n', '   {"event": "end of", "x\n'),
    "progress is told by the trainer's own line": ("   progress: 9 %, 49 s left, loss 7.9\n", ""),
    "tokens that a step cannot count are not": ("   told: dataset: is measured so (no-model)\n", ""),
    "scores are told as before and after": (
        "   exact_match=0.95 exact_match_base=0 exact_match_gain=0.95 chrf=1 chrf_base=0.1 chrf_gain=0.9\n",
        "   exact_match 0 -> 0.95, chrf 0.1 -> 1\n",
    ),
    "scores of one model stay as they are": ("   exact_match=0.95 chrf=1\n", "   exact_match=0.95 chrf=1\n"),
    "a path is that in the run's folder": ("   asking /runs/one/tuned: 9\n", "   asking tuned: 9\n"),
    "a step stays a line in a file": (f"{STEP.format(10)}\n", f"{STEP.format(10)}\n"),
}


@pytest.mark.parametrize("sentence", CASES)
def test_in_a_file(sentence: str) -> None:
    given, expected = CASES[sentence]
    out = StringIO()
    Screen(out, folder=Path("/runs/one")).write(given)
    assert out.getvalue() == expected


def test_a_terminal_draws_the_steps_over_and_over() -> None:
    out = Terminal()
    screen = Screen(out, folder=Path("/runs/one"))
    for line in (STEP.format(10), STEP.format(40), "   the loss went down", "   next"):
        screen.write(f"{line}\n")
    assert out.getvalue().split("\r\x1b[K") == [
        "",
        "   ██████░░░░░░░░░░░░░░░░░░ step 10 of 40, loss 0.250, 1:35 left",
        "   ████████████████████████ step 40 of 40, loss 0.250, 1:35 left\n   the loss went down\n   next\n",
    ]


@pytest.mark.parametrize("loss", ["nan", "inf"])
def test_a_loss_that_is_no_number_is_drawn(loss: str) -> None:
    out = Terminal()
    Screen(out, folder=Path("/runs/one")).write(f"{STEP.format(1).replace('0.2500', loss)}\n")
    assert f"loss {loss}" in out.getvalue()
