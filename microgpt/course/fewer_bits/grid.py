"""The picture of a row on its grids: heights of its numbers, and the lines that they may lie on, case by case.

A column is a number of the row; a grid is one for the whole row, or one per column.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from microgpt.course.fewer_bits.case import Case

SEEN = 64  # lines that can be told apart
LOWEST, HIGHEST = 0.04, 0.96  # the lowest and the highest that anything is drawn, as shares of the height


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

    after: list[float]
    moved: list[float]


class Drawing(NamedTuple):
    columns: list[NumberColumn]
    grids: list[Lines]
    keys: list[KeyBar]
    most: float  # the largest weight, which has full height
    farthest: list[float]  # how far a weight has moved at most, by case


def drawing(cases: Sequence[Case]) -> Drawing:
    axes = [axis(case) for case in cases]
    weights = np.array([case.shift.after for case in cases])  # [cases, keys]
    moved = np.abs(weights - [case.shift.before for case in cases])
    most, farthest = weights.max(), moved.max(axis=1)
    shares, far = weights / most, moved / np.where(farthest, farthest, 1)[:, None]
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
        [KeyBar(*both) for both in zip(shares.T.tolist(), far.T.tolist(), strict=True)],
        float(most),
        farthest.tolist(),
    )


def axis(case: Case) -> tuple[float, float]:
    """The smallest and the largest of the row, before and after."""
    found = [*case.before, *case.after]
    return min(found), max(found)


def at(axis: tuple[float, float], x: float) -> float:
    """Its height as a share of the picture's."""
    low, high = axis
    return LOWEST + (HIGHEST - LOWEST) * (x - low) / (high - low or 1)


def visible_points(axis: tuple[float, float], case: Case) -> Lines:
    """The points that can be seen; a column's grid may reach beyond what its row shows."""
    columns = range(len(case.low) if case.per_channel else 1)
    heights = [[at(axis, case.low[j] + i * case.scales[j]) for i in range(case.points)] for j in columns]
    seen = [[100 * (1 - y) for y in column if 0 <= y <= 1] for column in heights]
    return Lines(len(case.low) // len(heights), case.points > SEEN, seen)
