"""The pipeline `evaluate-only`: two models that are there already, asked the same held-out questions."""

from kfp import dsl

from kfp_trainer.components.data_processing.fetch_dataset import fetch_dataset
from kfp_trainer.components.data_processing.fetch_model import fetch_model
from kfp_trainer.components.evaluation.evaluate_llm import evaluate_llm
from kfp_trainer.components.evaluation.gate_model import gate_model
from kfp_trainer.components.training.delete_train_jobs import delete_train_jobs
from kfp_trainer.pipelines.workspace import in_workspace, with_credentials, workspace


@dsl.pipeline(
    name="evaluate-only",
    description="Compare a tuned model with its base on held-out rows, and judge it by rules.",
    pipeline_config=workspace(),
)
def evaluate_only(
    dataset: str = "demo://messages",
    evaluation: dict = {},
    evaluation_rules: str = "exact_match >= base",
    model: str = "demo://model",
    model_tuned: str = "demo://model",
    secret: str = "kfp-trainer",
):
    """Compare two models on the same held-out rows.

    Args:
        dataset: Address of the rows, as hf://org/name@revision; demo://messages needs no network.
        evaluation: Settings of `kfp-trainer evaluate`, as {"metrics": ["exact_match", "rouge_l"]}.
        evaluation_rules: What the tuned model must keep, as 'exact_match >= base + 0.02; chrf >= 0.5'.
        model: Address of the base model, as hf://org/name@revision; demo://model needs no network.
        model_tuned: Address of the tuned model, or of its adapter.
        secret: Secret whose keys are HF_TOKEN, AWS_ACCESS_KEY_ID and the like; need not exist.
    """
    with dsl.ExitHandler(delete_train_jobs()):
        rows = fetch_dataset(source=dataset, output_path=in_workspace("dataset"))
        base = fetch_model(source=model, output_path=in_workspace("model"))
        tuned = fetch_model(source=model_tuned, output_path=in_workspace("tuned"))
        measured = evaluate_llm(
            model_path=base.outputs["model_path"],
            tuned_path=tuned.outputs["model_path"],
            dataset_path=rows.outputs["dataset_path"],
            output_path=in_workspace("evaluation"),
            settings=evaluation,
        ).set_caching_options(False)
        gate_model(
            model_path=tuned.outputs["model_path"],
            evaluation_path=measured.outputs["evaluation_path"],
            rules=evaluation_rules,
        ).set_caching_options(False)
        for task in (rows, base, tuned):
            with_credentials(task, secret)
