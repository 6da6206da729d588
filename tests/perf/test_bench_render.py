"""Parsing and building stay near the least they can cost."""

import pytest

from tests.perf.bench_render import MOST_PARSE, MOST_RENDER, building, measure, parsing

LIMITS = {"parse a TrainJob of 4 KB": (parsing, MOST_PARSE), "build its objects": (building, MOST_RENDER)}


@pytest.mark.parametrize("work", LIMITS)
def test_it_is_near_the_floor(work):
    pair, limit = LIMITS[work]
    least, ours = measure(*pair())
    assert ours <= limit * least, f"{ours:.1f} µs, the floor is {least:.1f} µs"
