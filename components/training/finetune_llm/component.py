"""The component `finetune_llm`."""

from typing import Optional

from kfp import dsl


@dsl.component(
    base_image="ghcr.io/kfp-trainer/workload:0.1.0",
    install_kfp_package=False,
    task_config_passthroughs=[
        dsl.TaskConfigField.RESOURCES,
        dsl.TaskConfigField.ENV,
        dsl.TaskConfigField.KUBERNETES_AFFINITY,
        dsl.TaskConfigField.KUBERNETES_TOLERATIONS,
        dsl.TaskConfigField.KUBERNETES_NODE_SELECTOR,
        dsl.TaskConfigPassthrough(field=dsl.TaskConfigField.KUBERNETES_VOLUMES, apply_to_task=True),
    ],
)
def finetune_llm(
    model_path: str,
    dataset_path: str,
    output_path: str,
    tuned_model: dsl.Output[dsl.Model],
    training_report: dsl.Output[dsl.HTML],
    training_metrics: dsl.Output[dsl.Metrics],
    tuned_path: dsl.OutputPath(str),
    settings: dict = {},
    job: dict = {},
    task_config: Optional[dsl.TaskConfig] = None,
):
    """Fine-tune a language model as a TrainJob.

    Args:
        model_path: Folder of the base model.
        dataset_path: Folder with train and eval rows.
        output_path: Folder for the adapter and the merged model.
        tuned_model: Where it is, and what made it.
        training_report: Loss curve and settings.
        training_metrics: Losses, tokens, seconds.
        tuned_path: Folder of the tuned model.
        settings: Settings of `kfp-trainer finetune`.
        job: nodes, gpus, memory, queue, retries, deadline.
        task_config: What is set on the task goes to the TrainJob.
    """
    from kfp_trainer.runtime_operator.steps.finetune_llm import finetune_llm

    finetune_llm(
        model_path,
        dataset_path,
        output_path,
        tuned_model,
        training_report,
        training_metrics,
        tuned_path,
        settings,
        job,
        task_config,
    )
