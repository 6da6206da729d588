"""A training that goes on while another task works: one task launches the TrainJob, another waits for it.

python launch_and_wait.py        writes launch_and_wait.yaml, for upload in the Pipelines UI
"""

from kfp import compiler, dsl

from kfp_trainer.components import delete_train_jobs, fetch_dataset, launch_train_job, wait_train_job


@dsl.pipeline(name="launch-and-wait")
def launch_and_wait(image: str = "registry.example.org/team/train:1.0", dataset: str = "demo://messages"):
    """Train in the background.

    Args:
        image: Your image; its own command trains.
        dataset: Address of what is fetched meanwhile.
    """
    with dsl.ExitHandler(delete_train_jobs()):
        job = launch_train_job(image=image, job={"nodes": 4, "gpus": 8}).set_caching_options(False)
        fetch_dataset(source=dataset, output_path="/tmp/rows", checks={})
        wait_train_job(job_name=job.outputs["job_name"]).set_caching_options(False)


if __name__ == "__main__":
    compiler.Compiler().compile(launch_and_wait, __file__.replace(".py", ".yaml"))
