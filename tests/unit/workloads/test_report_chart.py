"""Axes carry round numbers, lines stay inside the frame, gaps stay gaps."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kfp_trainer.runtime_operator.workloads.report import (
    Bar,
    Series,
    bar_chart,
    line_chart,
    page,
    section,
    table,
)
from kfp_trainer.runtime_operator.workloads.report.chart import number, ticks

TICKS = {
    "a loss": ((0, 8.9), [0, 2, 4, 6, 8, 10]),
    "steps": ((1, 120), [0, 25, 50, 75, 100, 125]),
    "a small rate": ((0, 0.005), [0, 0.001, 0.002, 0.003, 0.004, 0.005]),
    "one value": ((3, 3), [3, 4, 5, 6]),
}


@pytest.mark.parametrize("sentence", TICKS)
def test_ticks(sentence: str) -> None:
    (low, high), expected = TICKS[sentence]
    assert ticks(low, high)[: len(expected)] == pytest.approx(expected)


@given(st.floats(-1e9, 1e9), st.floats(1e-3, 1e9))
def test_ticks_enclose_and_are_few(low: float, span: float) -> None:
    found = ticks(low, low + span)
    slack = 1e-6 * max(span, abs(low))
    assert found[0] <= low + slack
    assert found[-1] >= low + span - slack
    assert 2 <= len(found) <= 9


NUMBERS = {0.0: "0", 0.005: "0.005", 2.5: "2.5", 1000.0: "1,000", 25000.0: "25,000"}


@pytest.mark.parametrize("value", NUMBERS)
def test_numbers(value: float) -> None:
    assert number(value) == NUMBERS[value]


def test_a_gap_stays_a_gap() -> None:
    nan = float("nan")
    chart = line_chart(
        [Series("loss", [(1, 4.0), (2, nan), (3, 2.0), (4, 1.0)])], x_name="step", y_name="loss"
    )
    (path,) = re.findall(r'class="series one" d="([^"]+)"', chart)
    assert re.findall("[ML]", path) == ["M", "M", "L"]


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=20))
def test_lines_stay_inside(losses: list[float]) -> None:
    chart = line_chart([Series("loss", list(enumerate(losses)))], x_name="step", y_name="loss")
    (path,) = re.findall(r'class="series one" d="([^"]+)"', chart)
    assert all(-0.1 <= float(at) <= 1000.1 for at in re.findall(r"[\d.]+", path))


def test_bars_say_their_value() -> None:
    chart = bar_chart([Bar("base", 0.0, "0 %"), Bar("tuned", 0.5, "50 %")])
    assert 'aria-label="tuned: 50 %"' in chart
    assert 'class="one" width="500.0"' in chart


def test_text_never_becomes_markup() -> None:
    text = page("<t>", "<l>", section("<h>", table(("<a>",), [("<script>",)])))
    assert not re.search("<(t|l|h|a|script)>", text)
