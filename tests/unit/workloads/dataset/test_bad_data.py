"""Every class of bad data is refused, with the file, the row, the rule, the value and what to do."""

import gzip
import io
import json
import pickle
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from pyarrow import parquet

from kfp_trainer.runtime_operator.workloads.dataset.check import check_dataset
from kfp_trainer.runtime_operator.workloads.dataset.result import DatasetReport
from kfp_trainer.runtime_operator.workloads.dataset.rules import RULES
from kfp_trainer.runtime_operator.workloads.dataset.settings import CheckSettings

ROWS = 40
BAD_ROW = 7


@dataclass
class Case:
    """Files of a dataset, and what is said of them."""

    files: dict[str, bytes]
    rule: str
    where: str
    words: str
    more: dict[str, Any] = field(default_factory=dict)


def pair(number: int) -> dict[str, Any]:
    return {"prompt": f"What is the colour of number {number}?", "completion": f"It is shade {number}."}


def chat(number: int, *roles: str) -> dict[str, Any]:
    turns = [{"role": role, "content": f"{role} {at} of {number}"} for at, role in enumerate(roles)]
    return {"messages": turns}


def preference(number: int) -> dict[str, Any]:
    return {"prompt": f"Question {number}", "chosen": f"good {number}", "rejected": f"bad {number}"}


def lines(rows: list[Any]) -> bytes:
    return b"".join(row if isinstance(row, bytes) else json.dumps(row).encode() + b"\n" for row in rows)


def pairs_with(bad: Any, *, name: str = "train.jsonl") -> dict[str, bytes]:
    """Forty good rows of which the seventh is replaced."""
    rows: list[Any] = [pair(number) for number in range(1, ROWS + 1)]
    rows[BAD_ROW - 1] = bad
    return {name: lines(rows)}


def chats_with(bad: Any) -> dict[str, bytes]:
    rows: list[Any] = [chat(number, "user", "assistant") for number in range(1, ROWS + 1)]
    rows[BAD_ROW - 1] = bad
    return {"train.jsonl": lines(rows)}


def turns_with(**bad: Any) -> dict[str, bytes]:
    return chats_with({"messages": [{"role": "user", "content": "a"}, {"role": "assistant", **bad}]})


def preferences_with(bad: Any) -> dict[str, bytes]:
    rows = [preference(number) for number in range(1, ROWS + 1)]
    rows[BAD_ROW - 1] = bad
    return {"train.jsonl": lines(rows)}


def csv_with(bad: str, header: str = "prompt,completion") -> dict[str, bytes]:
    rows = [f"question {number},answer {number}" for number in range(1, ROWS + 1)]
    rows[BAD_ROW - 1] = bad
    return {"train.csv": "\n".join([header, *rows, ""]).encode("utf-8", "surrogateescape")}


GOOD = pairs_with(pair(BAD_ROW))["train.jsonl"]
ROW = f"train.jsonl: row {BAD_ROW}: "
CSV_ROW = f"train.csv: row {BAD_ROW} (line {BAD_ROW + 1}): "
TEXT = "a text long enough to be one of its own, number "


NUMBERS = range(1, ROWS + 1)
USER, ASSISTANT = chat(1, "user", "assistant")["messages"]


def parquet_with(bad: bytes, names: Sequence[str] = ("prompt", "completion")) -> bytes:
    """Forty rows of texts whose bytes nobody looked at."""
    prompts = [bad if number == BAD_ROW else f"question {number}".encode() for number in NUMBERS]
    columns = [prompts, [f"answer {number}".encode() for number in NUMBERS]]
    arrays = [
        pyarrow.Array.from_buffers(pyarrow.string(), ROWS, pyarrow.array(column, pyarrow.binary()).buffers())
        for column in columns
    ]
    sink = io.BytesIO()
    parquet.write_table(pyarrow.Table.from_arrays(arrays, list(names)), sink)
    return sink.getvalue()


def deep(depth: int) -> bytes:
    return b'{"prompt": ' + b"[" * depth + b"]" * depth + b', "completion": "b"}\n'


