"""The pipeline `finetune-llm`: from addresses of a dataset and a model to a tuned model that has passed.

Few, fat tasks: each costs a run 20 to 30 seconds and its Workflow 22 KB. The gate is a task of its own, for
the reports of a task that fails are not kept, and those of a stopped model are what one wants to read.
"""

from kfp import dsl

from kfp_trainer.components.data_processing.fetch_dataset import fetch_dataset
from kfp_trainer.components.data_processing.fetch_model import fetch_model
from kfp_trainer.components.deployment.export_model import export_model
from kfp_trainer.components.evaluation.evaluate_llm import evaluate_llm
from kfp_trainer.components.evaluation.gate_model import gate_model
from kfp_trainer.components.training.delete_train_jobs import delete_train_jobs
from kfp_trainer.components.training.finetune_llm import finetune_llm as train
from kfp_trainer.pipelines.workspace import in_workspace, with_credentials, workspace


@dsl.pipeline(
    name="finetune-llm",
    description="Fetch a dataset and a model, fine-tune, compare with the base, and export what passes.",
    pipeline_config=workspace(),
)
def finetune_llm(
    dataset: str = "demo://messages",
    dataset_checks: dict = {},
    evaluation: dict = {},
    evaluation_rules: str = "exact_match >= base",
    export_registry: dict = {},
    export_to: str = "",
    model: str = "demo://model",
    secret: str = "kfp-trainer",
    training: dict = {},
    training_job: dict = {},
):
    """Fine-tune a language model and let it go on if it is better than its base.

    Args:
        dataset: Address of the rows, as hf://org/name@revision; demo://messages needs no network.
        dataset_checks: Settings of `kfp-trainer dataset check`, as {"most_duplicates": 0.05}.
        evaluation: Settings of `kfp-trainer evaluate`, as {"metrics": ["exact_match", "rouge_l"]}.
        evaluation_rules: What the tuned model must keep, as 'exact_match >= base + 0.02; chrf >= 0.5'.
        export_registry: Entry in the Model Registry: {"address", "name", "version"}; empty: none.
        export_to: Where the tuned model is kept, as s3://bucket/models/mine; empty: nowhere.
        model: Address of the base model, as hf://org/name@revision; demo://model needs no network.
        secret: Secret whose keys are HF_TOKEN, AWS_ACCESS_KEY_ID and the like; need not exist.
        training: Settings of `kfp-trainer finetune`, as {"method": "qlora", "epochs": 3}.
        training_job: Size of the training, as {"nodes": 2, "gpus": 8, "memory": "400Gi", "queue": "a"}.
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
        tuned = train(
            model_path=base.outputs["model_path"],
            dataset_path=rows.outputs["dataset_path"],
            output_path=in_workspace("tuned"),
            settings=training,
            job=training_job,
        ).set_caching_options(False)
        measured = evaluate_llm(
            model_path=base.outputs["model_path"],
            tuned_path=tuned.outputs["tuned_path"],
            dataset_path=rows.outputs["dataset_path"],
            output_path=in_workspace("evaluation"),
            settings=evaluation,
        ).set_caching_options(False)
        passed = gate_model(
            model_path=tuned.outputs["tuned_path"],
            evaluation_path=measured.outputs["evaluation_path"],
            rules=evaluation_rules,
        ).set_caching_options(False)
        kept = export_model(
            model_path=passed.outputs["passed_path"],
            to=export_to,
            evaluation_path=measured.outputs["evaluation_path"],
            registry=export_registry,
        ).set_caching_options(False)
        for task in (rows, base, kept):
            with_credentials(task, secret)
