"""One evaluation from settings to report: the same questions to the base and to the tuned model."""

from __future__ import annotations

import time
from importlib.metadata import version
from pathlib import Path

import click

from ...errors import SpecError
from ..files import digest, write_text
from ..models import check_model, is_adapter, load_model, load_tokenizer
from ..quiet import quiet_libraries
from ..rows import Row, find_rows, read_rows
from ..threads import limit_threads
from .comparison import EVALUATION_FILE, REPORT_FILE, Evaluation, pair_up, share_right
from .report import evaluation_report
from .settings import EvaluateSettings

LIBRARIES = ("torch", "transformers", "peft")


def evaluate(settings: EvaluateSettings) -> Evaluation:
    """Evaluate as `settings` say, and write `evaluation.json` and the report."""
    check_model(settings.model)
    _check_tuned(settings.tuned)
    file = find_rows(settings.dataset, "eval")
    rows = read_rows(file)[: settings.limit]
    digests = {"model": digest(settings.model), "rows": digest(file)}
    if settings.tuned:
        digests["tuned"] = digest(settings.tuned)
    evaluation = _measure(settings, rows, digests)
    write_text(evaluation.report, evaluation_report(evaluation))
    write_text(settings.output / EVALUATION_FILE, evaluation.model_dump_json(indent=2) + "\n")
    return evaluation


def _measure(settings: EvaluateSettings, rows: list[Row], digests: dict[str, str]) -> Evaluation:
    limit_threads(settings.threads)
    quiet_libraries()
    import torch

    torch.manual_seed(settings.seed)
    started = time.perf_counter()
    base = _answers(settings, rows, None)
    between = time.perf_counter()
    tuned = _answers(settings, rows, settings.tuned) if settings.tuned else None
    seconds = {"base": between - started, "tuned": time.perf_counter() - between}
    samples = pair_up(rows, base, tuned)
    verdicts = [sample.verdict for sample in samples]
    return Evaluation(
        base_exact_match=share_right([sample.base_right for sample in samples]),
        tuned_exact_match=share_right([sample.tuned_right for sample in samples]) if settings.tuned else None,
        rows=len(rows),
        won=verdicts.count("won"),
        lost=verdicts.count("lost") if settings.tuned else 0,
        seconds={name: round(value, 3) for name, value in seconds.items() if name in ("base", *digests)},
        device="cuda" if torch.cuda.is_available() else "cpu",
        digests=digests,
        versions={name: version(name) for name in LIBRARIES},
        report=settings.output / REPORT_FILE,
        settings=settings,
        samples=samples,
    )


def _answers(settings: EvaluateSettings, rows: list[Row], tuned: Path | None) -> list[str]:
    """The answers of the base, or of the tuned model in its place; the prompts are always the base's own."""
    from .answers import answer_all

    if tuned is None:
        model = load_model(settings.model)
    elif is_adapter(tuned):
        model = load_model(settings.model, adapter=tuned)
    else:
        model = load_model(tuned)
    tokenizer = load_tokenizer(settings.model)
    click.echo(f"answering {len(rows)} questions with {tuned or settings.model}")
    return answer_all(
        model,
        tokenizer,
        [row.prompt for row in rows],
        batch_size=settings.batch_size,
        max_new_tokens=settings.max_new_tokens,
    )


def _check_tuned(tuned: Path | None) -> None:
    if tuned is None:
        return
    if not tuned.is_dir():
        raise SpecError(f"tuned: {tuned} does not exist, give the merged or the adapter folder of a run")
    if not is_adapter(tuned):
        check_model(tuned, setting="tuned")
