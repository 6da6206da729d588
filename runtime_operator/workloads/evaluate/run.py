"""One evaluation from settings to report: the same questions to the base and to the tuned model."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import click

from ...errors import SpecError
from ..card import add_evaluation
from ..files import digest
from ..models import load_tokenizer
from ..quiet import quiet_libraries
from ..threads import limit_threads
from .asking import Asker, Said
from .comparison import REPORT_FILE, Evaluation, verdicts
from .judging import PERPLEXITY
from .models import check_models, check_words, is_served, open_model
from .outcome import clear_outcome, write_outcome
from .questions import Question, read_questions
from .scoring import judge_all, score_all
from .settings import EvaluateSettings
from .tasks import Results, check_tasks, run_tasks, score_tasks

LIBRARIES = ("torch", "transformers", "peft", "lm_eval")


@dataclass(frozen=True, slots=True)
class _Told:
    """What one model says to everything."""

    said: list[Said]
    results: Results
    prompts: str | None
    """the digest of what it was asked"""
    seconds: float


def evaluate(settings: EvaluateSettings) -> Evaluation:
    """Evaluate as `settings` say, and write `evaluation.json`, `metrics.json` and the report."""
    check_models(settings.model, settings.tuned)
    questions = read_questions(settings.dataset, limit=settings.limit) if settings.dataset else []
    _check_questions(settings, questions)
    quiet_libraries()
    check_words(settings.model, settings.tuned)
    check_tasks(settings.tasks)
    clear_outcome(settings.output)
    evaluation = _measure(settings, questions)
    write_outcome(evaluation, settings.output)
    if settings.tuned and not is_served(settings.tuned):
        add_evaluation(Path(settings.tuned), evaluation)
    return evaluation


def _check_questions(settings: EvaluateSettings, questions: Sequence[Question]) -> None:
    kinds = {bool(each.choices) for each in questions}
    if len(kinds) > 1:
        raise SpecError("dataset: some rows have choices and some have not, evaluate them apart")
    if settings.has_served and any(each.tools for each in questions):
        raise SpecError("dataset: its rows have tools, which a served model is not told of; give a folder")
    if kinds == {True} and settings.has_served:
        raise SpecError("dataset: its rows have choices, and a served chat model tells no probabilities")


def _measure(settings: EvaluateSettings, questions: Sequence[Question]) -> Evaluation:
    limit_threads(settings.threads)
    import torch

    models = {"base": settings.model, "tuned": settings.tuned}
    told = {role: _ask(settings, model, questions) for role, model in models.items() if model}
    said = [each.said for each in told.values()]
    samples = judge_all(settings, questions, said)
    leading = next(iter(samples[0].base_scores), None) if samples else None
    found = verdicts(samples, leading) if leading and settings.tuned else []
    scores = score_tasks(settings, [each.results for each in told.values()])
    return Evaluation(
        scores=[*score_all(settings, samples, said), *scores],
        leading=leading,
        rows=len(questions),
        won=found.count("won"),
        lost=found.count("lost"),
        seconds={role: each.seconds for role, each in told.items()},
        device="cuda" if torch.cuda.is_available() else "cpu",
        digests=_digests(settings, [each.prompts for each in told.values()]),
        versions={name: version(name) for name in LIBRARIES},
        report=settings.output / REPORT_FILE,
        settings=settings,
        samples=samples,
    )


def _ask(settings: EvaluateSettings, name: str, questions: Sequence[Question]) -> _Told:
    """All answers of one model; it is forgotten afterwards, so that two never stand in memory."""
    import torch

    begun = time.perf_counter()
    what = [f"{len(questions)} questions"] if questions else []
    click.echo(f"asking {name}: {', '.join([*what, *settings.tasks])}")
    torch.manual_seed(settings.seed)
    model = open_model(
        name,
        base=settings.model,
        batch_size=settings.batch_size,
        patience=settings.patience,
        seed=settings.seed,
    )
    tokenizer: Any = None
    if not is_served(name):
        tokenizer = load_tokenizer(Path(name if is_served(settings.model) else settings.model))
    asker = Asker(model, tokenizer, max_new_tokens=settings.max_new_tokens)
    said = asker.ask(questions, wants_perplexity=PERPLEXITY in settings.judges and tokenizer is not None)
    results = run_tasks(settings, model, chat=True) if settings.tasks else {}
    prompts = asker.digest(questions) if questions else None
    return _Told(said, results, prompts, round(time.perf_counter() - begun, 3))


def _digests(settings: EvaluateSettings, prompts: Sequence[str | None]) -> dict[str, str]:
    parts = {"model": settings.model, "tuned": settings.tuned, "rows": settings.dataset}
    found = {name: digest(Path(part)) for name, part in parts.items() if part and not is_served(str(part))}
    asked = next((each for each in prompts if each), None)
    return found | ({"prompts": asked} if asked else {})
