"""The demo's instruction set: sort a customer's message into queue and urgency.

The rows come from the project's own grammar (licence: the project's). No message of the held-out rows
stands in the training rows, so a high score on them is more than memory. Same code, same bytes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from itertools import islice
from pathlib import Path

from ..files import new_folder
from .messages import Message, instruction, messages

SEED = 7
TRAIN_ROWS = 1024
EVAL_ROWS = 100


def make_demo_data(folder: Path) -> Path:
    """Write `train.jsonl` and `eval.jsonl` into `folder`; what stands there is replaced."""
    stream = messages(SEED)
    with new_folder(folder) as part:
        _write(part / "train.jsonl", islice(stream, TRAIN_ROWS))
        _write(part / "eval.jsonl", islice(stream, EVAL_ROWS))
    return folder


def _write(file: Path, chosen: Iterable[Message]) -> None:
    with file.open("w", encoding="utf-8") as out:
        for message in chosen:
            prompt, completion = instruction(message)
            out.write(json.dumps({"prompt": prompt, "completion": completion}) + "\n")
