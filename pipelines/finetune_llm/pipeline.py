"""The pipeline `finetune-llm`: fine-tune, then evaluate base and tuned on the same held-out rows."""

from typing import Any

from kfp import dsl

from kfp_trainer.components.evaluation.evaluate_llm.component import evaluate_llm
from kfp_trainer.components.training.finetune_llm.component import finetune_llm as finetune_task


@dsl.pipeline(name="finetune-llm", description="Fine-tune a language model and compare it with its base.")
def finetune_llm(
    model_path: str,
    dataset_path: str,
    output_path: str,
    training: dict[str, Any] = {},
    evaluation: dict[str, Any] = {},
) -> float:
    """Fine-tune a causal language model and return its exact match on held-out rows.

    Args:
        model_path: Folder of the base model, in Hugging Face's layout.
        dataset_path: Folder with train.jsonl and eval.jsonl.
        output_path: Folder for the tuned model and the reports.
        training: The other settings of `kfp-trainer finetune`, by name.
        evaluation: The other settings of `kfp-trainer evaluate`, by name.
    """
    tuned = finetune_task(
        model_path=model_path, dataset_path=dataset_path, output_path=output_path, settings=training
    ).set_caching_options(enable_caching=False)
    measured = evaluate_llm(
        model_path=model_path,
        tuned_path=tuned.outputs["Output"],
        dataset_path=dataset_path,
        output_path=output_path,
        settings=evaluation,
    ).set_caching_options(enable_caching=False)
    return measured.outputs["Output"]
