"""The demonstration: a small chat model, rows that it does badly on, and the pipeline that mends it.

It is the pipeline `finetune_llm` as it runs on a cluster, with a TrainJob whose JobSet runs as processes
here. What was fetched or made is kept in the cache: a second run starts at once and needs no network.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from unittest.mock import patch

from kfp_trainer.runtime_operator.errors import SetupError
from kfp_trainer.runtime_operator.settings import Settings

from .demo_end import in_short, results
from .demo_material import Material, Say, small_material, tiny_material
from .demo_stop import interruptible, take_away

NEEDED = ("kfp", "torch", "transformers", "trl", "peft", "datasets", "lm_eval")
RULES = "exact_match >= base + 0.2"


def run_demo(settings: Settings, *, tiny: bool, say: Say) -> Path:
    """Run the demonstration and return the folder of its results."""
    started = time.monotonic()
    require_packages()
    folder = settings.runs / f"demo-{datetime.now(UTC):%Y%m%d-%H%M%S}"
    with interruptible(lambda: take_away(folder)), own_scratch():
        material = (tiny_material if tiny else small_material)(settings.cache / "demo", say)
        say(f"Teach {material.name} to {material.about}, and compare it with its base.")
        say(f"The pipeline finetune_llm does it here, {material.lasts}.")
        say(f"All of it lies in {in_short(folder)}; Ctrl-C takes that away.\n")
        run_pipeline(material, folder)
    for line in results(folder, material):
        say(line)
    say(f"\nDone in {time.monotonic() - started:.0f} s.")
    return folder


def require_packages() -> None:
    """Raise SetupError when this installation cannot train."""
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise SetupError(
            f"this needs {', '.join(missing)}: pip install 'kfp-trainer[local]' "
            "(3.2 GB to download: torch brings its CUDA libraries)"
        )


def run_pipeline(material: Material, folder: Path) -> None:
    """Fetch, check, fine-tune, evaluate and gate, as on a cluster."""
    from kfp_trainer.runtime_operator.jobs.place import VARIABLE as PLACE_VARIABLE

    from .catalogue import load_pipeline
    from .local_run import run_local

    arguments = {
        "model": material.model.as_uri(),
        "dataset": material.data.as_uri(),
        "training": dict(material.training),
        "evaluation": dict(material.evaluation),
        "evaluation_rules": RULES,
    }
    # whatever cluster is usual here: the folders are of this machine
    with patch.dict(os.environ, {PLACE_VARIABLE: "local"}):
        run_local(load_pipeline("finetune_llm"), arguments, folder)


@contextmanager
def own_scratch() -> Iterator[None]:
    """Let temporary files lie in a folder that goes: kfp and torch leave theirs."""
    with (
        tempfile.TemporaryDirectory(prefix="kfp-trainer-", ignore_cleanup_errors=True) as folder,
        patch.dict(os.environ, TMPDIR=folder),
        patch.object(tempfile, "tempdir", folder),
    ):
        yield
