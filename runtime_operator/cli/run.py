"""`run` and `logs`: a job from its file to its end, and what it prints."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict

import click

from ..jobs import Jobs, Whose
from .documents import read_documents
from .files_option import files_option
from .following import follow_job
from .job_options import Output, name_argument, output_option, with_jobs


@click.command()
@files_option("The job, a TrainJob or an older kind, and what it needs: runtimes, Secrets, ConfigMaps")
@with_jobs
@click.option("--detach", is_flag=True, help="Return at once; `kfp-trainer logs -f NAME` follows the job.")
@click.option("--all", "everybody", is_flag=True, help="Print the lines of all pods, each behind its name.")
@click.option("--allow-fewer", is_flag=True, help="Run smaller where this machine has too few GPUs.")
@output_option
def run(
    files: Sequence[str],
    jobs: Jobs,
    detach: bool,
    everybody: bool,
    allow_fewer: bool,
    output: Output | None,
) -> int:
    """Run a job, as processes on this machine or in a cluster, follow it, and exit as it does.

    Ctrl-C asks once, and cancels the job when it comes again.
    """
    name = jobs.create(read_documents(files), allow_fewer=allow_fewer)
    for warning in jobs.get(name).warnings:
        click.echo(f"{click.style('warning:', fg='yellow')} {warning}", err=True)
    if detach:
        click.echo(name)
        return 0
    return follow_job(jobs, name, output=output, whose=Whose(everybody=everybody))


@click.command()
@name_argument
@with_jobs
@click.option("-f", "--follow", is_flag=True, help="Go on until the job ends.")
@click.option("--all", "everybody", is_flag=True, help="Print the lines of all pods, each behind its name.")
@click.option("--pod", default="", help="Print the lines of this pod.  [default: the first node's]")
@click.option("--role", default="", help="Print the lines of all pods of this role, as chief or worker.")
@click.option("-c", "--container", default="", help="Print the lines of this container only.")
@click.option("--tail", type=int, metavar="N", help="Begin with the last N lines.")
@output_option
def logs(
    name: str,
    jobs: Jobs,
    follow: bool,
    everybody: bool,
    pod: str,
    role: str,
    container: str,
    tail: int | None,
    output: Output | None,
) -> int:
    """Print what job NAME has printed."""
    if sum(map(bool, (everybody, pod, role))) > 1:
        raise click.UsageError("--all, --pod and --role each say whose lines to print: give one of them")
    whose = Whose(everybody, pod, role, container)
    if follow:
        return follow_job(jobs, name, output=output, whose=whose, tail=tail, owns=False)
    for line in jobs.logs(name, whose, tail=tail):
        if output:
            click.echo(json.dumps(asdict(line)))
        else:
            click.echo(f"{line.pod}: {line.text}" if whose.several else line.text)
    return 0