CASES = {
    "a pickle": Case({"train.pkl": pickle.dumps([1])}, "pickle", "train.pkl: ", "is pickled data"),
    "a pickle under another name": Case(
        {"train.jsonl": pickle.dumps([pair(1)])},
        "pickle",
        "train.jsonl: ",
        "save it as JSON lines or Parquet",
    ),
    "a pickle beside good rows": Case(
        {"train.jsonl": GOOD, "extra.pt": b"PK\x03\x04"}, "pickle", "extra.pt: ", "is pickled data (.pt)"
    ),
    "an empty file": Case({"train.jsonl": b""}, "empty-file", "train.jsonl: ", "is empty"),
    "nothing but blank lines": Case(
        {"train.jsonl": b"\n\n  \n"}, "empty-file", "train.jsonl: ", "has no rows"
    ),
    "a table with a header and no rows": Case(
        {"train.csv": b"prompt,completion\n"}, "empty-file", "train.csv: ", "has no rows"
    ),
    "a gzip that was cut off": Case(
        {"train.jsonl.gz": gzip.compress(GOOD)[:-30]}, "damaged-file", "train.jsonl.gz: ", "cannot be read on"
    ),
    "a name that promises a gzip": Case(
        {"train.jsonl.gz": GOOD}, "damaged-file", "train.jsonl.gz: ", "is not compressed although"
    ),
    "text under the name of Parquet": Case(
        {"train.parquet": GOOD}, "damaged-file", "train.parquet: ", "does not begin like one"
    ),
    "Parquet that was cut off": Case(
        {"train.parquet": b"PAR1" + bytes(500)}, "damaged-file", "train.parquet: ", "cannot be read on"
    ),
    "Arrow that was cut off": Case(
        {"train.arrow": b"ARROW1\0\0" + bytes(64)}, "damaged-file", "train.arrow: ", "cannot be read on"
    ),
    "a last line that ends in the middle": Case(
        {"train.jsonl": GOOD + b'{"prompt": "What is'},
        "not-json",
        f"train.jsonl: row {ROWS + 1}: ",
        "too early",
    ),
    "a line that is not JSON": Case(
        pairs_with(b"{oops}\n"), "not-json", ROW, "is not JSON, expecting property"
    ),
    "a line in Python's quotes": Case(
        pairs_with(b"{'prompt': 'a', 'completion': 'b'}\n"), "not-json", ROW, "Python's quotes are not JSON's"
    ),
    "two objects on one line": Case(
        pairs_with(json.dumps(pair(1)).encode() * 2 + b"\n"), "not-json", ROW, "two objects stand on one line"
    ),
    "a number that JSON does not know": Case(
        pairs_with(b'{"prompt": "a", "completion": NaN}\n'), "not-json", ROW, "it holds NaN"
    ),
    "an object nested too deeply": Case(pairs_with(deep(100_000)), "not-json", ROW, "nested too deeply"),
    "one array over many lines called .jsonl": Case(
        {"train.jsonl": json.dumps([pair(1), pair(2)], indent=1).encode()},
        "not-json",
        "train.jsonl: row 1: ",
        "call the file .json",
    ),
    "a JSON list that ends in the middle": Case(
        {"train.json": json.dumps([pair(n) for n in range(9)]).encode()[:-9]},
        "not-json",
        "train.json: row 9: ",
        "the list ends in the middle",
    ),
    "a line that is a list": Case(pairs_with(b"[1, 2]\n"), "not-an-object", ROW, "is a list ([1, 2])"),
    "a line that is text": Case(pairs_with(b'"hello"\n'), "not-an-object", ROW, "is text ('hello')"),
    "a name twice in one object": Case(
        pairs_with(b'{"prompt": "a", "prompt": "b", "completion": "c"}\n'),
        "duplicate-key",
        ROW,
        "names 'prompt' twice",
    ),
    "bytes that are not UTF-8": Case(
        pairs_with(b'{"prompt": "caf\xe9", "completion": "b"}\n'), "not-utf8", ROW, r"b'\xe9"
    ),
    "a file of UTF-16": Case(
        {"train.jsonl": GOOD.decode().encode("utf-16")}, "not-utf8", "train.jsonl: row 1: ", "is UTF-16 text"
    ),
    "a table of UTF-16": Case(
        {"train.csv": "prompt,completion\na,b\n".encode("utf-16")}, "not-utf8", "train.csv: row 1: ", "UTF-16"
    ),
    "a table with a byte that is not UTF-8": Case(
        csv_with("caf\udce9,b"), "not-utf8", CSV_ROW, "is not UTF-8 in prompt"
    ),
    "a row with too many fields": Case(
        csv_with("a,b,c"), "ragged-row", CSV_ROW, "has 3 fields, the header 2"
    ),
    "a row with too few fields": Case(csv_with("a"), "ragged-row", CSV_ROW, "has 1 fields, the header 2"),
    "a quote that is never closed": Case(csv_with('"a,b'), "damaged-file", CSV_ROW, "never closed"),
    "a header with a name twice": Case(
        csv_with("a,b,c", header="prompt,completion,prompt"),
        "bad-header",
        "train.csv: ",
        "names 'prompt' twice",
    ),
    "a NUL byte": Case(
        pairs_with(b'{"prompt": "a\0b", "completion": "c"}\n'),
        "control-character",
        ROW,
        "NUL byte at column 14",
    ),
    "an escaped control character": Case(
        pairs_with(rb'{"prompt": "a\u0008b", "completion": "c"}' + b"\n"), "control-character", ROW, r"'\x08'"
    ),
    "half a character": Case(
        pairs_with(rb'{"prompt": "a\ud83d", "completion": "c"}' + b"\n"), "lone-surrogate", ROW, r"'\ud83d'"
    ),
    "a character lost in decoding": Case(
        pairs_with({"prompt": "caf\ufffd", "completion": "b"}), "replacement-character", ROW, "at character 4"
    ),
    "text decoded with the wrong encoding": Case(
        pairs_with({"prompt": "the cafÃ© is closed", "completion": "b"}), "mojibake", ROW, "cafÃ©"
    ),
    "rows of nothing but zeros": Case(
        {"train.jsonl": bytes(3000)}, "control-character", "train.jsonl: row 1: ", "NUL byte at column 1"
    ),
    "columns of no known shape": Case(
        {"train.jsonl": lines([{"prompt": f"q {n}", "id": n} for n in range(ROWS)])},
        "unknown-shape",
        "train.jsonl: row 1: ",
        "has the columns id, prompt, which make no prompt and answer",
    ),
    "a pair of equal conversations": Case(
        preferences_with(
            {
                "prompt": None,
                "chosen": chat(1, "user", "assistant")["messages"],
                "rejected": chat(1, "user", "assistant")["messages"],
            }
        ),
        "null-value",
        ROW,
        "prompt is null",
    ),
    "a pair without a prompt, of one conversation": Case(
        preferences_with(
            {
                "chosen": chat(1, "user", "assistant")["messages"],
                "rejected": chat(1, "user", "assistant")["messages"],
            }
        ),
        "same-pair",
        ROW,
        "has one conversation as chosen and as rejected",
    ),
    "a pair without a prompt, of one text": Case(
        preferences_with({"chosen": "a b", "rejected": "a b"}),
        "same-pair",
        ROW,
        "one answer as chosen and as rej",
    ),
    "a pair of texts that begin differently": Case(
        preferences_with({"chosen": "one", "rejected": "other"}), "different-prompts", ROW, "('one', 'other')"
    ),
    "a pair that holds nothing but the prompt": Case(
        preferences_with({"prompt": [USER], "chosen": [USER], "rejected": [USER, ASSISTANT]}),
        "no-answer",
        ROW,
        "holds nothing but the prompt",
    ),
    "turns in lists of different lengths": Case(
        chats_with({"messages": {"role": ["user"], "content": ["a", "b"]}}),
        "not-a-turn",
        ROW,
        "different lengths",
    ),
    "turns in a text that is no list": Case(
        chats_with({"messages": "[oops"}), "wrong-type", ROW, "messages is text that is no list of turns"
    ),
    "a context that is a number": Case(
        {
            "train.jsonl": lines(
                [
                    {"instruction": f"i {n}", "input": 3 if n == BAD_ROW else "", "output": f"o {n}"}
                    for n in NUMBERS
                ]
            )
        },
        "wrong-type",
        ROW,
        "input is a number (3)",
    ),
    "tools in a text that is not JSON": Case(
        {"train.jsonl": lines([{**pair(n), "tools": "[oops" if n == BAD_ROW else ""} for n in NUMBERS])},
        "wrong-type",
        ROW,
        "tools is text that is not JSON",
    ),
    "a call that JSON cannot hold": Case(
        turns_with(content="b", tool_calls=[{"name": "half \ud83d"}]),
        "wrong-type",
        ROW,
        "holds what JSON cannot",
    ),
    "a role that is a number": Case(
        chats_with({"messages": [{"role": 1, "content": "a"}]}), "unknown-role", ROW, "is a number (1)"
    ),
    "an array of NumPy under another name": Case(
        {"train.jsonl": b"\x93NUMPY\x01\0"}, "pickle", "train.jsonl: ", "is pickled data"
    ),
    "a format that is not read": Case(
        {"train.jsonl": GOOD, "train.tar.jsonl.xz": b"not so"},
        "damaged-file",
        "train.tar.jsonl.xz: ",
        "not compressed",
    ),
    "text behind a JSON list": Case(
        {"train.json": json.dumps([pair(n) for n in NUMBERS]).encode() + b"[]"},
        "not-json",
        f"train.json: row {ROWS + 1}: ",
        "more text behind the end",
    ),
    "a JSON list with a number in it": Case(
        {"train.json": json.dumps([3 if n == BAD_ROW else pair(n) for n in NUMBERS]).encode()},
        "not-an-object",
        f"train.json: row {BAD_ROW}: ",
        "is a number (3)",
    ),
    "a JSON list that is nested too deeply": Case(
        {"train.json": b"[" * 100_000}, "not-json", "train.json: row 1: ", "nested too deeply"
    ),
    "a JSON list that is not UTF-8": Case(
        {"train.json": b'[{"prompt": "caf\xe9"}]'},
        "not-utf8",
        "train.json: row 1: ",
        "is not UTF-8 near byte",
    ),
    "a JSON document that is a number": Case(
        {"train.json": b"3"}, "not-an-object", "train.json: row 1: ", "(3)"
    ),
    "a header that is empty": Case(
        csv_with(",", header=","), "bad-header", "train.csv: ", "its header is empty"
    ),
    "a quote that ends in the middle of a field": Case(
        csv_with('"a"b,c'), "damaged-file", CSV_ROW, "is not CSV"
    ),
    "Parquet with a value that is not UTF-8": Case(
        {"train.parquet": parquet_with(b"caf\xe9")},
        "not-utf8",
        f"train.parquet: row {BAD_ROW}: ",
        "holds a value that is not UTF-8",
    ),
    "Parquet with two columns of one name": Case(
        {"train.parquet": parquet_with(b"a", names=["prompt", "prompt"])},
        "bad-header",
        "train.parquet: ",
        "two columns called 'prompt'",
    ),
    "answers that are all given no weight": Case(
        turns_with(content="b", weight=0), "no-answer", ROW, "messages gives every answer the weight 0"
    ),
    "a pointer in the place of its file": Case(
        {"train.parquet": b"version https://git-lfs.github.com/spec/v1\noid sha256:ab\nsize 3\n"},
        "damaged-file",
        "train.parquet: ",
        "is a pointer of Git LFS, not the file it stands for, write or fetch the file again",
    ),
    "a web page in the place of rows": Case(
        {"train.jsonl": b"\n<!DOCTYPE html><html><body>Sign in</body></html>"},
        "damaged-file",
        "train.jsonl: ",
        "is a web page",
    ),
    "a row without its answer": Case(pairs_with({"prompt": "a"}), "missing-column", ROW, "has no completion"),
    "an answer that is null": Case(
        pairs_with({"prompt": "a", "completion": None}), "null-value", ROW, "completion is null"
    ),
    "an answer that is a number": Case(
        pairs_with({"prompt": "a", "completion": 3}), "wrong-type", ROW, "completion is a number (3)"
    ),
    "an answer that is an object": Case(
        pairs_with({"prompt": "a", "completion": {"text": "b"}}), "wrong-type", ROW, "completion is an object"
    ),
    "an empty answer": Case(
        pairs_with({"prompt": "a", "completion": ""}), "empty-text", ROW, "completion is empty"
    ),
    "a prompt of white space": Case(
        pairs_with({"prompt": " \n", "completion": "b"}), "empty-text", ROW, "prompt is only white space"
    ),
    "an answer that repeats the prompt": Case(
        pairs_with({"prompt": "the same", "completion": "the same "}),
        "answer-is-prompt",
        ROW,
        "the same words",
    ),
    "a row of another shape": Case(
        pairs_with(chat(1, "user", "assistant")), "mixed-shapes", ROW, "has the shape messages"
    ),
    "no turns": Case(chats_with({"messages": []}), "no-turns", ROW, "messages is an empty list"),
    "turns that are null": Case(chats_with({"messages": None}), "null-value", ROW, "messages is null"),
    "turns that are a number": Case(
        chats_with({"messages": 3}), "wrong-type", ROW, "expected a list of turns"
    ),
    "a turn that is text": Case(
        chats_with({"messages": ["hello"]}), "not-a-turn", ROW, "messages[0] is text ('hello')"
    ),
    "a turn without a role": Case(
        chats_with({"messages": [{"content": "a"}]}),
        "not-a-turn",
        ROW,
        "messages[0] has no role, only content",
    ),
    "a turn without a content": Case(turns_with(text="b"), "not-a-turn", ROW, "messages[1] has no content"),
    "a content that is null": Case(
        turns_with(content=None), "null-value", ROW, "messages[1].content is null"
    ),
    "a content that is a number": Case(
        turns_with(content=1), "wrong-type", ROW, "messages[1].content is a number"
    ),
    "an image in a turn": Case(
        turns_with(content=[{"type": "image", "url": "x"}]), "wrong-type", ROW, "only text is trained on"
    ),
    "an unknown role": Case(chats_with(chat(1, "user", "narrator")), "unknown-role", ROW, "is 'narrator'"),
    "two turns of the user together": Case(
        chats_with(chat(1, "user", "user", "assistant")),
        "role-order",
        ROW,
        "messages[1] is 'user' after user, expected assistant",
    ),
    "an answer before the question": Case(
        chats_with(chat(1, "assistant", "user", "assistant")), "role-order", ROW, "at the beginning"
    ),
    "a system message in the middle": Case(
        chats_with(chat(1, "user", "assistant", "system", "user", "assistant")),
        "role-order",
        ROW,
        "messages[2] is 'system' after assistant",
    ),
    "a tool that nobody called": Case(
        chats_with(chat(1, "user", "tool", "assistant")),
        "role-order",
        ROW,
        "messages[1] is 'tool' after user",
    ),
    "a turn that says nothing": Case(
        turns_with(content="  "), "empty-turn", ROW, "content is only white space"
    ),
    "a conversation that nobody answers": Case(
        chats_with(chat(1, "system", "user")), "no-answer", ROW, "has no turn of the assistant"
    ),
    "a conversation that ends with the user": Case(
        chats_with(chat(1, "user", "assistant", "user")), "no-answer", ROW, "messages ends with 'user'"
    ),
    "a pair of equal answers": Case(
        preferences_with({"prompt": "a", "chosen": "b", "rejected": "b"}),
        "same-pair",
        ROW,
        "one answer as chosen",
    ),
    "a pair without its rejected answer": Case(
        preferences_with({"prompt": "a", "chosen": "b"}), "missing-column", ROW, "has no rejected"
    ),
    "a pair of answers to different prompts": Case(
        preferences_with(
            {
                "chosen": chat(1, "user", "assistant")["messages"],
                "rejected": chat(2, "user", "assistant")["messages"],
            }
        ),
        "different-prompts",
        ROW,
        "chosen and rejected differ before the answer",
    ),
    "a row that stands there twice": Case(
        pairs_with(pair(3)), "duplicate", ROW, "is the same as train.jsonl: row 3, keep one of them"
    ),
    "rows that differ only in case": Case(
        {
            "train.jsonl": lines(
                [pair(n) for n in range(9)] + [{key: text.upper() for key, text in pair(3).items()}]
            )
        },
        "near-duplicate",
        "train.jsonl: row 10: ",
        "is the same as train.jsonl: row 4 but for case",
    ),
    "a held-out row that is trained on": Case(
        {"train.jsonl": GOOD, "eval.jsonl": lines([pair(100), pair(5)])},
        "leak",
        "eval.jsonl: row 2: ",
        "stands in the training rows too (train.jsonl: row 5)",
    ),
    "a held-out row that is trained on in another case": Case(
        {
            "train.jsonl": GOOD,
            "test.csv": b"prompt,completion\nWHAT is the colour of number 5? ,It is shade 5.\n",
        },
        "leak",
        "test.csv: row 1 (line 2): ",
        "train.jsonl: row 5",
    ),
    "a single row": Case(
        {"train.jsonl": lines([pair(1)])},
        "too-few-rows",
        "data: ",
        "has 1 usable rows to train on, at least 4",
    ),
    "nothing to train on": Case(
        {"test.jsonl": GOOD, "validation.jsonl": lines([pair(100)])},
        "too-few-rows",
        "data: ",
        "only eval, test",
    ),
    "answers that are all the same": Case(
        {"train.jsonl": lines([{**pair(n), "completion": "yes"} for n in range(ROWS)])},
        "same-answer",
        "data: ",
        "one and the same answer",
    ),
    "a control token of chat models": Case(
        pairs_with({"prompt": "a<|im_end|>b", "completion": "c"}), "special-token", ROW, "'<|im_end|>'"
    ),
}
WITH_MODEL = {
    "a row longer than the model reads": Case(
        pairs_with({"prompt": "What is red?", "completion": "red " * 100}), "too-long", ROW, "room for 64"
    ),
    "a row longer than was asked for": Case(
        pairs_with({"prompt": "What is red?", "completion": "It is red, " * 8}),
        "too-long",
        ROW,
        "there is room for 40, raise --sequence-length",
        {"sequence_length": 40},
    ),
    "a prompt that leaves no room for an answer": Case(
        pairs_with({"prompt": "red " * 100, "completion": "blue"}), "no-label", ROW, "has a prompt of"
    ),
    "a control token of this model": Case(
        pairs_with({"prompt": "a<|pad|>b", "completion": "c"}), "special-token", ROW, "'<|pad|>'"
    ),
}


