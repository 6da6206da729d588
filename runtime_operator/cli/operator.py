"""`operator`: serve TrainJobs on a cluster, from inside it or from beside it."""

from __future__ import annotations

import asyncio
import signal
import sys
from pathlib import Path

import click

from ..errors import SetupError
from .older_kinds_options import with_installation

PORT = click.IntRange(0, 65535)


@click.command()
@click.option(
    "-n", "--namespace", default="", metavar="NS", help="Serve this namespace alone, with rights there only."
)
@click.option(
    "--own-namespace", default="", metavar="NS", help="Where the operator lives: its Lease and certificate."
)
@click.option(
    "--kubeconfig",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Act as this file says, not as the pod this runs in.",
)
@click.option("--context", default="", metavar="NAME", help="Which context of the kubeconfig.")
@click.option("--no-webhook", is_flag=True, help="Judge jobs when they are built, not when they are created.")
@click.option(
    "--cert-dir",
    type=click.Path(file_okay=False, path_type=Path),
    help="Serve with tls.crt and tls.key of this folder, renewed by somebody else; trust is not published.",
)
@click.option("--no-leader-election", is_flag=True, help="Act at once: there is no other replica.")
@click.option(
    "--feature-gates",
    default="",
    metavar="GATE=true,…",
    help="TrainJobStatus: take in the progress of trainers.",
)
@click.option(
    "--workers", type=click.IntRange(1, 1024), default=64, show_default=True, help="Jobs worked on at a time."
)
@click.option(
    "--cluster-domain", default="cluster.local", show_default=True, help="The domain of the cluster's names."
)
@with_installation
@click.option("--host", default="", metavar="ADDRESS", help="Listen on this address alone.")
@click.option("--health-port", type=PORT, default=8081, show_default=True, help="/healthz and /readyz.")
@click.option("--metrics-port", type=PORT, default=8443, show_default=True, help="/metrics.")
@click.option("--webhook-port", type=PORT, default=9443, show_default=True, help="Admission.")
@click.option("--progress-port", type=PORT, default=10443, show_default=True, help="Progress of trainers.")
@click.option(
    "--log-level",
    type=click.Choice(["debug", "info", "warning", "error"]),
    default="info",
    show_default=True,
    help="How much is told.",
)
def operator(
    *,
    log_level: str,
    feature_gates: str,
    older_kinds: str,
    no_webhook: bool,
    no_leader_election: bool,
    **options: object,
) -> None:
    """Turn the TrainJobs of a cluster, and jobs of older kinds, into JobSets, and report on them."""
    try:
        from ..service.logs import set_up_logs
        from ..service.process import run_operator
        from ..service.settings import ServiceSettings, read_gates, read_older_kinds

        if sys.platform == "linux":
            from uvloop import run
        else:
            from asyncio import run
    except ModuleNotFoundError as missing:
        raise SetupError(
            f"operator: {missing.name} is not installed; pip install 'kfp-trainer[operator]'"
        ) from missing

    set_up_logs(log_level)
    settings = ServiceSettings(
        webhook=not no_webhook,
        leader_election=not no_leader_election,
        features=read_gates(feature_gates),
        older_kinds=read_older_kinds(older_kinds),
        **options,  # type: ignore[arg-type]
    )

    async def until_stopped() -> None:
        stop, loop = asyncio.Event(), asyncio.get_running_loop()
        for each in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(each, stop.set)
        await run_operator(settings, stop)

    run(until_stopped())
