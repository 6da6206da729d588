"""A connection that only trickles is broken off, however its bytes fall into the buffer."""

import time
from pathlib import Path

import pytest

from kfp_trainer.runtime_operator.workloads.fetch.journal import Journal
from kfp_trainer.runtime_operator.workloads.fetch.pace import Pace, Patience
from kfp_trainer.runtime_operator.workloads.fetch.part import Part
from kfp_trainer.runtime_operator.workloads.fetch.pieces import Cut, Piece
from kfp_trainer.runtime_operator.workloads.fetch.source import Entry, Listing
from kfp_trainer.runtime_operator.workloads.fetch.transfer import Transfer
from kfp_trainer.runtime_operator.workloads.fetch.troubles import Transient

SIZE, CHUNK = 1 << 20, 1 << 14


class Trickle:
    """A source and its reader: little at a time, and each time a little later."""

    def __init__(self, at_once: int) -> None:
        self.at_once = at_once

    def resolve(self) -> Listing:
        raise NotImplementedError

    def open(self, entry: Entry, start: int, stop: int | None) -> "Trickle":
        return self

    def renew(self) -> None:
        raise NotImplementedError

    def readinto(self, buffer: memoryview, /) -> int:
        time.sleep(0.02)
        return min(self.at_once, len(buffer))

    def close(self) -> None:
        """There is nothing to close."""


@pytest.mark.parametrize("at_once", [100, CHUNK, 2 * CHUNK])
def test_a_trickle_is_broken_off(at_once: int, tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal")
    part = Part(Entry("a", SIZE, etag="1"), "key", tmp_path / "part", journal)
    transfer = Transfer(
        Trickle(at_once),
        [],
        cut=Cut(chunk=CHUNK, piece=SIZE, ahead=None),
        pace=Pace(Patience(stall=0.05, least_rate=10**9)),
        whole=lambda *_: None,
        moved=lambda _: None,
    )
    piece = Piece(part, 0, SIZE)
    with pytest.raises(Transient, match="bytes came in"):
        transfer._copy(piece, memoryview(bytearray(1 << 16)))
    assert 0 < piece.at < SIZE, "what had come is kept"
    assert part.prefix() == piece.at
    part.close()
    journal.close()
