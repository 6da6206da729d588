"""The workloads as commands of this machine: the same flags, files and words as in their containers."""

from __future__ import annotations

from ..workloads.dataset.command import dataset_command
from ..workloads.evaluate.command import evaluate_command
from ..workloads.export.command import export_command
from ..workloads.fetch.command import fetch_command
from ..workloads.finetune.command import finetune_command
from ..workloads.gate.command import gate_command

dataset = dataset_command()
fetch = fetch_command()
finetune = finetune_command()
evaluate = evaluate_command()
gate = gate_command()
export = export_command()
