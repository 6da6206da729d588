"""One owner at a time, whatever becomes of it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from kfp_trainer.runtime_operator.workloads.fetch.lease import Lease, LeaseLost


def lease(file: Path, *, stale: float = 0.6, beat: float = 0.1, told: list[str] | None = None) -> Lease:
    waiting = (told if told is not None else []).append
    return Lease(file, rest=lambda _: time.sleep(0.02), waiting=waiting, stale=stale, beat=beat)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / ".d.lock"


def foreign(file: Path, **changes: object) -> None:
    """A lease of a process on another machine."""
    owner = {"token": "other", "count": "000000001", "host": "pod-b", "boot": "x", "namespace": "y", "pid": 1}
    file.write_text(json.dumps({**owner, **changes}))


def test_nothing_is_left_of_it(file: Path) -> None:
    with lease(file) as held:
        held.check()
        assert file.exists()
    assert list(file.parent.iterdir()) == []


def test_two_are_never_in_it_together(file: Path) -> None:
    inside, most, entered = 0, 0, 0
    guard = threading.Lock()

    def enter() -> None:
        nonlocal inside, most, entered
        with lease(file, stale=30) as held:
            with guard:
                inside += 1
                entered += 1
                most = max(most, inside)
            time.sleep(0.02)
            held.check()
            with guard:
                inside -= 1

    threads = [threading.Thread(target=enter) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (most, entered) == (1, 8)
    assert list(file.parent.iterdir()) == []


def test_an_owner_elsewhere_that_is_silent_is_taken_over(file: Path) -> None:
    foreign(file)
    told: list[str] = []
    began = time.monotonic()
    with lease(file, told=told):
        assert time.monotonic() - began >= 0.6
    assert told == ["pod-b"]


def test_an_owner_elsewhere_that_is_heard_of_is_waited_for(file: Path) -> None:
    ended = threading.Event()

    def beat() -> None:
        for count in range(12):
            foreign(file, count=f"{count:09d}")
            time.sleep(0.1)
        file.unlink()
        ended.set()

    foreign(file)
    thread = threading.Thread(target=beat)
    thread.start()
    with lease(file):
        assert ended.is_set()
    thread.join()


def test_an_owner_that_died_here_is_seen_at_once(file: Path) -> None:
    script = (
        "import os, sys; from pathlib import Path\n"
        "from kfp_trainer.runtime_operator.workloads.fetch.lease import Lease\n"
        "Lease(Path(sys.argv[1]), rest=print, waiting=print).__enter__(); os._exit(9)"
    )
    subprocess.run([sys.executable, "-c", script, str(file)], check=False)
    assert file.exists()
    began = time.monotonic()
    with lease(file, stale=600):
        assert time.monotonic() - began < 60
    assert list(file.parent.iterdir()) == [], "its litter is gone too"


def test_an_owner_that_slept_too_long_gives_up(file: Path) -> None:
    with pytest.raises(LeaseLost, match="another process took the target over"), lease(file) as held:
        file.unlink()
        foreign(file)
        held.check()
    assert json.loads(file.read_text())["token"] == "other", "the other's lease stays"


def test_the_beat_notices_it_too(file: Path) -> None:
    with pytest.raises(LeaseLost), lease(file) as held:
        file.unlink()
        foreign(file)
        deadline = time.monotonic() + 30
        while not held._lost.is_set() and time.monotonic() < deadline:
            time.sleep(0.02)
        file.unlink()
        held.check()


def test_without_links_it_works_as_well(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(1, "no links here")

    monkeypatch.setattr(os, "link", refuse)
    with lease(file) as held:
        first = file.read_text()
        deadline = time.monotonic() + 30
        while file.read_text() == first and time.monotonic() < deadline:
            time.sleep(0.02)
        assert file.read_text() != first, "it counts up"
        held.check()
    assert list(file.parent.iterdir()) == []


@pytest.mark.parametrize("content", ["", "{", "[]", '{"token": 1}', "\x00" * 100])
def test_a_file_that_says_nothing_is_waited_for_and_taken_over(file: Path, content: str) -> None:
    file.write_text(content)
    with lease(file) as held:
        held.check()
