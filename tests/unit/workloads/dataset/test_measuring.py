"""The numbers about lengths are those of the sorted list, and every row is in one bin."""

import random
from array import array

import pytest

from kfp_trainer.runtime_operator.workloads.dataset.measuring import measure_lengths
from kfp_trainer.runtime_operator.workloads.report.histogram import histogram

LENGTHS = {
    "one row": [7],
    "equal rows": [5] * 20,
    "empty rows": [0, 0, 1],
    "a thousand rows": [random.Random(1).randrange(1, 900) for _ in range(1000)],
    "one row far longer than the others": [*range(1, 2000), 5_000_000],
}


@pytest.mark.parametrize("sentence", LENGTHS)
def test_the_numbers(sentence: str) -> None:
    given = LENGTHS[sentence]
    half = len(given) // 2
    found = measure_lengths(
        [array("I", given[:half]), array("I", given[half:])], unit="tokens", limit=None, over=0
    )
    assert found is not None
    ordered = sorted(given)
    assert (found.least, found.most, found.total, found.rows) == (
        ordered[0],
        ordered[-1],
        sum(given),
        len(given),
    )
    assert found.median == ordered[(len(given) - 1) // 2]
    assert found.median <= found.p95 <= found.p99 <= found.most
    assert sum(one.rows for one in found.bins) == len(given)
    assert len(found.bins) <= 25
    assert all(one.high == next_one.low for one, next_one in zip(found.bins, found.bins[1:], strict=False))
    assert all(one.rows == sum(one.low <= n < one.high for n in given) for one in found.bins)


def test_no_rows_have_no_lengths() -> None:
    assert measure_lengths([array("I")], unit="tokens", limit=8, over=0) is None


LIMITS = {"within the bars": (25.0, True), "behind the bars": (500.0, False), "none": (None, False)}


@pytest.mark.parametrize("sentence", LIMITS)
def test_the_histogram_marks_where_room_ends(sentence: str) -> None:
    limit, marked = LIMITS[sentence]
    drawn = histogram(
        [(0, 10, 4), (10, 20, 0), (20, 30, 9), (30, 99, 1)], x_name="<x>", y_name="y", limit=limit
    )
    assert drawn.count("<rect") == 3
    assert ("room for 25" in drawn) is marked
    assert drawn.count('var(--bad)" x=') == (1 if marked else 0)
    assert "&lt;x&gt;" in drawn
