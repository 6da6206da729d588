"""The page a person opens after a run: did the loss fall, how fast was it, what went in, what was odd."""

from __future__ import annotations

import math
from pathlib import Path

from ..report import Figure, Html, Series, figures, line_chart, note, page, section, table
from .result import FinetuneResult

SPIKE = 2.0
METHODS = {"lora": "LoRA", "full": "full fine-tuning"}


def training_report(result: FinetuneResult) -> str:
    """The report as one HTML document."""
    settings = result.settings
    method, rows = METHODS[settings.method], f"{result.rows:,} rows of {settings.dataset.name}"
    loss = Series("loss", [(point.step, point.loss) for point in result.curve])
    rate = Series("learning rate", [(point.step, point.learning_rate) for point in result.curve])
    return page(
        "Training report",
        f"{method} of {settings.model.name} on {rows}",
        figures(_headlines(result)),
        *[note(text) for text in oddities(result)],
        section("Loss", line_chart([loss], x_name="step", y_name="loss on the answers")),
        section("Learning rate", line_chart([rate], x_name="step", y_name="learning rate")),
        section("Where the time went", _times(result)),
        section("Settings", table(("Setting", "Value"), _settings(result))),
        section("What it was made from", table(("Part", "Value"), _lineage(result))),
    )


def oddities(result: FinetuneResult) -> list[str]:
    """What a careful person would want to be told about this run."""
    found = []
    losses = [point.loss for point in result.curve]
    if not all(math.isfinite(loss) for loss in losses):
        found.append("The loss became infinite or not a number: lower the learning rate.")
    elif result.last_loss >= result.first_loss:
        found.append("The loss did not fall: raise the learning rate or train longer.")
    spikes = [
        point.step
        for before, point in zip(result.curve, result.curve[1:], strict=False)
        if point.loss > SPIKE * before.loss
    ]
    if spikes:
        found.append(
            f"The loss jumped to more than twice its value at step {', '.join(map(str, spikes[:5]))}."
        )
    if result.truncated_rows:
        found.append(
            f"{result.truncated_rows:,} of {result.rows:,} rows were longer than "
            f"{result.settings.sequence_length} tokens and lost their end."
        )
    if result.resumed_from:
        found.append(f"The run was restarted and went on from step {result.resumed_from}.")
    return found


def _headlines(result: FinetuneResult) -> list[Figure]:
    share = result.trained_parameters / result.parameters
    return [
        Figure(f"{result.last_loss:.3f}", "last loss", f"from {result.first_loss:.3f}"),
        Figure(f"{result.steps:,}", "steps", f"{result.settings.batch_size} rows each"),
        Figure(
            f"{result.seconds['train']:.0f} s", "training time", f"{result.tokens_per_second:,.0f} tokens/s"
        ),
        Figure(
            f"{share:.1%}",
            "of the weights trained",
            f"{result.trained_parameters:,} of {result.parameters:,}",
        ),
    ]


def _times(result: FinetuneResult) -> Html:
    total = sum(result.seconds.values())
    names = {"prepare": "load the model and the rows", "train": "train", "save": "save"}
    rows = [(names[name], f"{value:.1f} s", f"{value / total:.0%}") for name, value in result.seconds.items()]
    return table(("Part", "Seconds", "Share"), rows, numbers=(1, 2))


def _settings(result: FinetuneResult) -> list[tuple[str, str]]:
    rows = [("method", METHODS[result.settings.method]), ("learning_rate", f"{result.settings.rate:g}")]
    for name, value in result.settings.model_dump(exclude={"method", "learning_rate"}).items():
        shown = _written(value)
        if name.startswith("lora_") and result.settings.method != "lora":
            continue
        if name == "epochs" and result.settings.max_steps:
            continue
        rows.append((name, shown))
    return rows


def _written(value: object) -> str:
    match value:
        case None:
            return "not set"
        case tuple():
            return ", ".join(value)
        case float():
            return f"{value:g}"
        case Path():
            return value.name
        case _:
            return str(value)


def _lineage(result: FinetuneResult) -> list[tuple[str, str]]:
    return [
        *((f"SHA-256 of the {name}", value) for name, value in result.digests.items()),
        *(result.versions.items()),
        ("device", result.device),
        ("processes", str(result.processes)),
    ]
