"""The runtimes that come with this package, which serve where a file has none of that name."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files
from typing import Any

import yaml

KINDS = ("ClusterTrainingRuntime", "TrainingRuntime")


@lru_cache(maxsize=1)
def shipped_runtimes() -> tuple[Mapping[str, Any], ...]:
    """All of them, in the order of their files."""
    folder = files("kfp_trainer.manifests").joinpath("runtimes")
    texts = sorted(
        (each.name, each.read_text("utf-8")) for each in folder.iterdir() if each.name.endswith(".yaml")
    )
    documents = (document for _, text in texts for document in yaml.load_all(text, Loader=yaml.CSafeLoader))
    return tuple(each for each in documents if each and each.get("kind") in KINDS)
