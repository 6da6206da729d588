"""Progress as numbers, as a line and as JSON; the command's reading of Trainer's environment."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from kfp_trainer.runtime_operator.errors import SpecError
from kfp_trainer.runtime_operator.workloads.fetch.command import Flags, order_from
from kfp_trainer.runtime_operator.workloads.fetch.manifest import Manifest, read_manifest
from kfp_trainer.runtime_operator.workloads.fetch.order import Fetched
from kfp_trainer.runtime_operator.workloads.fetch.progress import Progress
from kfp_trainer.runtime_operator.workloads.fetch.reports import Lines, Terminal, clock, progress_line
from kfp_trainer.runtime_operator.workloads.fetch.selection import MODEL_IGNORE

MANIFEST = Manifest("hf://a/b", "model", "rev", "sha256:x", 10, "l", {}, "s", "f", (), ())


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def progress(clock: Clock) -> Progress:
    return Progress(total=1000, done=100, files=2, clock=clock)


def test_rate_and_time_left() -> None:
    time = Clock()
    made = progress(time)
    assert (made.rate(), made.seconds_left(0.0)) == (0.0, None)
    time.now += 2
    made.add(300)
    assert made.rate() == 150
    assert made.seconds_left(150.0) == 4
    time.now += 100
    assert made.rate() < 10, "what was long ago does not count"


def test_hundred_percent_is_only_said_of_what_is_whole() -> None:
    made = progress(Clock())
    made.add(900)
    assert made.percent() == 99
    made.file_done()
    made.file_done()
    assert made.percent() == 100


def test_bytes_that_were_of_no_use_are_taken_back() -> None:
    made = progress(Clock())
    made.add(200)
    made.add(-300)
    assert (made.done, made.percent()) == (0, 0)


def test_lines_are_json_and_not_too_many() -> None:
    out, time = io.StringIO(), Clock()
    lines, made = Lines(out, time), progress(time)
    lines.begin("hf://a/b", made)
    for _ in range(100):
        time.now += 0.25
        made.add(1)
        lines.tick(made)
    lines.waiting("pod-b")
    lines.end(Fetched(Path("/d"), MANIFEST, 900, 25.0))
    events = [json.loads(line) for line in out.getvalue().splitlines()]
    assert [each["event"] for each in events] == ["begin", "progress", "progress", "waiting", "end"]
    assert events[1] == {
        "event": "progress", "time": 110.0, "bytes": 140, "of": 1000, "files": 0,
        "bytes_per_second": 4, "remaining_seconds": 215,
    }  # fmt: skip
    assert events[-1]["fetched"] == 900


def test_a_terminal_gets_one_line_that_is_drawn_over() -> None:
    out, time = io.StringIO(), Clock()
    terminal, made = Terminal(out, time), progress(time)
    terminal.begin("hf://a/b", made)
    time.now += 3
    made.add(300)
    terminal.tick(made)
    terminal.tick(made)
    terminal.end(Fetched(Path("/d"), MANIFEST, 0, 1.0))
    assert out.getvalue().count("\r\x1b[K") == 2
    assert "hf://a/b: 2 files, 1.0 KB, 100 B of it are here\n" in out.getvalue()
    assert "0 files, 10 B, nothing to fetch\nrevision rev, digest sha256:x\n" in out.getvalue()


def test_the_line() -> None:
    time = Clock()
    made = progress(time)
    time.now += 2
    made.add(300)
    assert progress_line(made) == " 40 %  400 B of 1.0 KB  0 of 2 files  150 B/s, 0:04 left"


@pytest.mark.parametrize(("seconds", "want"), [(0, "0:00"), (59.6, "1:00"), (3725, "1:02:05")])
def test_seconds_on_a_clock(seconds: float, want: str) -> None:
    assert clock(seconds) == want


ORDERS = {
    "the environment": (
        Flags(),
        {"STORAGE_URI": " hf://a/b "},
        ("hf://a/b", "/workspace/model", MODEL_IGNORE),
    ),
    "flags come first": (
        Flags(uri="s3://x", target=Path("/d"), ignore=("*.md",)),
        {"STORAGE_URI": "hf://a/b", "IGNORE_PATTERNS": "*.txt"},
        ("s3://x", "/d", ("*.md",)),
    ),
    "an empty list is none": (
        Flags(),
        {"STORAGE_URI": "hf://a/b", "IGNORE_PATTERNS": ""},
        ("hf://a/b", "/workspace/model", MODEL_IGNORE),
    ),
    "a list takes the default's place": (
        Flags(),
        {"STORAGE_URI": "hf://a/b", "IGNORE_PATTERNS": "*.md,*.h5"},
        ("hf://a/b", "/workspace/model", ("*.md", "*.h5")),
    ),
    "pickles take theirs out of the default": (
        Flags(),
        {"STORAGE_URI": "hf://a/b", "ALLOW_PICKLES": "true"},
        ("hf://a/b", "/workspace/model", ("*.msgpack", "*.h5")),
    ),
}


@pytest.mark.parametrize("sentence", ORDERS)
def test_an_order(sentence: str) -> None:
    flags, environ, want = ORDERS[sentence]
    order = order_from("model", flags, environ)
    assert (order.uri, str(order.target), order.selection.ignored) == want


def test_no_address_is_said() -> None:
    with pytest.raises(SpecError, match="fetch dataset: no address, give one or set STORAGE_URI"):
        order_from("dataset", Flags(), {"STORAGE_URI": " "})


def test_a_manifest_is_read_as_it_was_written(tmp_path: Path) -> None:
    MANIFEST.write(tmp_path)
    assert read_manifest(tmp_path) == MANIFEST


@pytest.mark.parametrize(
    "content", ["", "{", "[]", "{}", '{"tool": "kfp-trainer", "format": 1}', '{"format": 1}']
)
def test_another_manifest_is_none_of_ours(tmp_path: Path, content: str) -> None:
    (tmp_path / "MANIFEST.json").write_text(content)
    assert read_manifest(tmp_path) is None
