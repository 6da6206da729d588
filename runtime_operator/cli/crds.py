"""`crds`: the custom resource definitions, made from the models at the moment they are printed."""

from __future__ import annotations

import click

from .. import api
from .output import Output, output_option, print_data


@click.command()
@output_option
def crds(output: Output) -> None:
    """Print the custom resource definitions, ready for `kubectl apply -f -`."""
    if output == "json":
        print_data(list(api.crds().values()), output)
    else:  # the text of the files in manifests/crds, which is a third of their size in plain YAML
        click.echo("---\n".join(api.crd_files().values()), nl=False)
