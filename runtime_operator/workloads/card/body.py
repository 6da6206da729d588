"""The text of a card, each part from facts; what is not known is listed as such."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ..settings import shown
from .facts import METHODS, OBJECTIVES, PLACES, CardFacts
from .origin import Origin

if TYPE_CHECKING:
    from ..evaluate.comparison import Estimate

UNKNOWN = "unknown"
USE_WHOLE = """```python
from transformers import AutoModelForCausalLM, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained(folder)  # this folder
model = AutoModelForCausalLM.from_pretrained(folder)
{ask}
```"""
USE_ADAPTER = """```python
from peft import PeftModel
from transformers import AutoModelForCausalLM, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained(base)  # the folder of the base model
model = PeftModel.from_pretrained(AutoModelForCausalLM.from_pretrained(base), folder)  # this folder
{ask}
```"""
ASK = """turns = [{"role": "user", "content": question}]
options = {"add_generation_prompt": True, "return_tensors": "pt", "return_dict": True}
asked = tokenizer.apply_chat_template(turns, **options)
said = model.generate(**asked, max_new_tokens=64, do_sample=False)
print(tokenizer.decode(said[0][asked["input_ids"].shape[1]:], skip_special_tokens=True))"""


def card_body(facts: CardFacts, *, adapter: bool) -> str:
    """Everything below the head."""
    use = (USE_ADAPTER if adapter else USE_WHOLE).replace("{ask}", ASK)
    parts = [
        f"# {facts.name}",
        _what(facts, adapter=adapter),
        "## How good it is",
        _measured(facts),
        "## How to use it",
        use,
        "## What it was made from",
        _lineage(facts),
        "## How it was trained",
        "\n\n".join([_training(facts), *(f"> {warning}" for warning in facts.run.warnings)]),
        "## What is not known",
        "\n".join(f"- {text}" for text in _unknown(facts)),
    ]
    return "\n\n".join(parts) + "\n"


def _what(facts: CardFacts, *, adapter: bool) -> str:
    run, base = facts.run, facts.base.name
    what = f"An adapter for {base}, trained" if adapter else f"{base}, trained"
    how = f"with {METHODS[run.settings.method]} {OBJECTIVES[run.settings.objective]}"
    return (
        f"{what} {how} {run.rows:,} rows of {facts.dataset.name}, "
        f"by kfp-trainer {facts.code} in {run.steps:,} steps."
    )


def _measured(facts: CardFacts) -> str:
    evaluation = facts.evaluation
    if evaluation is None:
        return (
            f"How good it is, is {UNKNOWN}: it has not been evaluated. `kfp-trainer evaluate` fills this in."
        )
    rows_of = [f"{evaluation.rows:,} rows of {facts.judged.name}"] if facts.judged else []
    said = f"Base and tuned model were asked the same: {', '.join([*rows_of, *evaluation.settings.tasks])}"
    sure = f"in brackets the {evaluation.settings.confidence:.0%} interval"
    rows = [
        (
            score.name + (" (lower is better)" if score.lower_is_better else ""),
            _shown(score.base),
            _shown(score.tuned),
            _shown(score.difference),
        )
        for score in evaluation.scores
    ]
    counted = f"Tuning made {evaluation.won:,} answers better and {evaluation.lost:,} worse."
    table = _table(("score", "base", "tuned", "difference"), rows)
    return "\n\n".join([f"{said}; {sure}.", table, *([counted] if evaluation.leading else [])])


def _lineage(facts: CardFacts) -> str:
    run = facts.run
    rows = [
        *_origin_rows("base model", facts.base),
        ("its SHA-256", run.digests.get("model", UNKNOWN)),
        ("its weights", f"{run.parameters - (run.trained_parameters if run.adapter else 0):,}"),
        *_origin_rows("dataset", facts.dataset),
        ("its rows", f"{run.rows:,} to train on, {run.truncated_rows:,} of them cut off"),
        ("SHA-256 of the rows", run.digests.get("rows", UNKNOWN)),
        ("SHA-256 of the settings", facts.settings_digest),
        ("made by", f"kfp-trainer {facts.code}"),
        *((name, number) for name, number in run.versions.items()),
    ]
    return _table(("part", "value"), rows)


def _origin_rows(what: str, origin: Origin) -> Iterable[tuple[str, str]]:
    yield what, origin.name
    yield "fetched from", origin.source or UNKNOWN
    yield "revision", origin.revision or UNKNOWN
    if origin.converted:
        yield "converted from", origin.converted
    yield "licence", origin.licence or UNKNOWN


def _training(facts: CardFacts) -> str:
    run = facts.run
    ran = [
        ("loss", f"{run.first_loss:.4f} at first, {run.last_loss:.4f} at last"),
        ("weights trained", f"{run.trained_parameters:,}"),
        ("tokens seen", f"{run.tokens:,}"),
        ("time", f"{run.seconds['train']:,.0f} s, {run.tokens_per_second:,.0f} tokens a second"),
        ("on", f"{run.device}, {run.processes} {'process' if run.processes == 1 else 'processes'}"),
        ("computed in", run.precision),
    ]
    given = {**run.settings.model_dump(exclude=PLACES), "learning_rate": run.settings.rate}
    return _table(("what", "value"), [*ran, *((f"`{name}`", shown(value)) for name, value in given.items())])


def _unknown(facts: CardFacts) -> list[str]:
    found = []
    for what, origin in (("base model", facts.base), ("dataset", facts.dataset)):
        if origin.source is None:
            found.append(f"Where the {what} comes from; its SHA-256 above tells whether two are the same.")
        if origin.licence is None:
            found.append(f"The licence of the {what}, and so what may be done with this model.")
    if facts.evaluation is None:
        found.append("Whether it is better than its base.")
    found.append(
        "What it says to questions unlike those rows, and whether it is fair or safe: nobody measured it."
    )
    return found


def _shown(estimate: Estimate | None) -> str:
    if estimate is None:
        return ""
    if estimate.low is None or estimate.high is None:
        return f"{estimate.value:.4g}"
    return f"{estimate.value:.4g} ({estimate.low:.4g} to {estimate.high:.4g})"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *([_cell(each) for each in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
