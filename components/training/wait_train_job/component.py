"""The component `wait_train_job`."""

from kfp import dsl


@dsl.component(base_image="ghcr.io/kfp-trainer/workload:0.1.0", install_kfp_package=False)
def wait_train_job(
    job_name: str,
    summary: dsl.Output[dsl.Markdown],
    training_metrics: dsl.Output[dsl.Metrics],
):
    """Follow a TrainJob that was launched before to its end.

    Args:
        job_name: Name of the TrainJob.
        summary: How it ended, and where its time went.
        training_metrics: The last numbers its trainer reported.
    """
    from kfp_trainer.runtime_operator.steps.wait_train_job import wait_train_job

    wait_train_job(job_name, summary, training_metrics)
