"""Where a folder's contents come from: as its own records say, and unknown where they say nothing."""

import json
from pathlib import Path

import pytest

from kfp_trainer.runtime_operator.workloads.card import Origin, read_origin
from kfp_trainer.runtime_operator.workloads.card.origin import manifest_of
from kfp_trainer.runtime_operator.workloads.dataset import CheckSettings, check_dataset

HEAD = "---\nlicense: {}\n---\n# A card\n"


def manifest(source: str, revision: str = "abc", path: str = "config.json") -> str:
    file = {"path": path, "size": 2, "sha256": "0", "mtime_ns": 0, "key": "0", "promised": "", "etag": ""}
    facts = {"kind": "model", "digest": "d", "bytes": 2, "listing": "l", "selection": {}, "started": "s"}
    more = {"finished": "f", "left_out": [], "files": [file]}
    return json.dumps(
        {"format": 1, "tool": "kfp-trainer", "source": source, "revision": revision} | facts | more
    )


CONVERTED = json.dumps(
    {
        "file": "small.gguf",
        "name": "Small",
        "licence": "apache-2.0",
        "roundings": {"F32": 3, "Q8_0": 1, "Q4_1": 9},
        "sha256": "ab12",
        "source": "package://small==1/",
        "revision": "small==1",
    }
)
FROM_GGUF = "the GGUF file small.gguf, SHA-256 ab12; its weights were rounded to Q4_1 and Q8_0"
CASES = {
    "nothing is recorded": ({}, Origin("base")),
    "fetched from a hub": (
        {"MANIFEST.json": manifest("hf://org/small@main")},
        Origin("org/small", "hf://org/small@main", "abc"),
    ),
    "a card with a licence": ({"README.md": HEAD.format("MIT")}, Origin("base", licence="MIT")),
    "a licence under a name of its own": (
        {"README.md": HEAD.format("other\nlicense_name: llama3.2")},
        Origin("base", licence="llama3.2"),
    ),
    "a card that says it does not know": ({"README.md": HEAD.format("unknown")}, Origin("base")),
    "a card that is torn": ({"README.md": "---\nlicense: [\n---\n"}, Origin("base")),
    "a card without a head": ({"README.md": "# Hello\n"}, Origin("base")),
    "fetched from a bucket": (
        {"MANIFEST.json": manifest("s3://bucket/models/mine")},
        Origin("mine", "s3://bucket/models/mine", "abc"),
    ),
    "converted from a package": (
        {"conversion.json": CONVERTED},
        Origin("small", "package://small==1/", "small==1", "apache-2.0", FROM_GGUF),
    ),
    "converted, then copied from a folder": (
        {"conversion.json": CONVERTED, "MANIFEST.json": manifest("file:///home/me/small")},
        Origin("small", "package://small==1/", "small==1", "apache-2.0", FROM_GGUF),
    ),
    "a folder of somebody's machine": (
        {"MANIFEST.json": manifest("file:///home/me/small/")},
        Origin("small"),
    ),
    "a record that is none of ours": ({"MANIFEST.json": "[]", "conversion.json": "{"}, Origin("base")),
    "what a check kept": (
        {"checked.json": json.dumps({"origin": {"name": "rows", "source": "s3://b/x", "licence": 7}})},
        Origin("rows", "s3://b/x"),
    ),
    "a name that is none": ({"checked.json": json.dumps({"origin": {"name": ["x"]}})}, Origin("base")),
}


@pytest.mark.parametrize("sentence", CASES)
def test_origin(sentence: str, tmp_path: Path) -> None:
    files, expected = CASES[sentence]
    folder = tmp_path / "base"
    folder.mkdir()
    for name, text in files.items():
        (folder / name).write_text(text)
    assert read_origin(folder) == expected


@pytest.mark.parametrize(
    "source, name",
    {
        "hf://org/small@main": "org/small",
        "hf://org/small/part": "org/small",
        "hf://datasets/org/rows@v1": "org/rows",
        "s3://org/small": None,
    }.items(),
)
def test_only_a_hub_gives_names_of_a_hub(source: str, name: str | None) -> None:
    assert Origin("x", source).hub_name == name


def test_a_file_is_known_by_the_fetch_that_brought_it(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "MANIFEST.json").write_text(manifest("package://small==1/", path="deep/small.gguf"))
    found = manifest_of(tmp_path / "deep/small.gguf")
    assert found is not None and found.source == "package://small==1/"
    assert manifest_of(tmp_path / "deep/other.gguf") is None


def test_checked_rows_keep_where_they_are_from(tmp_path: Path) -> None:
    rows = tmp_path / "rows"
    rows.mkdir()
    (rows / "MANIFEST.json").write_text(manifest("hf://datasets/org/rows@main"))
    (rows / "README.md").write_text(HEAD.format("cc0-1.0"))
    lines = [json.dumps({"prompt": f"what is {n}?", "completion": f"it is {n}"}) for n in range(40)]
    (rows / "train.jsonl").write_text("\n".join(lines))
    report = check_dataset(CheckSettings(dataset=rows, output=tmp_path / "out"))
    assert report.data is not None
    assert read_origin(report.data) == Origin("org/rows", "hf://datasets/org/rows@main", "abc", "cc0-1.0")
