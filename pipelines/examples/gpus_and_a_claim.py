"""A pipeline of your own: data and model on a claim that outlives the run, GPUs, a tainted pool of nodes.

What is set on the task `finetune_llm` goes to the pods of its TrainJob; the task's own pod only follows it.
The claim is mounted into both, so the task can read what the training has left.

    python gpus_and_a_claim.py        writes gpus_and_a_claim.yaml, for upload in the Pipelines UI
"""

from kfp import compiler, dsl, kubernetes

from kfp_trainer.components import delete_train_jobs, evaluate_llm, fetch_dataset, fetch_model, finetune_llm

CLAIM, HERE = "models", "/models"  # a claim of the namespace that several nodes can write to


@dsl.pipeline(name="gpus-and-a-claim")
def gpus_and_a_claim(dataset: str = "hf://org/rows@v1", model: str = "hf://org/model@v1"):
    """Fine-tune on a claim.

    Args:
        dataset: Address of the rows.
        model: Address of the base model.
    """
    with dsl.ExitHandler(delete_train_jobs()):
        rows = fetch_dataset(source=dataset, output_path=f"{HERE}/rows", checks={})
        base = fetch_model(source=model, output_path=f"{HERE}/base")
        tuned = finetune_llm(
            model_path=base.outputs["model_path"],
            dataset_path=rows.outputs["dataset_path"],
            output_path=f"{HERE}/tuned/{{task}}",
            settings={"method": "lora", "epochs": 2},
            job={"queue": "team-a", "retries": 2, "deadline": 86400},
        ).set_caching_options(False)
        tuned.set_cpu_limit("32").set_memory_limit("400Gi")
        tuned.set_accelerator_type("nvidia.com/gpu").set_accelerator_limit(8)
        kubernetes.add_toleration(tuned, key="nvidia.com/gpu", operator="Exists", effect="NoSchedule")
        kubernetes.add_node_selector(tuned, "node.kubernetes.io/instance-type", "h200.8")
        measured = evaluate_llm(
            model_path=base.outputs["model_path"],
            tuned_path=tuned.outputs["tuned_path"],
            dataset_path=rows.outputs["dataset_path"],
            output_path=f"{HERE}/evaluations/{{task}}",
        ).set_caching_options(False)
        measured.set_accelerator_type("nvidia.com/gpu").set_accelerator_limit(1)
        for task in (rows, base, tuned, measured):
            kubernetes.mount_pvc(task, pvc_name=CLAIM, mount_path=HERE)
        for task in (rows, base):
            kubernetes.use_secret_as_env(task, secret_name="hub", secret_key_to_env={"token": "HF_TOKEN"})


if __name__ == "__main__":
    compiler.Compiler().compile(gpus_and_a_claim, __file__.replace(".py", ".yaml"))
