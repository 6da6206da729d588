"""Importing the workloads, and asking for help, loads none of the heavy libraries."""

import subprocess
import sys

PROGRAM = """
import sys
import kfp_trainer.runtime_operator.workloads
import kfp_trainer.runtime_operator.workloads.dataset.command
import kfp_trainer.runtime_operator.workloads.gguf.command
import kfp_trainer.runtime_operator.workloads.finetune.command
import kfp_trainer.runtime_operator.workloads.evaluate.command
import kfp_trainer.runtime_operator.workloads.tiny
heavy = {"torch", "transformers", "trl", "peft", "datasets", "kubernetes", "aiohttp"}
print(*sorted(heavy & set(sys.modules)))
"""


def test_nothing_heavy_is_loaded() -> None:
    loaded = subprocess.run(
        [sys.executable, "-c", PROGRAM], check=True, capture_output=True, text=True
    ).stdout
    assert loaded.strip() == ""