def check(case: Case, folder: Path, **more: Any) -> DatasetReport:
    for name, content in case.files.items():
        (folder / "data").mkdir(exist_ok=True)
        (folder / "data" / name).write_bytes(content)
    given = {"dataset": folder / "data", "output": folder / "out", **case.more, **more}
    return check_dataset(CheckSettings.model_validate(given))


def refused(case: Case, report: DatasetReport) -> None:
    assert not report.accepted
    assert report.data is None
    sentences = [sentence for finding in report.refusals for sentence in finding.sentences(20)]
    told = [sentence for sentence in sentences if f"({case.rule})" in sentence]
    assert told, sentences
    assert any(one.startswith(case.where) and case.words in one for one in told), told
    assert all(RULES[case.rule].advice in one for one in told)
    assert all(one.isprintable() for one in sentences), sentences


@pytest.mark.parametrize("sentence", CASES)
def test_bad_data_is_refused(sentence: str, tmp_path: Path) -> None:
    case = CASES[sentence]
    refused(case, check(case, tmp_path))


@pytest.mark.parametrize("sentence", WITH_MODEL)
def test_bad_data_is_refused_by_the_model(sentence: str, tmp_path: Path, model: Path) -> None:
    case = WITH_MODEL[sentence]
    refused(case, check(case, tmp_path, model=model))


