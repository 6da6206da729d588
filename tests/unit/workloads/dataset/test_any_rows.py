"""Whatever JSON rows are made of, a check ends with a verdict, and what it writes can be read again."""

import json
from pathlib import Path
from random import Random
from typing import Any

from kfp_trainer.runtime_operator.workloads.dataset import CheckSettings, check_dataset, load_rows
from kfp_trainer.runtime_operator.workloads.dataset.rules import RULES
from tests.counts import count

NAMES = (
    "prompt completion messages conversations role content from value text chosen rejected instruction input "
    "output system tools tool_calls name"
).split()
WORDS = [
    "user",
    "assistant",
    "system",
    "tool",
    "human",
    "gpt",
    "",
    " ",
    "a",
    "é",
    "\ud83d",
    "\x00",
    "[{",
    "<|im_end|>",
]


def anything(chance: Random, depth: int = 0) -> Any:
    """A JSON value in which the names and words of conversations turn up in the wrong places."""
    kind = chance.randrange(9 if depth < 4 else 6)
    match kind:
        case 0:
            return None
        case 1:
            return chance.choice([True, 0, -1, 2**70, 1.5, 1e300])
        case 2 | 3 | 4 | 5:
            return chance.choice(WORDS)
        case 6:
            return [anything(chance, depth + 1) for _ in range(chance.randrange(4))]
        case 7:
            return turns(chance)
        case _:
            return {chance.choice(NAMES): anything(chance, depth + 1) for _ in range(chance.randrange(4))}


def turns(chance: Random) -> list[Any]:
    made: list[Any] = [
        {"role": role, "content": f"{role} {chance.randrange(10**6)}"}
        for role in ("user", "assistant", "user", "assistant")[: chance.choice([2, 2, 2, 4])]
    ]
    if chance.random() < 0.3:
        made[chance.randrange(len(made))][chance.choice(NAMES)] = anything(chance, 3)
    return made


def row(chance: Random, shape: int) -> Any:
    if chance.random() < 0.15:
        return anything(chance)
    match shape:
        case 0:
            made: dict[str, Any] = {"messages": turns(chance)}
        case 1:
            made = {"prompt": f"q {chance.random()}", "completion": f"a {chance.random()}"}
        case 2:
            made = {"prompt": turns(chance)[:1], "chosen": turns(chance)[1:2], "rejected": turns(chance)[1:2]}
        case _:
            made = {"chosen": turns(chance), "rejected": turns(chance)}
    if chance.random() < 0.2:
        made[chance.choice(NAMES)] = anything(chance)
    return made


def test_any_rows_get_a_verdict(tmp_path: Path) -> None:
    accepted = 0
    for seed in range(count(1500, sampled=60)):
        chance = Random(seed)
        shape = chance.randrange(4)
        rows = [row(chance, shape) for _ in range(30)]
        dataset = tmp_path / "rows.jsonl"
        dataset.write_text("".join(json.dumps(one) + "\n" for one in rows))
        droppable = [name for name, rule in RULES.items() if rule.droppable]
        more = {"drop": droppable} if seed % 2 else {}
        settings = CheckSettings.model_validate({"dataset": dataset, "output": tmp_path / "out", **more})
        report = check_dataset(settings)
        if report.accepted:
            accepted += 1
            data = tmp_path / "out" / "data"
            read = {split: len(list(load_rows(data, split))) for split in report.written}
            assert read == report.written, seed
    assert accepted > 10
