"""The component `gate_model`."""

from kfp import dsl


@dsl.component(base_image="ghcr.io/kfp-trainer/workload:0.1.0", install_kfp_package=False)
def gate_model(
    model_path: str,
    evaluation_path: str,
    rules: str,
    verdict: dsl.Output[dsl.Markdown],
    passed_path: dsl.OutputPath(str),
    settings: dict = {},
):
    """Let a model pass, or fail the run, by rules on its evaluation.

    Args:
        model_path: Folder of the tuned model.
        evaluation_path: Folder of its evaluation.
        rules: As 'exact_match >= base + 0.02; perplexity <= 1.05 * base'.
        verdict: A sentence a rule.
        passed_path: Folder of the model, once it has passed.
        settings: judge_by, confidence.
    """
    from kfp_trainer.runtime_operator.steps.gate_model import gate_model

    gate_model(model_path, evaluation_path, rules, verdict, passed_path, settings)
