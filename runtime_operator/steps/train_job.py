"""What `train_job` does: run a TrainJob of any runtime to its end, and tell how it ended.

    python -m kfp_trainer.runtime_operator.steps.train_job --runtime=torch-distributed -- torchrun train.py

is the same as a plain command: what stands behind `--` is the command of the nodes. Each word is one argument
without blanks or quotes of its own, for Katib joins the words of a trial into one line of a shell. With
`--push` a trial tells Katib its numbers itself, and needs no sidecar that reads its log.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from ..errors import KfpTrainerError
from ..launch import Launched, launch
from ..workloads.settings import parse_settings
from .documents import document
from .job_settings import JobSettings
from .katib import pushed
from .outputs import describe, every_output, log_metrics, write_file, write_value

if TYPE_CHECKING:
    from kfp import dsl

PYTHON = ("python", "-c")


def train_job(
    summary: dsl.Markdown,
    training_metrics: dsl.Metrics,
    job_name: str,
    runtime: str,
    image: str,
    command: Sequence[str] | None,
    arguments: Sequence[str] | None,
    script: str,
    job: Mapping[str, Any] | None,
    task_config: dsl.TaskConfig | None,
) -> None:
    """Run the TrainJob and fill the outputs."""
    with every_output("The TrainJob", summary, values={job_name: ""}):
        settings = read_job_settings(job, runtime=runtime, image=image)
        launched = launch(
            settings.train_job(**trainer_of(command or (), arguments or (), script)),
            task_config=settings.on_task(task_config),
            retries=settings.retries,
        )
        log_metrics(training_metrics, launched.metrics)
        describe(training_metrics, train_job=f"{launched.namespace}/{launched.name}")
        write_file(summary, summary_of(launched, runtime=settings.runtime, nodes=settings.nodes))
        write_value(job_name, launched.name)


def read_job_settings(job: Mapping[str, Any] | None, *, runtime: str, image: str) -> JobSettings:
    """The settings of the document `job`, with the runtime and image that have parameters of their own."""
    own = {"runtime": runtime, **({"image": image} if image else {})}
    return parse_settings(JobSettings, document(job, **own))


def trainer_of(command: Sequence[str], arguments: Sequence[str], script: str) -> dict[str, list[str]]:
    """What the nodes run; nothing where the runtime says it."""
    if script:
        return {"command": [*map(str, command), *PYTHON, script], "args": [*map(str, arguments)]}
    given = {"command": command, "args": arguments}
    return {name: [*map(str, words)] for name, words in given.items() if words}


def summary_of(launched: Launched, **facts: object) -> str:
    """How the job ended, in Markdown."""
    rows = [("namespace", launched.namespace), *((name, str(value)) for name, value in facts.items())]
    rows += [(f"seconds {what}", f"{seconds:.0f}") for what, seconds in launched.times.items()]
    rows += [(name, f"{value:g}") for name, value in launched.metrics.items()]
    table = [f"| {name} | {value} |" for name, value in rows]
    return "\n".join([f"# {launched.name}", "", launched.message, "", "| | |", "|---|---|", *table]) + "\n"


@click.command(context_settings={"allow_interspersed_args": False})
@click.option("--runtime", required=True, help="The training runtime.")
@click.option("--image", help="Another image than the runtime's.")
@click.option("--nodes", default=1, show_default=True, help="Machines that train together.")
@click.option("--gpus", type=int, help="GPUs a node.")
@click.option("--queue", help="The local queue of Kueue that the job waits in.")
@click.option("--retries", default=0, show_default=True, help="How often a failed job is made anew.")
@click.option("--push", default="", help="Names of the numbers to push to Katib, as loss,eval_loss.")
@click.option("--task", default="trial", show_default=True, help="The beginning of the job's name.")
@click.argument("command", nargs=-1, type=click.UNPROCESSED)
def main(task: str, push: str, command: tuple[str, ...], **given: Any) -> None:
    """Run a TrainJob to its end; behind `--` stands what its nodes run."""
    chosen = {name: value for name, value in given.items() if value is not None}
    try:
        settings = parse_settings(JobSettings, chosen)
        job = settings.train_job(**trainer_of(command, (), ""))
        with pushed(push.split(",") if push else [], os.environ) as say:
            launch(job, task=task, retries=settings.retries, say=say)
    except KfpTrainerError as error:
        raise SystemExit(f"error: {error}") from error


if __name__ == "__main__":
    main()
