"""A settings document as a pipeline hands it over: numbers come as floats, folders may name this very task.

Protobuf knows no whole numbers, so `200` arrives as `200.0`. `{task}` in a folder is replaced by a name that
is this execution's own and stays the same when it is retried: iterations of a loop get a folder each.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from ..launch.step import read_step

TASK = "{task}"


def plain(value: Any) -> Any:
    """The same value with whole numbers whole, at any depth."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, Mapping):
        return {name: plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    return value


def document(settings: Mapping[str, Any] | None, **fixed: Any) -> dict[str, Any]:
    """Settings as given, with what the component itself decides."""
    return {**plain(settings or {}), **fixed}


def own_folder(path: str) -> Path:
    """The folder to write to; `{task}` in it stands for this execution of this task."""
    if TASK not in path:
        return Path(path)
    step = read_step(sys.argv)
    name = f"{step.task or 'task'}-{sha256(step.key.encode()).hexdigest()[:10]}"
    return Path(path.replace(TASK, name))
