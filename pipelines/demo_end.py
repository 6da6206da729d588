"""What a person reads when the demonstration is over: what was learnt, where to look, what to try next."""

from __future__ import annotations

import json
import shlex
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from .demo_material import Material, program

WORKSPACE = "workspace"
TUNED, EVALUATED = f"{WORKSPACE}/tuned", f"{WORKSPACE}/evaluation"
OPEN = {
    "evaluation/evaluation_report.html": "base and tuned, answer by answer",
    "tuned/training_report.html": "how it was trained",
    "tuned/merged/README.md": "the tuned model's card",
}
SHOWN = 3
LONGEST = 90
PAGE = "https://github.com/kfp-trainer/kfp-trainer/blob/main/docs/fine_tune_your_own_data.md"


def results(folder: Path, material: Material) -> Iterator[str]:
    """What the model has learnt, where to look, and what to try next."""
    run = json.loads((folder / TUNED / "result.json").read_text(encoding="utf-8"))
    evaluation = json.loads((folder / EVALUATED / "evaluation.json").read_text(encoding="utf-8"))
    score = next(each for each in evaluation["scores"] if each["name"] == "exact_match")
    base, tuned = (score[which]["value"] for which in ("base", "tuned"))
    rows = evaluation["rows"]
    yield f"\nRight answers   {base:.0%} -> {tuned:.0%} of {rows} messages that neither has seen"
    yield f"Loss            {run['first_loss']:.3f} -> {run['last_loss']:.3f} in {run['steps']} steps"
    for sample in chosen(evaluation["samples"]):
        yield ""
        yield from side_by_side(sample)
    yield f"\nOpen, in {in_short(folder / WORKSPACE)}"
    for name, what in OPEN.items():
        yield f"  {name:34} {what}"
    yield "\nTry next"
    yield from suggestions(material)


def chosen(samples: list[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """A few rows: one that the tuned model has wrong, if there is one, and the first that it has right."""
    wrong = [sample for sample in samples if sample["tuned"] != sample["expected"]]
    right = [sample for sample in samples if sample["tuned"] == sample["expected"]]
    return [*right, *wrong][:SHOWN] if len(right) < SHOWN or not wrong else [*right[: SHOWN - 1], wrong[0]]


def side_by_side(sample: Mapping[str, Any]) -> Iterator[str]:
    """A row as both models answer it."""
    right = sample["tuned"] == sample["expected"]
    yield f"  {shortened(sample['prompt'].rpartition('user: ')[2])}"
    yield f"    base      {shortened(sample['base'])}"
    yield f"    tuned     {shortened(sample['tuned'])}{'  (right)' if right else ''}"
    if not right:
        yield f"    expected  {shortened(sample['expected'])}"


def shortened(text: str) -> str:
    """A text in one line."""
    return textwrap.shorten(text, LONGEST, placeholder=" …") or "(nothing)"


def suggestions(material: Material) -> Iterator[str]:
    """Three things to do next, as commands that can be pasted."""
    call, model, data = shlex.quote(program()), material.model.as_uri(), material.data.as_uri()
    yield "  your own rows: what would be done with them; then the same without --explain"
    yield f"    {call} finetune --model {in_short(material.model)} \\"
    yield "      --dataset ROWS.jsonl --output mine --explain"
    yield f"  {PAGE}"
    yield "  more nodes: the same training as two processes that compute together"
    yield f"    {call} pipelines run finetune_llm --local -p 'training_job={{nodes: 2}}' \\"
    yield f"      -p model={model} \\"
    yield f"      -p dataset={data} -p 'training={{max_steps: 20}}'"
    yield "  a cluster: the same pipeline, to upload in the Pipelines UI"
    yield f"    {call} pipelines compile finetune_llm"


def in_short(path: Path) -> str:
    """A path as a person would type it into a shell."""
    home = Path.home()
    if path.is_relative_to(home) and shlex.quote(plain := str(path.relative_to(home))) == plain:
        return f"~/{plain}"
    return shlex.quote(str(path))
