"""What a careful person would want to be told about a run: of its losses, its rows, and how it went."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise

from .result import FinetuneResult, Logged

SPIKE = 2.0
LEAST_SPIKE = 0.05  # of the first loss: beside a loss near nought every small one is a multiple
FEW_ROWS = 100
OFTEN = 20
MUCH_PADDING = 0.4
WORSE = 1.02


def oddities(result: FinetuneResult) -> list[str]:
    """A sentence for each; none for a run without any."""
    return [*_of_losses(result), *_of_held_out(result), *_of_rows(result), *_of_the_run(result)]


def spikes(curve: list[Logged], *, first: float) -> list[int]:
    """The steps at which the loss jumped."""
    return [
        point.step
        for before, point in pairwise(curve)
        if point.loss > SPIKE * before.loss and point.loss - before.loss > LEAST_SPIKE * first
    ]


def _of_losses(result: FinetuneResult) -> Iterator[str]:
    bad = [point.step for point in result.curve if not math.isfinite(point.loss)]
    if bad:
        yield f"The loss became infinite or not a number at step {bad[0]}: lower the learning rate."
    elif result.last_loss >= result.first_loss:
        yield "The loss did not fall: raise the learning rate or train longer."
    found = spikes(result.curve, first=result.first_loss)
    if found:
        more = f" and {len(found) - 5} more" if len(found) > 5 else ""
        steps = ", ".join(map(str, found[:5]))
        yield f"The loss jumped to more than twice its value at step {steps}{more}."


def _of_held_out(result: FinetuneResult) -> Iterator[str]:
    looks = result.held_out
    if not looks:
        yield (
            "No held-out rows were looked at while training, so this page cannot tell learning from learning "
            "by heart: give eval_every, or evaluate the result."
        )
        return
    best = min(looks, key=lambda look: look.loss)
    if looks[-1].loss > WORSE * best.loss:
        yield (
            f"The loss on held-out rows was lowest at step {best.step} ({best.loss:.3f}) and rose to "
            f"{looks[-1].loss:.3f}: train for fewer steps, or give early_stopping."
        )


def _of_rows(result: FinetuneResult) -> Iterator[str]:
    settings, rows = result.settings, result.rows
    if result.truncated_rows:
        yield (
            f"{result.truncated_rows:,} of {rows:,} rows ({result.truncated_rows / rows:.0%}) were longer "
            f"than {settings.sequence_length} tokens and lost their end."
        )
    if rows < FEW_ROWS:
        yield f"There were only {rows:,} rows to learn from: more of them would help more than any setting."
    times = result.steps * settings.batch_size / rows
    if times > OFTEN and not settings.packing:
        yield f"Each row was seen {times:.0f} times: fewer steps, or more rows."
    if result.padding_share > MUCH_PADDING:
        yield f"{result.padding_share:.0%} of what was computed was padding between short rows: give packing."


def _of_the_run(result: FinetuneResult) -> Iterator[str]:
    if result.failed_checkpoints:
        yield f"{result.failed_checkpoints} checkpoints were given up: the disk was full."
    if result.resumed_from:
        yield f"The run was restarted and went on from step {result.resumed_from}."
