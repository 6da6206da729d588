"""The page a person opens after a run: did the loss fall, how fast was it, what went in, what was odd."""

from __future__ import annotations

from ..report import (
    Bar,
    Figure,
    Html,
    Series,
    bar_chart,
    figures,
    line_chart,
    note,
    page,
    section,
    table,
)
from ..settings import shown
from .explain import size
from .oddities import oddities
from .result import FinetuneResult

GIB = 1 << 30
PARTS = {
    "prepare": "read rows and libraries",
    "load": "load the model",
    "train": "train",
    "evaluate": "look at held-out rows",
    "checkpoint": "write checkpoints",
    "save": "save the result",
    "push": "push the model",
}
METHODS = {"lora": "LoRA", "qlora": "QLoRA", "dora": "DoRA", "full": "full fine-tuning"}


def training_report(result: FinetuneResult) -> str:
    """The report as one HTML document."""
    settings = result.settings
    method, rows = METHODS[settings.method], f"{result.rows:,} rows of {settings.dataset.name}"
    return page(
        "Training report",
        f"{method} of {settings.model.name} on {rows}",
        figures(_headlines(result)),
        *[note(text) for text in oddities(result)],
        section("Loss", _losses(result)),
        section("Learning rate", _over_steps(result, "learning_rate", "learning rate")),
        section("Speed", _over_steps(result, "tokens_per_second", "tokens a second")),
        section("Memory", _memory(result)),
        section("Where the time went", _times(result)),
        section("What was chosen", table(("Choice", "Value"), _choices(result))),
        section("Settings", table(("Setting", "Value"), _settings(result))),
        section("What it was made from", table(("Part", "Value"), _lineage(result))),
    )


def _losses(result: FinetuneResult) -> Html:
    lines = [Series("loss in training", [(point.step, point.loss) for point in result.curve])]
    if result.held_out:
        lines.append(Series("loss on held-out rows", [(look.step, look.loss) for look in result.held_out]))
    what = "loss on the answers" if result.settings.answers_only else "loss"
    return line_chart(lines, x_name="step", y_name=what)


def _over_steps(result: FinetuneResult, field: str, name: str) -> Html:
    told = [(point.step, getattr(point, field)) for point in result.curve]
    return line_chart(
        [Series(name, [(step, value) for step, value in told if value is not None])],
        x_name="step",
        y_name=name,
    )


def _memory(result: FinetuneResult) -> Html:
    """What was held, step by step, beside what had been planned for."""
    told = [(point.step, point.memory / GIB) for point in result.curve if point.memory]
    drawn = [line_chart([Series("memory", told)], x_name="step", y_name="GiB of the first process")]
    planned = [(name, size(value)) for name, value in result.estimated_memory.items() if value]
    total = sum(result.estimated_memory.values())
    rows = [("held at most", size(result.peak_memory)), ("planned for, together", size(total)), *planned]
    return Html("\n".join([*(drawn if told else []), table(("For", "Memory"), rows)]))


def _headlines(result: FinetuneResult) -> list[Figure]:
    share = result.trained_parameters / result.parameters
    return [
        Figure(f"{result.last_loss:.3f}", "last loss", f"from {result.first_loss:.3f}"),
        Figure(f"{result.steps:,}", "steps", f"{result.settings.batch_size} rows each"),
        Figure(
            f"{result.seconds['train']:,.0f} s", "training time", f"{result.tokens_per_second:,.0f} tokens/s"
        ),
        Figure(size(result.peak_memory), "memory at most", f"on {result.device}, {result.precision}"),
        Figure(
            f"{share:.1%}",
            "of the weights trained",
            f"{result.trained_parameters:,} of {result.parameters:,}",
        ),
    ]


def _times(result: FinetuneResult) -> Html:
    total = sum(result.seconds.values()) or 1.0
    longest = max(result.seconds.values(), default=0.0) or 1.0
    bars = [
        Bar(PARTS[name], value / longest, f"{value:.1f} s, {value / total:.0%}")
        for name, value in result.seconds.items()
    ]
    return bar_chart(bars, leading=list(result.seconds).index("train"))


def _choices(result: FinetuneResult) -> list[tuple[str, str]]:
    spread = {"alone": "one process", "ddp": "a whole model each", "fsdp2": "a part of the model each"}
    processes = f"{result.processes} processes, {spread[result.spread]}" if result.processes > 1 else "one"
    return [
        ("precision", result.precision),
        ("processes", processes),
        ("rows at once", f"{result.rows_at_once} a process, {result.accumulation} times a step"),
        ("activations", "computed twice" if result.gradient_checkpointing else "held"),
        ("tokens", f"{result.tokens:,}, and about {result.padding_share:.0%} of all computed was padding"),
        ("rows cut off", f"{result.truncated_rows:,} of {result.rows:,}"),
    ]


def _settings(result: FinetuneResult) -> list[tuple[str, str]]:
    rows = [("method", METHODS[result.settings.method]), ("learning_rate", f"{result.settings.rate:g}")]
    for name, value in result.settings.model_dump(exclude={"method", "learning_rate"}).items():
        told = shown(value)
        if name.startswith("lora_") and not result.settings.has_adapter:
            continue
        if name == "dpo_beta" and result.settings.objective != "dpo":
            continue
        if name == "epochs" and result.settings.max_steps:
            continue
        rows.append((name, told))
    return rows


def _lineage(result: FinetuneResult) -> list[tuple[str, str]]:
    return [
        *((f"SHA-256 of the {name}", value) for name, value in result.digests.items()),
        *(result.versions.items()),
        ("device", result.device),
        ("processes", str(result.processes)),
        *([("pushed to", result.pushed)] if result.pushed else []),
    ]
