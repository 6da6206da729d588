"""The component `evaluate_llm`: base and tuned model on the same held-out rows."""

from typing import Any

from kfp import dsl

from kfp_trainer.runtime_operator.images import image


@dsl.component(base_image=image("workload"), install_kfp_package=False)
def evaluate_llm(
    model_path: str,
    tuned_path: str,
    dataset_path: str,
    output_path: str,
    evaluation_report: dsl.Output[dsl.HTML],
    evaluation_metrics: dsl.Output[dsl.Metrics],
    settings: dict[str, Any] = {},
) -> float:
    """Evaluate base and tuned model with the same prompts; return the tuned model's exact match.

    Args:
        model_path: Folder of the base model.
        tuned_path: Folder of the tuned model.
        dataset_path: Folder with eval.jsonl.
        output_path: Folder for the figures and the report; made if absent.
        evaluation_report: Base and tuned side by side, one self-contained page.
        evaluation_metrics: Exact match of both.
        settings: The other settings of `kfp-trainer evaluate`, by name.
    """
    from kfp_trainer.components.evaluation.evaluate_llm.task import evaluate

    return evaluate(
        {
            "model": model_path,
            "tuned": tuned_path,
            "dataset": dataset_path,
            "output": output_path,
            **settings,
        },
        evaluation_report=evaluation_report,
        evaluation_metrics=evaluation_metrics,
    )
