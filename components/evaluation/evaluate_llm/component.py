"""The component `evaluate_llm`."""

from kfp import dsl


@dsl.component(base_image="ghcr.io/kfp-trainer/workload-cuda:0.1.0", install_kfp_package=False)
def evaluate_llm(
    model_path: str,
    dataset_path: str,
    output_path: str,
    evaluation_report: dsl.Output[dsl.HTML],
    evaluation_metrics: dsl.Output[dsl.Metrics],
    summary: dsl.Output[dsl.Markdown],
    evaluation_path: dsl.OutputPath(str),
    score: dsl.OutputPath(float),
    tuned_path: str = "",
    settings: dict = {},
):
    """Ask a base and a tuned model the same held-out questions.

    Args:
        model_path: Folder of the base model.
        dataset_path: Folder with eval rows.
        output_path: Folder for the figures.
        evaluation_report: Base and tuned side by side.
        evaluation_metrics: Scores of both, and the gain.
        summary: The scores as a table.
        evaluation_path: Folder of the figures.
        score: The leading score of the tuned model.
        tuned_path: Folder of the tuned model; empty: base alone.
        settings: Settings of `kfp-trainer evaluate`.
    """
    from kfp_trainer.runtime_operator.steps.evaluate_llm import evaluate_llm

    evaluate_llm(
        model_path,
        dataset_path,
        output_path,
        evaluation_report,
        evaluation_metrics,
        summary,
        evaluation_path,
        score,
        tuned_path,
        settings,
    )
