"""The examples as their readers find them: a job's documents, the script in it, what a README runs."""

from pathlib import Path
from typing import Any

import yaml

from kfp_trainer.runtime_operator.cli.pipelines import parse_parameters
from tests.pages.blocks import ROOT, blocks_of
from tests.pages.shell import commands

FOLDER = ROOT / "pipelines/examples"
JOBS = sorted(path.parent.name for path in FOLDER.glob("*/job.yaml"))
READMES = {path.parent.name: path for path in sorted(FOLDER.glob("*/README.md"))}
BY_PIPELINE = sorted(name for name, page in READMES.items() if "pipelines run --local" in page.read_text())


def documents(name: str) -> list[dict[str, Any]]:
    """The ConfigMap with the script, and the TrainJob."""
    return list(yaml.safe_load_all((FOLDER / name / "job.yaml").read_text()))


def script(name: str) -> str:
    """The program that the job runs."""
    text: str = documents(name)[0]["data"]["train.py"]
    return text


def local_pipeline(name: str, *, here: Path = ROOT) -> tuple[str, dict[str, Any]]:
    """The pipeline that an example's README runs on this machine, and its parameters."""
    shell = "".join(block.text for block in blocks_of(READMES[name]) if block.language == "sh")
    runs = [each for each in commands(shell.replace("$PWD", str(here))) if "--local" in each]
    (words,) = runs
    place = words.index("--local") + 1
    pairs = words[place + 2 :: 2]
    return words[place], parse_parameters(pairs, known={pair.partition("=")[0] for pair in pairs})
