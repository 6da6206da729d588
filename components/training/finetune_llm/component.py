"""The component `finetune_llm`: a model folder and a dataset folder in, a tuned model folder out.

The body only hands its arguments to `task.finetune`: every byte of a component's code stands many times
in the finished Workflow, so the code lives in the image.
"""

from typing import Any

from kfp import dsl

from kfp_trainer.runtime_operator.images import image


@dsl.component(base_image=image("workload"), install_kfp_package=False)
def finetune_llm(
    model_path: str,
    dataset_path: str,
    output_path: str,
    tuned_model: dsl.Output[dsl.Model],
    training_report: dsl.Output[dsl.HTML],
    training_metrics: dsl.Output[dsl.Metrics],
    settings: dict[str, Any] = {},
) -> str:
    """Fine-tune a causal language model; return the folder of the tuned model.

    Args:
        model_path: Folder of the base model, in Hugging Face's layout.
        dataset_path: Folder with train.jsonl and eval.jsonl.
        output_path: Folder for the adapter, the merged model and the report; made if absent.
        tuned_model: The merged model, as a path with its figures.
        training_report: Loss curve and settings, one self-contained page.
        training_metrics: First and last loss, steps, seconds.
        settings: The other settings of `kfp-trainer finetune`, by name.
    """
    from kfp_trainer.components.training.finetune_llm.task import finetune

    return finetune(
        {"model": model_path, "dataset": dataset_path, "output": output_path, **settings},
        tuned_model=tuned_model,
        training_report=training_report,
        training_metrics=training_metrics,
    )
