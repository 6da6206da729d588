"""The component `launch_train_job`."""

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
def launch_train_job(
    job_name: dsl.OutputPath(str),
    runtime: str = "torch-distributed",
    image: str = "",
    command: list = [],
    arguments: list = [],
    script: str = "",
    job: dict = {},
    task_config: Optional[dsl.TaskConfig] = None,
):
    """Make a TrainJob and go on while it trains; `wait_train_job` waits for it.

    Args:
        job_name: Name of the TrainJob.
        runtime: The training runtime.
        image: Another image than the runtime's.
        command: Another command than the runtime's.
        arguments: Arguments of the command or the script.
        script: A Python program; the command starts it.
        job: nodes, gpus, memory, queue, deadline.
        task_config: What is set on the task goes to the TrainJob.
    """
    from kfp_trainer.runtime_operator.steps.launch_train_job import launch_train_job

    launch_train_job(job_name, runtime, image, command, arguments, script, job, task_config)
