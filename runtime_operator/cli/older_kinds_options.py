"""What the operator is told of the older kinds: which are served, and what v1's flags said of them.

Those flags keep their names; `--older-kinds` is its `--enable-scheme`, and CUSTOM_CLUSTER_DOMAIN an option.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

import click

from ..api.legacy import LEGACY_KINDS
from ..render.legacy import Installation

Result = TypeVar("Result")

_DEFAULT = Installation()
_OPTIONS = (
    click.option(
        "--older-kinds",
        default="",
        metavar="KIND,…",
        help=f"Kinds of kubeflow.org to serve: {', '.join(LEGACY_KINDS)}.",
    ),
    click.option(
        "--gang-scheduler-name",
        "gang_scheduler",
        default=_DEFAULT.gang_scheduler,
        metavar="NAME",
        help="Older kinds: who places a job's pods together: volcano, or a scheduler with scheduler-plugins.",
    ),
    click.option(
        "--custom-cluster-domain",
        "custom_domain",
        default=_DEFAULT.custom_domain,
        metavar="DOMAIN",
        help="Older kinds: what the names in TF_CONFIG end in.",
    ),
    click.option(
        "--pytorch-init-container-image",
        "init_image",
        default=_DEFAULT.init_image,
        show_default=True,
        metavar="IMAGE",
        help="Older kinds: in it, workers of a PyTorchJob wait for the name of their master.",
    ),
    click.option(
        "--pytorch-init-container-max-tries",
        "init_tries",
        type=click.IntRange(min=0),
        default=_DEFAULT.init_tries,
        show_default=True,
        help="Older kinds: how often they look the name up.",
    ),
    click.option(
        "--mpi-kubectl-delivery-image",
        "kubectl_image",
        default=_DEFAULT.kubectl_image,
        show_default=True,
        metavar="IMAGE",
        help="Older kinds: brings kubectl to the launchers of MPIJobs.",
    ),
)


def with_installation(command: Callable[..., Result]) -> Callable[..., Result]:
    """Give a command, as `installation`, what is decided for all jobs of the older kinds."""

    @wraps(command)
    def run(
        *,
        gang_scheduler: str,
        custom_domain: str,
        init_image: str,
        init_tries: int,
        kubectl_image: str,
        **options: Any,
    ) -> Result:
        installation = Installation(
            gang_scheduler=gang_scheduler,
            custom_domain=custom_domain,
            init_image=init_image,
            init_tries=init_tries,
            kubectl_image=kubectl_image,
        )
        return command(installation=installation, **options)

    for option in reversed(_OPTIONS):
        run = option(run)
    return run
