"""`kfp-trainer demo`: the whole path on one machine, in about a minute."""

from __future__ import annotations

import click

from ..settings import read_settings


@click.command()
def demo() -> None:
    """Fine-tune and evaluate a small model on this machine.

    Makes a small base model and an instruction set from nothing, runs the pipeline `finetune_llm` on them
    (fine-tuning as a TrainJob whose JobSet runs as processes here), and shows what the model has learnt and
    where the reports are. Needs no GPU and no network.
    """
    from kfp_trainer.pipelines.demo import run_demo

    run_demo(read_settings(), say=click.echo)
