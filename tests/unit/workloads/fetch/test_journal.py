"""The journal: what it says after any death, and after a restart of the machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from kfp_trainer.runtime_operator.workloads.fetch import journal as journals
from kfp_trainer.runtime_operator.workloads.fetch.journal import Done, Journal

SUM = "a" * 64


def ranges(journal: Journal, key: str) -> list[tuple[int, int]]:
    record = journal.records.get(key)
    if record is None:
        return []
    have = set(range(100)) - {at for start, stop in record.extents.missing(100) for at in range(start, stop)}
    return [(min(have), max(have) + 1)] if have else []


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "journal"


def test_what_was_written_is_known_again(file: Path) -> None:
    first = Journal(file)
    first.wrote("a", 0, 10)
    first.wrote("a", 10, 20)
    first.wrote("b", 5, 6)
    first.done("c", Done(SUM, 3, 4))
    first.wrote("d", 0, 9)
    first.drop("d")
    first.close()
    second = Journal(file)
    second.close()
    assert ranges(second, "a") == [(0, 20)]
    assert ranges(second, "b") == [(5, 6)]
    assert second.records["c"].done == Done(SUM, 3, 4)
    assert "d" not in second.records


def test_any_prefix_of_it_claims_nothing_that_was_not_written(file: Path) -> None:
    first = Journal(file)
    first.wrote("a", 0, 55)
    first.done("c", Done(SUM, 3, 4))
    first.close()
    content = file.read_bytes()
    for length in range(len(content)):
        file.write_bytes(content[:length])
        torn = Journal(file)
        assert ranges(torn, "a") in ([], [(0, 55)])
        done = torn.records["c"].done if "c" in torn.records else None
        assert done in (None, Done(SUM, 3, 4))
        torn.wrote("b", 1, 2)
        torn.close()
        after = Journal(file)
        after.close()
        assert ranges(after, "b") == [(1, 2)], "a torn line does not spoil the next"


def test_after_a_restart_only_what_was_synced_counts(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = Journal(file)
    first.wrote("a", 0, 10)
    first.done("c", Done(SUM, 3, 4))
    position = first.position()
    first.wrote("a", 10, 20)
    first.synced(position)
    first.wrote("a", 20, 30)
    first.done("d", Done(SUM, 5, 6))
    first.close()
    monkeypatch.setattr(journals, "boot_id", lambda: "another")
    second = Journal(file)
    second.close()
    assert ranges(second, "a") == [(0, 10)]
    assert second.records["c"].done == Done(SUM, 3, 4, sure=True)
    assert second.records["d"].done == Done(SUM, 5, 6, sure=False)


@pytest.mark.parametrize("content", [b"", b"\n\n", b"\xff\xfe\n", b"wrote a x y .", b"wrote a 1 ."])
def test_nonsense_is_passed_over(file: Path, content: bytes) -> None:
    file.write_bytes(content + b"\nwrote b 1 2 .\nboot x .")
    Journal(file).close()
