"""The pipeline `finetune-sweep`: one training for each of several settings, and the best model goes on.

Trials run side by side and each has a folder of its own on the workspace; `{task}` in a folder is replaced by
what tells a trial from all others, whoever retries it.
"""

from kfp import dsl

from kfp_trainer.components.data_processing.fetch_dataset import fetch_dataset
from kfp_trainer.components.data_processing.fetch_model import fetch_model
from kfp_trainer.components.deployment.export_model import export_model
from kfp_trainer.components.evaluation.evaluate_llm import evaluate_llm
from kfp_trainer.components.evaluation.gate_model import gate_model
from kfp_trainer.components.evaluation.select_model import select_model
from kfp_trainer.components.training.delete_train_jobs import delete_train_jobs
from kfp_trainer.components.training.finetune_llm import finetune_llm
from kfp_trainer.pipelines.workspace import in_workspace, with_credentials, workspace

AT_ONCE = 4


@dsl.pipeline(
    name="finetune-sweep",
    description="Fine-tune with several settings side by side; the model that scores best goes on.",
    pipeline_config=workspace(),
)
def finetune_sweep(
    dataset: str = "demo://messages",
    dataset_checks: dict = {},
    evaluation: dict = {},
    evaluation_lowest: bool = False,
    evaluation_rules: str = "exact_match >= base",
    export_registry: dict = {},
    export_to: str = "",
    model: str = "demo://model",
    secret: str = "kfp-trainer",
    training_job: dict = {},
    trials: list[dict] = [{"learning_rate": 0.0002}, {"learning_rate": 0.002}],
):
    """Fine-tune a language model with several settings and keep the best.

    Args:
        dataset: Address of the rows, as hf://org/name@revision; demo://messages needs no network.
        dataset_checks: Settings of `kfp-trainer dataset check`, as {"most_duplicates": 0.05}.
        evaluation: Settings of `kfp-trainer evaluate`; the first of its metrics decides.
        evaluation_lowest: Whether less of that metric is better, as of perplexity.
        evaluation_rules: What the best model must keep, as 'exact_match >= base + 0.02; chrf >= 0.5'.
        export_registry: Entry in the Model Registry: {"address", "name", "version"}; empty: none.
        export_to: Where the best model is kept, as s3://bucket/models/mine; empty: nowhere.
        model: Address of the base model, as hf://org/name@revision; demo://model needs no network.
        secret: Secret whose keys are HF_TOKEN, AWS_ACCESS_KEY_ID and the like; need not exist.
        training_job: Size of each training, as {"gpus": 1, "memory": "64Gi", "queue": "a"}.
        trials: Settings of `kfp-trainer finetune`, a document a trial; four run at once.
    """
    with dsl.ExitHandler(delete_train_jobs()):
        rows = fetch_dataset(source=dataset, output_path=in_workspace("dataset"), checks=dataset_checks)
        base = fetch_model(
            source=model,
            output_path=in_workspace("model"),
            export_to=export_to,
            registry=export_registry,
            rules=evaluation_rules,
        )
        with dsl.ParallelFor(items=trials, parallelism=AT_ONCE) as trial:
            tuned = finetune_llm(
                model_path=base.outputs["model_path"],
                dataset_path=rows.outputs["dataset_path"],
                output_path=in_workspace("trials/{task}"),
                settings=trial,
                job=training_job,
            ).set_caching_options(False)
            measured = evaluate_llm(
                model_path=base.outputs["model_path"],
                tuned_path=tuned.outputs["tuned_path"],
                dataset_path=rows.outputs["dataset_path"],
                output_path=in_workspace("trials/{task}"),
                settings=evaluation,
            ).set_caching_options(False)
        best = select_model(
            models=dsl.Collected(tuned.outputs["tuned_path"]),
            evaluations=dsl.Collected(measured.outputs["evaluation_path"]),
            scores=dsl.Collected(measured.outputs["score"]),
            lowest=evaluation_lowest,
        ).set_caching_options(False)
        passed = gate_model(
            model_path=best.outputs["best_path"],
            evaluation_path=best.outputs["best_evaluation"],
            rules=evaluation_rules,
        ).set_caching_options(False)
        kept = export_model(
            model_path=passed.outputs["passed_path"],
            to=export_to,
            evaluation_path=best.outputs["best_evaluation"],
            registry=export_registry,
        ).set_caching_options(False)
        for task in (rows, base, kept):
            with_credentials(task, secret)
