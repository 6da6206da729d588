"""The pipeline `distributed-training`: a TrainJob of your own image or script, on any runtime."""

from kfp import dsl

from kfp_trainer.components.training.delete_train_jobs import delete_train_jobs
from kfp_trainer.components.training.train_job import train_job

# one line: kfp writes a default into a comment of the document, which a second line would break
SCRIPT = (
    "import torch, torch.distributed as d; d.init_process_group('gloo'); t = torch.ones(1); d.all_reduce(t); "
    "print(f'processes={int(t)}', flush=True); d.destroy_process_group()"
)


@dsl.pipeline(
    name="distributed-training",
    description="Run a distributed training: your image or script, on any runtime.",
)
def distributed_training(
    arguments: list = [],
    command: list = ["torchrun", "--no-python"],
    image: str = "",
    job: dict = {"nodes": 2},
    runtime: str = "torch-distributed",
    script: str = SCRIPT,
):
    """Run a training on several nodes to its end.

    Args:
        arguments: Arguments of the command, or of the script.
        command: What starts; before a script it is the launcher. Empty: the image's or the runtime's own.
        image: Image of your own; empty: the runtime's.
        job: Size, as {"nodes": 4, "gpus": 8, "queue": "a", "claims": {"data": "/data"}, "retries": 2}.
        runtime: The training runtime, of the namespace or the cluster.
        script: Python that every process runs; empty: what the image holds.
    """
    with dsl.ExitHandler(delete_train_jobs()):
        train_job(
            runtime=runtime, image=image, command=command, arguments=arguments, script=script, job=job
        ).set_caching_options(False)
