"""What `evaluate_llm` does: measure base and tuned model here, in the step's own container."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from kfp_trainer.components.ending import sentence_on_failure

if TYPE_CHECKING:
    from kfp import dsl


@sentence_on_failure
def evaluate(
    settings: Mapping[str, Any], *, evaluation_report: dsl.HTML, evaluation_metrics: dsl.Metrics
) -> float:
    """Evaluate both models, fill the outputs, and return the tuned model's exact match."""
    from kfp_trainer.runtime_operator.workloads.evaluate import EvaluateSettings
    from kfp_trainer.runtime_operator.workloads.evaluate import evaluate as measure
    from kfp_trainer.runtime_operator.workloads.settings import parse_settings

    evaluation = measure(parse_settings(EvaluateSettings, settings))
    tuned = evaluation.tuned_exact_match
    assert tuned is not None, "a component always has a tuned model"
    evaluation_metrics.log_metric("exact_match_base", evaluation.base_exact_match)
    evaluation_metrics.log_metric("exact_match_tuned", tuned)
    shutil.copyfile(evaluation.report, evaluation_report.path)
    return tuned
