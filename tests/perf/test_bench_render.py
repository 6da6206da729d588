"""Parsing and building stay near the least they can cost.

The limits are those of the benchmark, which is run on a quiet machine; this guard runs beside other work, so
it allows a quarter more.
"""

import pytest

from tests.perf.bench_render import MOST_PARSE, MOST_RENDER, building, measure, parsing

GUARD = 1.25
LIMITS = {"parse a TrainJob of 4 KB": (parsing, MOST_PARSE), "build its objects": (building, MOST_RENDER)}


@pytest.mark.parametrize("work", LIMITS)
def test_it_is_near_the_floor(work):
    pair, limit = LIMITS[work]
    least, ours = measure(*pair())
    assert ours <= GUARD * limit * least, f"{ours:.1f} µs, the floor is {least:.1f} µs"
