"""The workloads as commands of this machine: the same flags, files and words as in their containers."""

from __future__ import annotations

from ..workloads.evaluate.command import evaluate_command
from ..workloads.finetune.command import finetune_command

finetune = finetune_command()
evaluate = evaluate_command()
