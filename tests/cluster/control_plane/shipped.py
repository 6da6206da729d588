"""Reads what the parts' authors ship: only the manifests of the kinds that are wanted are parsed."""

import re
from functools import cache
from pathlib import Path
from typing import Any

import yaml


def documents(file: Path, kinds: str) -> list[dict[str, Any]]:
    """The manifests of these kinds, a regular expression, in a file that may hold much else."""
    found = (text for text in texts(file) if re.search(rf"^kind: {kinds}\s*$", text, re.MULTILINE))
    return [yaml.load(text, Loader=yaml.CSafeLoader) for text in found]


@cache
def texts(file: Path) -> list[str]:
    """The manifests of a file as they stand there."""
    return re.split(r"^---.*$", file.read_text(encoding="utf-8"), flags=re.MULTILINE)
