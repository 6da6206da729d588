"""A first look at a dataset where it lies: its rows are shown, and hardly a byte of it is moved."""

from __future__ import annotations

import gzip
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from pyarrow import parquet

from kfp_trainer.runtime_operator.errors import KfpTrainerError
from kfp_trainer.runtime_operator.workloads.dataset.look import look_from_afar
from tests.servers.site import Meter, Site
from tests.servers.web import Answer

CLEAN = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
ROWS = [{"prompt": f"question {number}", "completion": "x" * 500} for number in range(40_000)]
LINES = "".join(json.dumps(row) + "\n" for row in ROWS).encode()


def table(rows: list[dict[str, Any]]) -> bytes:
    out = io.BytesIO()
    parquet.write_table(pyarrow.Table.from_pylist(rows), out)
    return out.getvalue()


KINDS: dict[str, tuple[dict[str, bytes], list[str]]] = {
    "JSON lines": ({"train.jsonl": LINES, "README.md": b"#"}, ["train: the beginning of train.jsonl"]),
    "compressed": ({"a.jsonl.gz": gzip.compress(LINES, 1)}, ["train: the beginning of a.jsonl.gz"]),
    "two splits": (
        {"data/train-0.jsonl": LINES, "data/train-1.jsonl": LINES, "data/validation.jsonl": LINES[:5000]},
        [
            "train: the beginning of data/train-0.jsonl",
            "eval: the beginning of data/validation.jsonl",
        ],
    ),
    "Parquet, the smallest file": (
        {"train-0.parquet": table(ROWS[:900]), "train-1.parquet": table(ROWS[:9])},
        ["train: the beginning of train-1.parquet"],
    ),
}


@pytest.mark.parametrize("sentence", KINDS)
def test_the_first_rows_are_shown(sentence: str) -> None:
    files, want = KINDS[sentence]
    with Site(files) as site:
        lines = list(look_from_afar(site.url, CLEAN, rows=2))
    size = sum(map(len, files.values()))
    assert lines[0].startswith(f"{site.url}: {len(files)} files, {size:,} bytes, revision ")
    assert [line for line in lines[1:] if not line.startswith(" ")] == want
    assert sum("shape: prompt and completion" in line for line in lines) == len(want)
    assert sum("prompt: 'question 1'" in line for line in lines) == len(want)


def test_hardly_a_byte_is_moved() -> None:
    with (
        Site({"train.jsonl": LINES}) as site,
        Meter(int(site.web.host.rpartition(":")[2]), rate=1e9) as meter,
    ):
        assert list(look_from_afar(f"http://127.0.0.1:{meter.port}/", CLEAN))
        assert meter.count < 3_000_000 < len(LINES)


def test_a_passing_fault_is_got_over() -> None:
    with Site({"train.jsonl": LINES}) as site:
        site.web.spoil(Answer(503), path="train", times=1)
        site.web.spoil(cut_after=1000, method="GET", path="train", times=1)
        assert "  train.jsonl: row 1" in list(look_from_afar(site.url, CLEAN))


REFUSED: dict[str, tuple[dict[str, bytes], str]] = {
    "no rows": ({"picture.png": b"x"}, "shows no rows before it is fetched"),
    "a name that leads out": ({"..%2Fx": b"", "../x.jsonl": b"{}"}, "shows no rows|leads out of the folder"),
}


@pytest.mark.parametrize("sentence", REFUSED)
def test_what_shows_nothing_is_one_sentence(sentence: str) -> None:
    files, want = REFUSED[sentence]
    with Site(files) as site, pytest.raises(KfpTrainerError, match=want):
        list(look_from_afar(site.url, CLEAN))


def look(*arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
    module = "kfp_trainer.runtime_operator.workloads.dataset"
    return subprocess.run(
        [sys.executable, "-m", module, "look", *arguments],
        env={**CLEAN, **environ},
        capture_output=True,
        text=True,
        timeout=300,
    )


def test_the_command_looks_at_an_address(tmp_path: Path) -> None:
    with Site({"train.jsonl": LINES}, token="canary-token") as site:
        done = look(site.url, "--rows", "1", ACCESS_TOKEN="canary-token")
        assert done.returncode == 0, done.stderr
        assert "prompt: 'question 0'" in done.stdout
        denied = look(site.url, ACCESS_TOKEN="canary-other")
    assert (denied.returncode, len(denied.stderr.splitlines())) == (1, 1)
    assert "401" in denied.stderr and "canary" not in denied.stderr
