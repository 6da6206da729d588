"""Write questions about passages, each with the words of the passage that answer it.

The passages are messages to a made-up shop, drawn from the grammar of this project's demo: nobody's licence
to mind, the same rows from the same seed, and no passage of the held-out rows among those trained on.

    python make_rows.py FOLDER        writes FOLDER/train.jsonl and FOLDER/eval.jsonl
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from kfp_trainer.runtime_operator.workloads.tiny.messages import Message, messages

SEED = 23
TRAIN, EVAL = 640, 60


def main(folder: Path) -> None:
    """Write both files."""
    passages = messages(SEED)
    folder.mkdir(parents=True, exist_ok=True)
    write_rows(folder / "train.jsonl", islice(passages, TRAIN))
    write_rows(folder / "eval.jsonl", islice(passages, EVAL))


def write_rows(file: Path, passages: Iterator[Message]) -> None:
    """Write a question about each passage, in columns whose names training knows."""
    with file.open("w", encoding="utf-8") as out:
        for number, passage in enumerate(passages):
            question, answer = ask(passage, number)
            row = {"instruction": question, "input": passage.text, "output": answer}
            out.write(json.dumps(row) + "\n")


def ask(passage: Message, number: int) -> tuple[str, str]:
    """One of two questions in turn, and its answer: a piece of the passage."""
    if number % 2:
        return "Which product does the customer write about?", passage.product
    return "With which words does the customer begin?", passage.greeting


if __name__ == "__main__":
    main(Path(sys.argv[1]))
