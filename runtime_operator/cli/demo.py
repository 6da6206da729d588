"""`kfp-trainer demo`: the whole path on one machine, in a few minutes."""

from __future__ import annotations

import click

from ..settings import read_settings


@click.command()
@click.option("--tiny", is_flag=True, help="Take a toy model that is made on the spot: a minute, no network.")
def demo(tiny: bool) -> None:
    """Fine-tune and evaluate a small language model on this machine.

    Runs the pipeline `finetune_llm` on SmolLM2-135M-Instruct (fetched once, 93 MB) and an instruction set
    made here: fine-tuning is a TrainJob whose JobSet runs as processes. Shows what the model has learnt, and
    where the reports are. Needs no GPU, 5 GB of memory and 2 GB of disk; a second run needs no network.
    """
    from kfp_trainer.pipelines.demo import run_demo

    run_demo(read_settings(), tiny=tiny, say=click.echo)