ONE_ROW = {name: case for name, case in CASES.items() if case.where in (ROW, CSV_ROW)}


@pytest.mark.parametrize("sentence", ONE_ROW)
def test_one_bad_row_is_one_problem_and_can_be_left_out(sentence: str, tmp_path: Path) -> None:
    case = ONE_ROW[sentence]
    if case.rule == "damaged-file":  # the rows behind it are gone
        return
    report = check(case, tmp_path, drop=case.rule, allow="special-token")
    assert report.accepted, report.refusals
    assert sum(report.written.values()) == ROWS - 1
    dropped = [finding for finding in report.findings if finding.outcome == "dropped"]
    assert [(finding.rule, finding.rows) for finding in dropped] == [(case.rule, 1)]


def test_good_rows_are_accepted(tmp_path: Path, model: Path) -> None:
    report = check(Case({"train.jsonl": GOOD}, "", "", ""), tmp_path, model=model)
    assert report.accepted
    assert [finding.rule for finding in report.findings] == ["few-rows"]


def test_there_are_enough_classes() -> None:
    assert len({case.rule for case in (CASES | WITH_MODEL).values()}) >= 30
    assert len(CASES | WITH_MODEL) >= 70


def test_every_rule_has_its_words() -> None:
    for rule in RULES.values():
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", rule.name)
        assert rule.advice
        assert not rule.advice.endswith(".")
        assert rule.advice[0].islower()


def test_the_page_about_the_check_lists_every_rule() -> None:
    page = (Path(__file__).resolve().parents[4] / "docs" / "dataset_check.md").read_text()
    listed = re.findall(
        r"^\| `([a-z0-9-]+)` \| (.*) \| (refuses|refuses above 1%|told) \|$", page, re.MULTILINE
    )
    verdicts = {
        rule.name: "told"
        if rule.level == "warning"
        else f"refuses above {rule.borne:.0%}"
        if rule.borne
        else "refuses"
        for rule in RULES.values()
    }
    assert {name: verdict for name, _, verdict in listed} == verdicts
    assert {name: title for name, title, _ in listed} == {rule.name: rule.title for rule in RULES.values()}
