"""The demonstration: a small chat model, rows that it does badly on, and the pipeline that mends it.

It is the pipeline `finetune_llm` as it runs on a cluster, with a TrainJob whose JobSet runs as processes
here. What was fetched or made is kept in the cache: a second run starts at once and needs no network.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import textwrap
import time
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from kfp_trainer.runtime_operator.errors import SetupError
from kfp_trainer.runtime_operator.settings import Settings

from .demo_material import Material, Say, program, small_material, tiny_material

NEEDED = ("kfp", "torch", "transformers", "trl", "peft", "datasets", "lm_eval")
TUNED, EVALUATED = "workspace/tuned", "workspace/evaluation"
RULES = "exact_match >= base + 0.2"
SHOWN = 3
PATIENCE = 60.0
"""seconds that processes get to end: they have 30 for their last checkpoint"""
LONGEST = 120


def run_demo(settings: Settings, *, tiny: bool, say: Say) -> Path:
    """Run the demonstration and return the folder of its results."""
    started = time.monotonic()
    require_packages()
    material = (tiny_material if tiny else small_material)(settings.cache / "demo", say)
    say(f"Teach {material.name} to {material.about}, and compare it with its base.")
    folder = settings.runs / f"demo-{datetime.now(UTC):%Y%m%d-%H%M%S}"
    say(f"The pipeline finetune_llm runs here; its results go to {folder}\n")
    try:
        run_pipeline(material, folder)
    except KeyboardInterrupt:
        say("\nStop, and take away what this run has begun …")
        take_away(folder)
        raise
    for line in results(folder, material):
        say(line)
    say(f"\nDone in {time.monotonic() - started:.0f} s.")
    return folder


def require_packages() -> None:
    """Raise SetupError when this installation cannot train."""
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise SetupError(
            f"this needs {', '.join(missing)}: pip install 'kfp-trainer[local,pipelines]' "
            "(3.2 GB to download: torch brings its CUDA libraries)"
        )


def run_pipeline(material: Material, folder: Path) -> None:
    """Fetch, check, fine-tune, evaluate and gate, as on a cluster."""
    from kfp_trainer.runtime_operator.jobs.place import VARIABLE as PLACE_VARIABLE

    from .catalogue import load_pipeline
    from .local_run import run_local

    arguments = {
        "model": material.model.as_uri(),
        "dataset": material.data.as_uri(),
        "training": dict(material.training),
        "evaluation": dict(material.evaluation),
        "evaluation_rules": RULES,
    }
    os.environ[PLACE_VARIABLE] = "local"  # whatever cluster is usual here: the folders are of this machine
    run_local(load_pipeline("finetune_llm"), arguments, folder)


def take_away(folder: Path) -> None:
    """End the jobs of a run that is broken off, and remove its folder."""
    from kfp_trainer.runtime_operator.jobs import open_jobs

    jobs = open_jobs(place="local")
    for job in jobs.list():
        if str(folder) in json.dumps(job.train_job["spec"]):
            jobs.delete(job.name, timeout=PATIENCE)
    shutil.rmtree(folder, ignore_errors=True)


def results(folder: Path, material: Material) -> Iterator[str]:
    """What the model has learnt, where to look, and what to try next."""
    run = json.loads((folder / TUNED / "result.json").read_text(encoding="utf-8"))
    evaluation = json.loads((folder / EVALUATED / "evaluation.json").read_text(encoding="utf-8"))
    score = next(each for each in evaluation["scores"] if each["name"] == "exact_match")
    base, tuned = (score[which]["value"] for which in ("base", "tuned"))
    yield f"\nRight answers   {base:.0%} -> {tuned:.0%} of {evaluation['rows']} held-out messages"
    yield f"Loss            {run['first_loss']:.3f} -> {run['last_loss']:.3f} in {run['steps']} steps"
    for sample in chosen(evaluation["samples"]):
        yield ""
        yield from side_by_side(sample)
    yield "\nOpen"
    for name in (f"{EVALUATED}/evaluation_report.html", f"{TUNED}/training_report.html"):
        yield f"  {folder / name}"
    yield f"  {folder / TUNED / 'merged/README.md'}"
    yield "\nTry next"
    yield from suggestions(material)


def chosen(samples: list[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """A few rows: one that the tuned model has wrong, if there is one, and the first that it has right."""
    wrong = [sample for sample in samples if sample["tuned"] != sample["expected"]]
    right = [sample for sample in samples if sample["tuned"] == sample["expected"]]
    return [*right, *wrong][:SHOWN] if len(right) < SHOWN or not wrong else [*right[: SHOWN - 1], wrong[0]]


def side_by_side(sample: Mapping[str, Any]) -> Iterator[str]:
    """A row as both models answer it."""
    verdict = "right" if sample["tuned"] == sample["expected"] else f"wrong, it is {sample['expected']}"
    yield f"  {shortened(sample['prompt'].rpartition('user: ')[2])}"
    yield f"    base    {shortened(sample['base'])}"
    yield f"    tuned   {shortened(sample['tuned'])}  ({verdict})"


def shortened(text: str) -> str:
    """A text in one line."""
    return textwrap.shorten(text, LONGEST, placeholder=" …") or "(nothing)"


def suggestions(material: Material) -> Iterator[str]:
    """Three things to do next, as commands that can be pasted."""
    call, model, data = shlex.quote(program()), shlex.quote(str(material.model)), material.data.as_uri()
    yield "  your own rows: what would be done with them, and then do it without --explain"
    yield f"    {call} finetune --model {model} --dataset ROWS.jsonl --output mine --explain"
    yield "  two nodes: the same training as two processes that compute together"
    yield f"    {call} pipelines run finetune_llm --local -p model={material.model.as_uri()} \\"
    yield f"      -p dataset={data} -p 'training_job={{nodes: 2}}' -p 'training={{max_steps: 20}}'"
    yield "  a cluster: the same pipeline, to upload in the Pipelines UI"
    yield f"    {call} pipelines compile finetune_llm"
