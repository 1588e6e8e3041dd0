"""A chart places what it is given: values where they belong, names apart, the table the same figures."""

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from microgpt.viz.drawing.chart import (
    BOTTOM,
    CHART_HEIGHT,
    CHART_WIDTH,
    LEFT,
    LINE,
    RIGHT,
    TOP,
    Series,
    Tick,
    axis,
    keep_apart,
    line_chart,
)


@given(st.lists(st.floats(0, CHART_HEIGHT - BOTTOM), min_size=1, max_size=8))
def test_names_keep_apart_in_their_order_above_the_axis(wanted: list[float]) -> None:
    placed = keep_apart(wanted)
    assert max(placed) <= CHART_HEIGHT - BOTTOM + 1e-9
    heights = sorted(placed)
    assert all(b - a >= LINE - 1e-9 for a, b in zip(heights, heights[1:], strict=False))
    for (a, x), (b, y) in pairwise(sorted(zip(wanted, placed, strict=True))):
        assert a == b or x < y


def test_a_power_law_is_a_straight_line_on_logarithmic_axes() -> None:
    chart = line_chart("t", [Series("cube", "with", [(n, n**3) for n in (1, 10, 100, 1000)])], "n", "work", log=True)
    drawn = chart.lines[0].points
    slopes = [(b[1] - a[1]) / (b[0] - a[0]) for a, b in zip(drawn, drawn[1:], strict=False)]
    assert max(slopes) - min(slopes) < 0.01
    assert drawn[0] == pytest.approx((LEFT, CHART_HEIGHT - BOTTOM))
    assert drawn[-1] == pytest.approx((CHART_WIDTH - RIGHT, TOP))


def test_linear_axes_begin_at_zero_and_hold_every_point() -> None:
    chart = line_chart("t", [Series("a", "with", [(1, 3.0), (7, 11.0)]), Series("b", "again", [(7, 2.0)])], "n", "y")
    for line in chart.lines:
        for x, y in line.points:
            assert LEFT <= x <= CHART_WIDTH - RIGHT and TOP <= y <= CHART_HEIGHT - BOTTOM
    assert chart.y_ticks[0] == Tick(CHART_HEIGHT - BOTTOM, 0)
    assert chart.table == [(1, [3, None]), (7, [11, 2])]


@given(st.floats(1e-6, 1e12), st.booleans())
def test_the_largest_value_is_on_the_axis(high: float, log: bool) -> None:
    at, ticks = axis(high / 7 if log else 0.0, high, 0, 100, log)
    assert at(high) <= 100 + 1e-6
    assert 2 <= len(ticks) <= 7
    assert all(math.isfinite(t) for t in ticks)
