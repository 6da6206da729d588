"""The component `delete_train_jobs`."""

from kfp import dsl


@dsl.component(base_image="ghcr.io/kfp-trainer/workload:0.1.0", install_kfp_package=False)
def delete_train_jobs(status: dsl.PipelineTaskFinalStatus):
    """Delete what a run has left training; the task of an exit handler.

    Args:
        status: How the run ended.
    """
    from kfp_trainer.runtime_operator.steps.delete_train_jobs import delete_train_jobs

    delete_train_jobs(status)
