import pytest

from kfp_trainer.runtime_operator.cli.readout import Readout, span

LINES = {
    "our own workloads": (
        "step=10 of=60 loss=1.2346 learning_rate=0.001 tokens_per_second=123 remaining_seconds=65",
        "step 10/60 · loss 1.235 · 123 tokens/s · 1 min 05 s left",
    ),
    "torchtune's log": (
        "Step 60 | loss:1.046108603477478 lr:0.001 tokens_per_second_per_gpu:1958.5950927734375 ",
        "step 60 · loss 1.046 · 1959 tokens/s",
    ),
    "JSON": (
        '{"step":60,"max_steps":100,"loss":5.675,"tokens_per_s":4336.6}',
        "step 60/100 · loss 5.675 · 4337 tokens/s",
    ),
    "a loss in the notation of small numbers": ("step=1 loss=1e-05", "step 1 · loss 1e-05"),
}


@pytest.mark.parametrize("sentence", LINES)
def test_lines_of_progress(sentence):
    line, expected = LINES[sentence]
    readout = Readout()
    assert readout.take_line(line)
    assert readout.text() == expected


@pytest.mark.parametrize(
    "line", ["hello", "step=3 without more", "version 1.2.3", "loss of time: none", "closs=3 ostep=4"]
)
def test_other_lines_are_no_progress(line):
    readout = Readout()
    assert not readout.take_line(line)
    assert readout.text() == ""


def test_a_line_with_a_loss_alone_counts_but_is_printed():
    readout = Readout()
    assert not readout.take_line("train loss=0.5 at the end")
    assert readout.text() == "loss 0.5"


def test_posted_progress():
    readout = Readout()
    readout.take_progress(45, 120, {"loss": "0.15", "note": "fine"})
    assert readout.text() == "45 % · loss 0.15 · 2 min 00 s left"
    readout.take_progress(50, None, {"total_steps": "60", "step": "30"})
    assert readout.text() == "step 30/60 · loss 0.15 · 2 min 00 s left"


@pytest.mark.parametrize(
    "seconds, text", [(5.4, "5 s"), (65, "1 min 05 s"), (3600, "1 h 00 min"), (7385, "2 h 03 min")]
)
def test_span(seconds, text):
    assert span(seconds) == text
