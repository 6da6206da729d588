"""Writes the cards of a run: one into `adapter/`, one into `merged/`, whichever there are.

A model that is measured later gets its figures then, if it still lies in the folder of the run that made it;
the run's own record says whether it does.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import ValidationError

from ..files import CARD_FILE, write_text
from .body import card_body
from .facts import CardFacts, read_facts
from .head import card_head

if TYPE_CHECKING:
    from ..evaluate.comparison import Evaluation
    from ..finetune.result import FinetuneResult


def write_cards(run: FinetuneResult, evaluation: Evaluation | None = None) -> list[Path]:
    """Write the card of each folder that the run filled; return where they are."""
    facts = read_facts(run, evaluation)
    folders = dict.fromkeys([run.model, *([run.adapter] if run.adapter else [])])
    cards = {folder / CARD_FILE: model_card(facts, adapter=folder == run.adapter) for folder in folders}
    for file, text in cards.items():
        write_text(file, text)
    return list(cards)


def model_card(facts: CardFacts, *, adapter: bool) -> str:
    """The card as one Markdown document."""
    return f"---\n{card_head(facts, adapter=adapter)}---\n{card_body(facts, adapter=adapter)}"


def add_evaluation(tuned: Path, evaluation: Evaluation) -> list[Path]:
    """Write the figures into the cards of the run that made `tuned`, if one did and they are of its base."""
    from ..finetune.result import RESULT_FILE, FinetuneResult

    file = tuned.parent / RESULT_FILE
    try:
        run = FinetuneResult.model_validate_json(file.read_bytes())
    except (OSError, ValidationError):
        return []
    if run.digests["model"] != evaluation.digests.get("model"):
        return []  # it was compared with another base
    here = {folder: tuned.parent / folder.name for folder in (run.model, run.adapter) if folder}
    if tuned.absolute() not in (folder.absolute() for folder in here.values()):
        return []
    moved = {"model": here[run.model], "adapter": here.get(run.adapter) if run.adapter else None}
    return write_cards(run.model_copy(update=moved), evaluation)
