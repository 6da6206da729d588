"""`crds`: the custom resource definitions, made from the models at the moment they are printed."""

from __future__ import annotations

import click

from .. import api
from ..api.legacy import legacy_crd_files, legacy_crds
from .output import Output, output_option, print_data

OURS, OLDER = "trainer.kubeflow.org", "kubeflow.org"


@click.command()
@click.argument("group", type=click.Choice([OURS, OLDER]), default=OURS)
@output_option
def crds(group: str, output: Output) -> None:
    """Print the custom resource definitions of a group, ready for `kubectl apply -f -`.

    trainer.kubeflow.org, the default, has TrainJob and its runtimes; kubeflow.org has the older kinds: TFJob,
    PyTorchJob, MPIJob …
    """
    made, texts = (api.crds(), api.crd_files()) if group == OURS else (legacy_crds(), legacy_crd_files())
    if output == "json":
        print_data(list(made.values()), output)
    else:  # the text of the shipped files, which is a third of their size in plain YAML
        click.echo("---\n".join(texts.values()), nl=False)
