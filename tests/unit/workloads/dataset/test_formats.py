"""The same rows are the same rows, whatever format and compression they come in; damage never crashes."""

import bz2
import gzip
import io
import json
import lzma
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from pyarrow import csv, feather, ipc, parquet

from kfp_trainer.runtime_operator.workloads.dataset.files import find_files
from kfp_trainer.runtime_operator.workloads.dataset.formats import (
    Source,
    json_document,
    opened,
    read_records,
    sniff,
)
from tests.counts import count

ROWS = [
    {"prompt": "one", "completion": 'a, "quoted" answer'},
    {"prompt": "two\nlines", "completion": "émigré ✓ 日本"},
    {"prompt": "three", "completion": "x" * 3000},
]
LINES = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in ROWS).encode()
TABLE = pyarrow.Table.from_pylist(ROWS)


def written(write: Callable[[Any], object]) -> bytes:
    sink = io.BytesIO()
    write(sink)
    return sink.getvalue()


def stream(table: Any) -> bytes:
    def write(sink: Any) -> None:
        with ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table, max_chunksize=2)

    return written(write)


def delimited(separator: str) -> bytes:
    return written(
        lambda sink: csv.write_csv(TABLE, sink, write_options=csv.WriteOptions(delimiter=separator))
    )


FORMS = {
    "rows.jsonl": LINES,
    "blank_lines.ndjson": b"\n" + LINES.replace(b"\n", b"\n\n"),
    "carriage_returns.jsonl": LINES.replace(b"\n", b"\r\n"),
    "mark.jsonl": b"\xef\xbb\xbf" + LINES,
    "list.json": json.dumps(ROWS, indent=2).encode(),
    "list_with_mark.json": b"\xef\xbb\xbf" + json.dumps(ROWS).encode(),
    "lines_called.json": LINES,
    "named_list.json": json.dumps({"version": 1, "data": ROWS}).encode(),
    "columns.json": json.dumps({name: [row[name] for row in ROWS] for name in ROWS[0]}).encode(),
    "rows.csv": delimited(","),
    "semicolons.csv": delimited(";"),
    "mark.csv": b"\xef\xbb\xbf" + delimited(","),
    "rows.tsv": delimited("\t"),
    "rows.parquet": written(lambda sink: parquet.write_table(TABLE, sink, row_group_size=2)),
    "large_types.parquet": written(
        lambda sink: parquet.write_table(
            TABLE.cast(
                pyarrow.schema([("prompt", pyarrow.large_string()), ("completion", pyarrow.string())])
            ),
            sink,
        )
    ),
    "stream.arrow": stream(TABLE),
    "indexed.feather": written(lambda sink: feather.write_feather(TABLE, sink)),
    "rows.jsonl.gz": gzip.compress(LINES),
    "rows.jsonl.zst": pyarrow.compress(LINES, codec="zstd", asbytes=True),
    "rows.jsonl.bz2": bz2.compress(LINES),
    "rows.jsonl.xz": lzma.compress(LINES),
    "rows.csv.gz": gzip.compress(delimited(",")),
    "list.json.zst": pyarrow.compress(json.dumps(ROWS).encode(), codec="zstd", asbytes=True),
    "a_gzip_called.jsonl": gzip.compress(LINES),
    "parquet_called.jsonl": written(lambda sink: parquet.write_table(TABLE, sink)),
}


def source(folder: Path, name: str, content: bytes) -> Source:
    file = folder / name
    file.write_bytes(content)
    found = sniff(file, name)
    assert isinstance(found, Source)
    return found


@pytest.mark.parametrize("name", FORMS)
def test_rows_are_the_same_in_every_form(name: str, tmp_path: Path) -> None:
    records = list(read_records(source(tmp_path, name, FORMS[name])))
    assert [record.value for record in records] == ROWS
    assert [record.row for record in records] == [1, 2, 3]
    marked = name.startswith("mark.jsonl")
    assert [fault.rule for record in records for fault in record.faults] == ["byte-order-mark"] * marked


@pytest.mark.parametrize("split", ["one", "several"])
def test_what_save_to_disk_wrote(split: str, tmp_path: Path) -> None:
    import datasets

    rows = datasets.Dataset.from_list(ROWS)
    if split == "one":
        rows.save_to_disk(tmp_path / "saved", num_shards=2)
    else:
        datasets.DatasetDict({"train": rows, "validation": rows.select([1])}).save_to_disk(tmp_path / "saved")
    found = find_files(tmp_path / "saved")
    read = {
        name: [record.value for one in sources for record in read_records(one)]
        for name, sources in found.splits.items()
    }
    assert read == ({"train": ROWS} if split == "one" else {"train": ROWS, "eval": [ROWS[1]]})


def test_a_list_larger_than_what_is_read_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_document, "CHUNK", 64)
    rows = [{"prompt": f"{number} " * (number % 50), "completion": '\\"]}'} for number in range(300)]
    records = list(read_records(source(tmp_path, "list.json", json.dumps(rows, indent=1).encode())))
    assert [record.value for record in records] == rows


def test_a_line_too_large_to_be_a_row_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opened, "MOST_BYTES", 1000)
    content = LINES.splitlines(keepends=True)
    records = list(
        read_records(source(tmp_path, "a.jsonl", b"".join([content[0], content[2] * 3, content[1]])))
    )
    assert [record.faults[0].rule if record.faults else "" for record in records] == [
        "",
        "row-too-large",
        "row-too-large",
        "row-too-large",
        "",
    ]


def test_an_item_too_large_to_be_a_row_ends_the_list(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_document, "CHUNK", 100)
    monkeypatch.setattr(json_document, "MOST_BYTES", 1000)
    records = list(read_records(source(tmp_path, "a.json", json.dumps(ROWS).encode())))
    assert [record.faults[0].rule if record.faults else "" for record in records] == ["", "", "row-too-large"]


def mutated(content: bytes, chance: random.Random) -> bytes:
    """The content with a few bytes changed, cut out, doubled, or its end missing."""
    data = bytearray(content)
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(data))
        match chance.randrange(4):
            case 0:
                data[at] = chance.randrange(256)
            case 1:
                del data[at : at + chance.randint(1, 20)]
            case 2:
                data[at:at] = data[at : at + chance.randint(1, 20)]
            case _:
                del data[max(at, 1) :]
        if not data:
            return b"\0"
    return bytes(data)


@pytest.mark.parametrize("name", FORMS)
def test_damage_is_told_and_never_crashes(name: str, tmp_path: Path) -> None:
    chance = random.Random(name)
    file = tmp_path / name
    for _ in range(count(2000, sampled=25)):
        file.write_bytes(mutated(FORMS[name], chance))
        found = sniff(file, name)
        if isinstance(found, Source):
            for record in read_records(found):
                assert record.value is not None or record.faults
