"""Writes the instruction set as a dataset folder: rows to learn from, rows to be judged by, a card on both.

No two rows tell the same problem of the same product, so that none of the held-out ones can be answered from
memory; half of those are made of words that no training row has. Same code, same bytes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from itertools import islice
from pathlib import Path

from ..files import new_folder, write_text
from .tickets import ASK, Shop, Ticket

SEED = 7
TRAIN_ROWS = 640
EVAL_ROWS = 60
CARD = """---
license: apache-2.0
language: en
pretty_name: Support tickets
size_categories: n<1K
task_categories:
- text-generation
tags:
- synthetic
---
# Support tickets

What customers of a household shop write, and the ticket that the support desk makes of it: one line of JSON
with the product, the order's number, what is asked for, and on which day to call; null where nothing is said.

| file | rows | of them |
|---|---|---|
| `train.jsonl` | {train} | |
| `eval.jsonl` | {held_out} | {new} made of products and sentences that no training row has |

Every message is drawn from a grammar in the program kfp-trainer (seed {seed}), which also knows the right
ticket; no text was taken from elsewhere, no person is in it. No two rows tell the same problem
of the same product. The question is always:

> {ask}

Made to show fine-tuning on a small model. It is no measure of what a model can do for a real support desk.
"""


def make_ticket_data(folder: Path) -> Path:
    """Write `train.jsonl`, `eval.jsonl` and `README.md` into `folder`; what stands there is replaced."""
    shop = Shop(SEED)
    train = list(islice(shop.training(), TRAIN_ROWS))
    held_out = list(islice(shop.held_out(), EVAL_ROWS))
    new = sum(ticket.new_words for ticket in held_out)
    card = CARD.format(train=len(train), held_out=len(held_out), new=new, seed=SEED, ask=ASK)
    with new_folder(folder) as part:
        _write(part / "train.jsonl", train)
        _write(part / "eval.jsonl", held_out)
        write_text(part / "README.md", card)
    return folder


def _write(file: Path, tickets: Iterable[Ticket]) -> None:
    lines = [json.dumps({"messages": ticket.turns}) for ticket in tickets]
    file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
