"""Ranges that are merged as they come in."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from kfp_trainer.runtime_operator.workloads.fetch.extents import Extents

ranges = st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60)))


@given(ranges, st.integers(0, 70))
def test_it_is_a_set_of_bytes(added: list[tuple[int, int]], size: int) -> None:
    extents, want = Extents(), set[int]()
    for start, stop in added:
        extents.add(start, stop)
        want |= set(range(start, stop))
    assert extents.total == len(want)
    missing = {at for start, stop in extents.missing(size) for at in range(start, stop)}
    assert missing == set(range(size)) - want
    assert extents.prefix == next(at for at in range(100) if at not in want)


@given(ranges)
def test_what_is_missing_comes_in_order_and_apart(added: list[tuple[int, int]]) -> None:
    extents = Extents()
    for start, stop in added:
        extents.add(start, stop)
    missing = list(extents.missing(64))
    assert all(start < stop for start, stop in missing)
    assert all(one[1] < other[0] for one, other in pairwise(missing))
