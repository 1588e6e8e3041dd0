"""The picture of a row on its grids: heights of its numbers, and the lines that they may lie on, case by case.

In each case the axis runs over all that is drawn in it. A column is a number of the row; a grid is one for the whole
row, or one per column.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from microgpt.config import Array

SEEN = 64  # lines that can be told apart
LOWEST, HIGHEST = 0.04, 0.96  # the lowest and the highest that anything is drawn, as shares of the height


class Weights(Protocol):
    @property
    def before(self) -> Array: ...
    @property
    def after(self) -> Array: ...


class CaseShown(Protocol):
    """What of a case is drawn."""

    @property
    def per_channel(self) -> bool: ...
    @property
    def points(self) -> int: ...
    @property
    def before(self) -> list[float]: ...
    @property
    def after(self) -> list[float]: ...
    @property
    def low(self) -> list[float]: ...
    @property
    def scales(self) -> list[float]: ...
    @property
    def shift(self) -> Weights: ...


class NumberColumn(NamedTuple):
    """A number of the row: its height in each case, as it was and on the grid; and how far it went, of half a gap."""

    before: list[float]
    after: list[float]
    off: list[float]


class Lines(NamedTuple):
    """Where the points of a grid lie, from the top in hundredths: of the whole row, or of each column."""

    wide: int  # columns that each runs over
    fine: bool  # too many to be seen one by one
    lines: list[list[float]]


class KeyBar(NamedTuple):
    """A key: the weight that it gets in each case, as a share of the largest of all; and how far it has moved, as a
    share of the largest of its case."""

    position: int
    after: list[float]
    moved: list[float]


class Drawing(NamedTuple):
    columns: list[NumberColumn]
    grids: list[Lines]
    keys: list[KeyBar]
    most: float  # the largest weight, which has full height
    farthest: list[float]  # how far a weight has moved at most, by case


def drawing(cases: Sequence[CaseShown]) -> Drawing:
    axes = [axis(case) for case in cases]
    weights, moved = (
        [case.shift.after for case in cases],
        [abs(case.shift.after - case.shift.before) for case in cases],
    )
    most, farthest = max(float(x.max()) for x in weights), [float(x.max()) for x in moved]
    return Drawing(
        [
            NumberColumn(
                [at(axis, case.before[j]) for axis, case in zip(axes, cases, strict=True)],
                [at(axis, case.after[j]) for axis, case in zip(axes, cases, strict=True)],
                [min(1, abs(case.after[j] - case.before[j]) / (case.scales[j] / 2 or 1)) for case in cases],
            )
            for j in range(len(cases[0].before))
        ],
        [visible_points(axis, case) for axis, case in zip(axes, cases, strict=True)],
        [
            KeyBar(
                j,
                [float(x[j]) / most for x in weights],
                [float(x[j]) / (far or 1) for x, far in zip(moved, farthest, strict=True)],
            )
            for j in range(len(weights[0]))
        ],
        most,
        farthest,
    )


def axis(case: CaseShown) -> tuple[float, float]:
    """The smallest and the largest of the row, before and after."""
    found = [*case.before, *case.after]
    return min(found), max(found)


def at(axis: tuple[float, float], x: float) -> float:
    """Its height as a share of the picture's."""
    low, high = axis
    return LOWEST + (HIGHEST - LOWEST) * (x - low) / (high - low or 1)


def visible_points(axis: tuple[float, float], case: CaseShown) -> Lines:
    """The points that can be seen; a column's grid may reach beyond what its row shows."""
    columns = range(len(case.low) if case.per_channel else 1)
    heights = [[at(axis, case.low[j] + i * case.scales[j]) for i in range(case.points)] for j in columns]
    seen = [[100 * (1 - y) for y in column if 0 <= y <= 1] for column in heights]
    return Lines(len(case.low) // len(heights), case.points > SEEN, seen)
