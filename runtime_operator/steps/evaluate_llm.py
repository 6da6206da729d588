"""What `evaluate_llm` does: ask base and tuned model the same questions, in the step's own container."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..workloads.evaluate import EvaluateSettings, Evaluation
from ..workloads.settings import parse_settings
from .documents import document, own_folder
from .outputs import every_output, log_metrics, write_file, write_value

if TYPE_CHECKING:
    from kfp import dsl

    from ..workloads.evaluate.comparison import Estimate, Score


def evaluate_llm(
    model_path: str,
    dataset_path: str,
    output_path: str,
    evaluation_report: dsl.HTML,
    evaluation_metrics: dsl.Metrics,
    summary: dsl.Markdown,
    evaluation_path: str,
    score: str,
    tuned_path: str,
    settings: Mapping[str, Any] | None,
) -> None:
    """Evaluate and fill the outputs; the score is the leading one, of the tuned model if there is one."""
    from ..workloads.evaluate import evaluate

    with every_output("Evaluation", evaluation_report, summary, values={evaluation_path: "", score: 0.0}):
        output = own_folder(output_path)
        models = {"model": model_path, **({"tuned": tuned_path} if tuned_path else {})}
        rows = {"dataset": dataset_path} if dataset_path else {}
        evaluation = evaluate(
            parse_settings(EvaluateSettings, document(settings, **models, **rows, output=str(output)))
        )
        log_metrics(evaluation_metrics, evaluation.metrics)
        write_file(evaluation_report, evaluation.report.read_text(encoding="utf-8"))
        write_file(summary, summary_of(evaluation))
        write_value(evaluation_path, str(output))
        write_value(score, leading_score(evaluation))
        print(evaluation.line, flush=True)


def leading_score(evaluation: Evaluation) -> float:
    """The figure by which rows are won and lost, or the first one."""
    return evaluation.metrics[evaluation.leading or evaluation.scores[0].name]


def summary_of(evaluation: Evaluation) -> str:
    """The scores as a table, in Markdown."""
    head = ["# Evaluation", "", f"{evaluation.rows:,} held-out rows."]
    if evaluation.settings.tuned:
        head[-1] += f" Tuning made {evaluation.won} answers better and {evaluation.lost} worse."
    lines = ["", "| score | base | tuned | difference |", "|---|---|---|---|"]
    return "\n".join([*head, *lines, *(_row(score) for score in evaluation.scores)]) + "\n"


def _row(score: Score) -> str:
    cells = (_cell(score.base), _cell(score.tuned), _cell(score.difference))
    return f"| {score.name} | {' | '.join(cells)} |"


def _cell(estimate: Estimate | None) -> str:
    if estimate is None:
        return ""
    if estimate.low is None or estimate.high is None:
        return f"{estimate.value:.4g}"
    return f"{estimate.value:.4g} ({estimate.low:.4g} to {estimate.high:.4g})"
