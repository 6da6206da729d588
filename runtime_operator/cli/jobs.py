"""`get`, `describe`, `events`, `wait`, `cancel`, `delete`: what there is, why it is so, and its end."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from datetime import datetime

import click

from ..jobs import Event, Job, Jobs
from ..jobs.description import Description
from .following import follow_job
from .job_options import (
    Output,
    age,
    clock,
    job_document,
    name_argument,
    output_option,
    paint_phase,
    table,
    with_jobs,
)
from .output import print_data


@click.command()
@click.argument("name", required=False)
@with_jobs
@output_option
def get(name: str | None, jobs: Jobs, output: Output | None) -> None:
    """List the jobs, or show job NAME."""
    found = [jobs.get(name)] if name else list(jobs.list())
    if output:
        print_data(job_document(found[0]) if name else [job_document(job) for job in found], output)
    elif found:
        rows = [("NAME", "STATE", "DONE", "AGE", "WHY"), *(_row(job) for job in found)]
        click.echo(table(rows))
    else:
        click.echo(
            f"no jobs in namespace {jobs.namespace}; start one with: kfp-trainer run -f job.yaml", err=True
        )


def _row(job: Job) -> tuple[str, ...]:
    percent = (job.train_job["status"].get("trainerStatus") or {}).get("progressPercentage")
    born = datetime.fromisoformat(job.train_job["metadata"]["creationTimestamp"]).timestamp()
    done = "" if percent is None else f"{percent} %"
    return (job.name, paint_phase(job.phase), done, age(time.time() - born), job.message)


@click.command()
@name_argument
@with_jobs
@output_option
def describe(name: str, jobs: Jobs, output: Output | None) -> None:
    """Tell everything about job NAME, and why it is where it is."""
    found = jobs.describe(name)
    if output:
        print_data(_document(found), output)
    else:
        click.echo("\n".join(_story(found)))


def _document(found: Description) -> dict[str, object]:
    return {
        "job": job_document(found.job),
        "why": found.why,
        "decisions": [
            {"field": field, "value": value, "reason": reason} for field, value, reason in found.decisions
        ],
        "pods": [asdict(pod) for pod in found.pods],
        "events": [asdict(event) for event in found.events],
        "seconds": dict(found.times),
        "warnings": list(found.job.warnings),
        "folder": found.folder,
    }


def _story(found: Description) -> Iterator[str]:
    job = found.job
    yield f"{click.style(job.name, bold=True)}  {paint_phase(job.phase)}"
    yield f"why      {found.why}"
    yield "time     " + ", ".join(f"{what} {age(seconds)}" for what, seconds in found.times)
    if found.folder:
        yield f"folder   {found.folder}"
    for warning in job.warnings:
        yield f"{click.style('warning', fg='yellow')}  {warning}"
    if found.pods:
        rows = [(pod.name, pod.phase, str(pod.restarts), pod.waiting or pod.exit) for pod in found.pods]
        yield "\n" + table([("POD", "STATE", "RESTARTS", "CONTAINERS"), *rows])
    if found.decisions:
        yield "\n" + table([("FIELD", "VALUE", "REASON"), *found.decisions])
    if found.events:
        yield "\n" + "\n".join(event_lines(found.events))


@click.command()
@name_argument
@with_jobs
@output_option
def events(name: str, jobs: Jobs, output: Output | None) -> None:
    """Print what has happened to job NAME."""
    found = jobs.events(name)
    if output:
        print_data([asdict(event) for event in found], output)
        return
    for line in event_lines(found):
        click.echo(line)


def event_lines(events: Sequence[Event]) -> Iterator[str]:
    """Events, a line each."""
    for event in events:
        reason = click.style(event.reason, fg="yellow" if event.warning else None)
        yield f"{clock(event.time)}  {event.object}  {reason}  {event.message}"


@click.command()
@name_argument
@with_jobs
@click.option(
    "--timeout", type=float, metavar="SECONDS", help="Give up waiting after so long; the job goes on."
)
@output_option
def wait(name: str, jobs: Jobs, timeout: float | None, output: Output | None) -> int:
    """Wait for job NAME to end, without its lines; exit as it does."""
    return follow_job(jobs, name, output=output, lines=False, timeout=timeout, owns=False)


@click.command()
@name_argument
@with_jobs
def cancel(name: str, jobs: Jobs) -> None:
    """End job NAME; its logs and its status stay."""
    jobs.cancel(name)
    click.echo(f"{name}: cancelled")


@click.command()
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@with_jobs
def delete(names: tuple[str, ...], jobs: Jobs) -> None:
    """End jobs and remove all that is left of them."""
    for name in names:
        jobs.delete(name)
        click.echo(f"{name}: deleted")
