"""The demo's base model, made once on this machine: it answers the small world's general questions.

Some twenty seconds of training are kept in the project's cache, under the digest of the recipe.
"""

import json
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

import pytest

from kfp_trainer.runtime_operator.workloads.tiny import make_tiny_model
from kfp_trainer.runtime_operator.workloads.tiny import messages as world
from kfp_trainer.runtime_operator.workloads.tiny import model as recipe

CACHE = Path(__file__).resolve().parent.parent / ".cache" / "tests"


def tiny_base() -> Path:
    """The folder of the model, which no test may change."""
    return make_tiny_model(CACHE / "tiny-base")


def untrained_model(folder: Path, *, steps: int = 2, rows: int = 256, **shape: int) -> Path:
    """A model of the same kind that has read next to nothing: a whole folder in a second."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(recipe, "STEPS", steps)
        patch.setattr(recipe, "ROWS", rows)
        patch.setattr(recipe, "SHAPE", {**recipe.SHAPE, **shape})
        return make_tiny_model(folder)


def general_rows(seed: int, rows: int) -> list[dict[str, str]]:
    """Questions that the model answers nearly without a mistake; others for every seed."""
    chance = Random(seed)
    found = (world.general(message, chance) for message in islice(world.messages(seed), rows))
    return [{"prompt": prompt, "completion": answer} for prompt, answer in found]


def write_rows(file: Path, rows: Sequence[Mapping[str, Any]]) -> Path:
    """Rows as a file of JSON lines."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return file
