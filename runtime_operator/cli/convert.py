"""`convert`: from a job of an older kind to the TrainJob and the runtime that do the same.

The documents go to stdout, what they cannot say to stderr. Nothing is written or applied.
"""

from __future__ import annotations

from collections.abc import Sequence

import click

from ..api.legacy import is_legacy, read_legacy
from ..errors import SpecError
from ..render.legacy.convert import convert as convert_job
from ..render.legacy.dry_run import dry_run_any
from ..render.spelling import no_job
from .documents import named, read_documents
from .files_option import files_option
from .output import Output, output_option, print_data
from .refusals import refusals, with_object


@click.command()
@files_option("Jobs of kubeflow.org: TFJob, PyTorchJob, MPIJob …")
@output_option
def convert(files: Sequence[str], output: Output) -> None:
    """Print the TrainJob and the runtime that do what a job of an older kind does, and tell what is lost."""
    given = read_documents(files)
    documents = [each for each in given if is_legacy(each)]
    if not documents:
        raise SpecError(f"{named(files)}: {no_job(given, wanted='job of an older kind')}")
    run = dry_run_any(documents)
    errors = refusals(run.jobs)
    if errors:
        raise SpecError([with_object(each) for each in errors])
    printed = []
    for job in run.jobs:
        made = convert_job(read_legacy(job.review.stored))
        printed += [dict(made.runtime), dict(made.train_job)]
        for lost in made.lost:
            mark = click.style("not carried over:", fg="yellow")
            click.echo(f"{mark} {job.review.name}: {lost}", err=True)
    print_data(printed, output)
