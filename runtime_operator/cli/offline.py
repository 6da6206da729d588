"""`render`, `validate` and `explain`: what becomes of a job, without a cluster.

All three take the same documents through the same steps as a cluster would (`render.dry_run`) and differ
only in what they print. Objects go to stdout, warnings to stderr; a refusal is exit code 2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from functools import wraps
from shutil import get_terminal_size
from typing import Any, Literal

import click

from ..controller.apply_rules import to_apply
from ..errors import FieldError, SpecError
from ..render.draw import draw
from ..render.dry_run import DryRun, Outcome, Review
from ..render.explain import explain as retell
from ..render.legacy.dry_run import dry_run_any
from ..render.plan import Plan
from ..render.spelling import no_job
from .documents import named, read_documents, shipped_runtimes
from .files_option import files_option
from .output import Output, output_option, print_data
from .refusals import refusals, with_object

Compat = Literal["upstream"]
Work = Callable[[Sequence[str], Output | None, Compat | None], None]
Option = Callable[[Callable[..., int]], Callable[..., int]]

WIDEST = 120
STYLES: dict[str, dict[str, Any]] = {
    "title": {"bold": True},
    "name": {"fg": "cyan"},
    "warning": {"fg": "yellow"},
}

documents_option = files_option("A job, its runtime, context (PriorityClass, LimitRange, what exists)")
compat_option = click.option(
    "--compat",
    type=click.Choice(["upstream"]),
    help="Answer as Kubeflow Trainer 2.3 does, faults included: to compare, never to run.",
)
data_option = click.option(
    "-o",
    "--output",
    type=click.Choice(["yaml", "json"]),
    help="Print data for programs, instead of text for people.",
)


def offline(output: Option) -> Callable[[Work], Callable[..., int]]:
    """Give a command the options of this file, and one way to say no."""

    def decorate(work: Work) -> Callable[..., int]:
        @documents_option
        @output
        @compat_option
        @wraps(work)
        def command(files: Sequence[str], output: Output | None, compat: Compat | None) -> int:
            try:
                work(files, output, compat)
            except SpecError as error:
                if output == "json":
                    print_data(_verdict(error.errors, error.warnings), output)
                    return error.exit_code
                _warn(error.warnings)
                raise SpecError([with_object(each) for each in error.errors]) from error
            return 0

        return command

    return decorate


@click.command()
@offline(output_option)
def render(files: Sequence[str], output: Output | None, compat: Compat | None) -> None:
    """Print the objects a job becomes, in the order in which they are applied.

    Of objects that exist already (a JobSet that runs, keys), what the operator would leave alone is left out.
    """
    run = _try(files, compat)
    _warn(_warnings(run))
    applied: list[dict[str, Any]] = []
    for job, plan in zip(run.jobs, _plans(run), strict=True):
        due = to_apply(plan.objects, job.review.stored, job.facts.existing)
        applied += [dict(each) for each in due]
        for each in plan.objects:
            if each not in due:
                click.echo(f"left alone: {each['kind']} {each['metadata']['name']}", err=True)
    print_data(applied, output or "yaml")


@click.command()
@offline(data_option)
def validate(files: Sequence[str], output: Output | None, compat: Compat | None) -> None:
    """Say whether jobs and runtimes are right, and what to mend."""
    run = _try(files, compat, needs_jobs=False)
    if output is not None:
        print_data(_verdict((), _warnings(run)), output)
        return
    _warn(_warnings(run))
    for review in (*run.runtimes, *(job.review for job in run.jobs)):
        click.echo(f"{review.name} is right")


@click.command()
@offline(data_option)
def explain(files: Sequence[str], output: Output | None, compat: Compat | None) -> None:
    """Draw a job: who waits for whom, how many processes, what is where, and why."""
    run = _try(files, compat)
    stories = [
        retell(
            job.review.stored, plan, warnings=(*(job.runtime.warnings if job.runtime else ()), *job.warnings)
        )
        for job, plan in zip(run.jobs, _plans(run), strict=True)
    ]
    if output is not None:
        print_data([asdict(story) for story in stories], output)
        return
    width = min(get_terminal_size().columns, WIDEST)
    click.echo("\n".join(draw(story, width=width, paint=_paint) for story in stories), nl=False)


def _try(files: Sequence[str], compat: Compat | None, *, needs_jobs: bool = True) -> DryRun:
    """Try the documents of the files; SpecError holds each reason why one of them can't be."""
    documents = read_documents(files)
    run = dry_run_any(documents, shipped=shipped_runtimes(), compat=compat)
    if not run.jobs and (needs_jobs or not run.runtimes):
        raise SpecError(f"{named(files)}: {no_job(documents)}")
    errors = refusals(_parts(run))
    if errors:
        raise SpecError(errors, warnings=_warnings(run))
    return run


def _parts(run: DryRun) -> tuple[Review | Outcome, ...]:
    return (*run.runtimes, *run.jobs)


def _plans(run: DryRun) -> list[Plan]:
    return [job.plan for job in run.jobs if job.plan is not None]


def _warnings(run: DryRun) -> tuple[str, ...]:
    return tuple(dict.fromkeys(warning for each in _parts(run) for warning in each.warnings))


def _verdict(errors: Iterable[FieldError], warnings: Iterable[str]) -> dict[str, Any]:
    said = [{"field": each.field, "type": each.type, "detail": each.detail} for each in errors]
    return {"errors": said, "warnings": list(warnings)}


def _warn(warnings: Iterable[str]) -> None:
    for warning in warnings:
        click.echo(f"{click.style('warning:', fg='yellow')} {warning}", err=True)


def _paint(text: str, style: str) -> str:
    return click.style(text, **STYLES.get(style, {}))
