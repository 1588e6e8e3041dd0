"""A line chart as numbers that a template can place: points, ticks, labels, and the same figures as a table.

Everything is in the units of the drawing (CHART_WIDTH x CHART_HEIGHT, y downwards). Knows no HTML and no colour: a
line's `kind` is a class, and each line is told apart by its dash and its name as well.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from microgpt.viz.text.language import translate

CHART_WIDTH, CHART_HEIGHT = 440, 280
LEFT, RIGHT, TOP, BOTTOM = 52, 100, 12, 40  # margins: for the ticks, for the names of the lines
LABEL_X = CHART_WIDTH - RIGHT + 8
MOST_ROWS = 8  # of the table
LINE = 15  # the least distance between two names
LETTER = 10  # the most that a letter of a name takes, on average


class Series(NamedTuple):
    """A line: its name, its class, its (x, y) points in order of x; as drawn, in places, and where its name stands."""

    name: str
    kind: str
    points: Sequence[tuple[float, float]]
    label_y: float = 0


class Tick(NamedTuple):
    """A tick: where on its axis, and for which value."""

    at: float
    value: float


@dataclass(frozen=True)
class Chart:
    """What the template places. `table` has one row an x, one column a line, None where a line has no point."""

    title: str
    x_label: str
    y_label: str
    lines: list[Series]
    x_ticks: list[Tick]
    y_ticks: list[Tick]
    table: list[tuple[float, list[float | None]]]
    digits: int | None = None  # decimals of a y; None: as its size asks for
    grows: str = ""  # the id of a group to which lines are added later

    height, left, right, bottom, label_x = CHART_HEIGHT, LEFT, CHART_WIDTH - RIGHT, CHART_HEIGHT - BOTTOM, LABEL_X

    def across(self) -> int:
        """As wide as it must be for the names of its lines, in the language that is set."""
        names = translate(line.name for line in self.lines)
        return max([CHART_WIDTH, *(LABEL_X + LETTER * len(name) for name in names)])


def line_chart(
    title: str, series: Sequence[Series], x_label: str, y_label: str, log: bool = False, digits: int | None = None
) -> Chart:
    """`series` on two linear axes from 0, or on two logarithmic ones (`log`; all x and y above 0).

    `digits` are the decimals of a y (default: by its size).
    """
    xs = sorted({x for one in series for x, _ in one.points})
    ys = [y for one in series for _, y in one.points]
    x_at, x_ticks = axis(xs[0] if log else 0.0, xs[-1], LEFT, CHART_WIDTH - RIGHT, log)
    y_at, y_ticks = axis(min(ys) if log else 0.0, max(ys), CHART_HEIGHT - BOTTOM, TOP, log)
    labels = keep_apart([y_at(one.points[-1][1]) for one in series])
    lines = [
        Series(one.name, one.kind, [(x_at(x), y_at(y)) for x, y in one.points], label)
        for one, label in zip(series, labels, strict=True)
    ]
    found = [dict(one.points) for one in series]
    table = [(x, [one.get(x) for one in found]) for x in thin_out(xs, MOST_ROWS)]
    ticks_of_x, ticks_of_y = [Tick(x_at(x), x) for x in x_ticks], [Tick(y_at(y), y) for y in y_ticks]
    return Chart(title, x_label, y_label, lines, ticks_of_x, ticks_of_y, table, digits)


def axis(low: float, high: float, start: int, end: int, log: bool) -> tuple[Callable[[float], float], list[float]]:
    """Where a value stands between `start` and `end`, and the values that get a tick."""
    if log:
        low, high = 10.0 ** math.floor(math.log10(low)), 10.0 ** math.ceil(math.log10(high))
        steps = round(math.log10(high / low))
        ticks = [low * 10.0**i for i in range(0, steps + 1, max(1, math.ceil(steps / 5)))]
        return lambda v: start + (end - start) * math.log10(v / low) / math.log10(high / low), ticks
    size = (high - low) / 4 or 1.0
    step = next(f * 10.0**p for p in range(-9, 16) for f in (1, 2, 5) if f * 10.0**p >= size)
    high = step * math.ceil(high / step - 1e-9) or step
    ticks = [step * i for i in range(round(high / step) + 1)]
    return lambda v: start + (end - start) * (v - low) / (high - low), ticks


def keep_apart(wanted: list[float]) -> list[float]:
    """The same heights, moved as little as keeps each a LINE away from its neighbours, none below the axis."""
    placed, order = list(wanted), sorted(range(len(wanted)), key=wanted.__getitem__)
    floor, ceiling = -math.inf, float(CHART_HEIGHT - BOTTOM + LINE)
    for i in order:
        placed[i] = floor = max(placed[i], floor + LINE)
    for i in reversed(order):
        placed[i] = ceiling = min(placed[i], ceiling - LINE)
    return placed


def thin_out(xs: list[float], n: int) -> list[float]:
    """At most n of `xs`, the first and the last among them."""
    if len(xs) <= n:
        return xs
    return [xs[round(i * (len(xs) - 1) / (n - 1))] for i in range(n)]
