"""Prepares a run by TorchTune: what is refused, what its rows come to, and the plan that follows."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ....errors import SetupError, SpecError
from ..examples import Rows
from ..machine import read_machine
from ..model_facts import ModelFacts
from ..plan import Plan, RowFacts, check_memory, make_plan
from ..processes import Place
from ..settings import FinetuneSettings
from .checks import check_torchtune
from .pace import pace_of
from .shape import Shape, shape_of
from .shims import Pace


@dataclass(frozen=True, slots=True)
class Run:
    """What a run by TorchTune is given."""

    settings: FinetuneSettings
    place: Place
    model: ModelFacts
    rows: Rows
    digests: dict[str, str]
    checkpoints: Path


@dataclass(frozen=True, slots=True)
class Ready:
    """A run that could begin at once."""

    plan: Plan
    pace: Pace
    shape: Shape
    lengths: list[int]
    """of the rows, uncut"""
    seen: list[int]
    """of the sequences as they are trained on"""


def check_run(settings: FinetuneSettings, model: ModelFacts, *, processes: int) -> None:
    """Refuse what TorchTune cannot do, and say how to install it where it is not."""
    check_torchtune(settings, model, processes=processes)
    _shape(settings, tokens=settings.sequence_length)
    for package in ("torchtune", "torchao"):
        if find_spec(package) is None:
            raise SetupError(
                f"backend: torchtune needs the package {package}, pip install kfp-trainer[torchtune]"
            )


def torchtune_plan(settings: FinetuneSettings, *, model: ModelFacts, rows: RowFacts, place: Place) -> Plan:
    """The plan; several processes always share the model out, and checkpoints are written after epochs."""
    pace = pace_of(settings, rows=rows.count)
    if not place.alone:
        settings = settings.model_copy(update={"spread": "fsdp2"})
    plan = make_plan(
        settings,
        model=model,
        rows=rows,
        machine=read_machine(),
        processes=place.processes,
        local_processes=place.local,
    )
    return replace(
        plan,
        steps=pace.total,
        warmup_steps=round(settings.warmup * pace.total),
        save_every=0 if settings.save_every == 0 else pace.steps,
    )


def prepare(run: Run) -> Ready:
    """Count the tokens of every row, and plan by them."""
    from .rows import rows_of
    from .tokenizer import FolderTokenizer

    settings = run.settings
    limit = min(settings.sequence_length, run.model.context or settings.sequence_length)
    options: dict[str, Any] = {"source": str(settings.dataset), "seed": settings.seed}
    options |= {"answers_only": settings.answers_only}
    whole = rows_of(FolderTokenizer(str(settings.model)), packed=False, **options)
    lengths = [len(row["tokens"]) for row in whole.rows]
    if min(lengths) > limit:
        raise SpecError(f"sequence_length: every row is longer than {limit} tokens, raise it")
    seen = [min(length, limit) for length in lengths]
    if settings.packing:
        packed = rows_of(FolderTokenizer(str(settings.model), limit), packed=True, **options)
        seen = [int((each["seq_lens"]).sum()) for each in packed]
    pace = pace_of(settings, rows=len(seen))
    facts = RowFacts(len(seen), max(lengths))
    plan = torchtune_plan(settings, model=run.model, rows=facts, place=run.place)
    check_memory(plan)
    return Ready(plan, pace, _shape(settings, tokens=plan.tokens), lengths, seen)


def _shape(settings: FinetuneSettings, *, tokens: int) -> Shape:
    return shape_of(json.loads((settings.model / "config.json").read_bytes()), tokens=tokens)
