"""The component `select_model`."""

from kfp import dsl


@dsl.component(base_image="ghcr.io/kfp-trainer/workload:0.1.0", install_kfp_package=False)
def select_model(
    models: list[str],
    evaluations: list[str],
    scores: list[float],
    best_model: dsl.Output[dsl.Model],
    ranking: dsl.Output[dsl.Markdown],
    best_path: dsl.OutputPath(str),
    best_evaluation: dsl.OutputPath(str),
    lowest: bool = False,
):
    """Take the model that scored best.

    Args:
        models: Folders of the tuned models.
        evaluations: Folders of their evaluations.
        scores: Their scores.
        best_model: The one that goes on.
        ranking: All of them, best first.
        best_path: Folder of the best model.
        best_evaluation: Folder of its evaluation.
        lowest: Whether less is better.
    """
    from kfp_trainer.runtime_operator.steps.select_model import select_model

    select_model(models, evaluations, scores, best_model, ranking, best_path, best_evaluation, lowest)
