"""What `evaluate_llm` does: measure base and tuned model here, in the step's own container."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kfp_trainer.components.ending import sentence_on_failure

if TYPE_CHECKING:
    from kfp import dsl


@sentence_on_failure
def evaluate(
    settings: Mapping[str, Any], *, evaluation_report: dsl.HTML, evaluation_metrics: dsl.Metrics
) -> float:
    """Evaluate both models, fill the outputs, and return the tuned model's exact match."""
    from kfp_trainer.runtime_operator.workloads.evaluate import EvaluateSettings, parse_settings
    from kfp_trainer.runtime_operator.workloads.evaluate.run import evaluate as measure

    evaluation = measure(parse_settings(EvaluateSettings, settings))
    evaluation_metrics.log_metric("exact_match_base", evaluation.base)
    evaluation_metrics.log_metric("exact_match_tuned", evaluation.tuned)
    report = Path(settings["output"], "evaluation_report.html")
    Path(evaluation_report.path).write_text(report.read_text())
    return evaluation.tuned
