"""Long rows of numbers as thin strips: one cell a number, without text, drawn as one path a level of the heat scale.

The scale of a long row ends where 95 of 100 numbers lie within it: rows of a trained model may have a few huge numbers,
and on a scale as long as those all others would be pale. What lies beyond has the last colour and a notch. A cell above
zero touches the upper edge of its strip and leaves the lower one free, one below zero the other way round, so that
colour is not all that tells the sign. Knows no trace.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple, TypeAlias

import numpy as np

from microgpt.config import Array
from microgpt.viz.drawing.heat import LEVELS, HeatCell, round_up

SCALE_SHARE = 95  # percent of the numbers that a scale holds
STRIP_HEIGHT = 10  # of a strip, in the units of its paths
ABOVE, BELOW = 4, 6  # the middle of a cell that is 8 high, above zero and below
N_LARGEST = 3  # numbers that are said where a strip cannot be seen
LEVEL_STEP = 3  # levels of the heat scale that are one here
CELLS = 64  # the most cells of a row that is not cut into heads

CellRun: TypeAlias = tuple[float, float, int]  # cells side by side: where they begin, x and y, and how many they are


class Thin(NamedTuple):
    """A strip; `paths` are levels of heat with what they draw, `beyond` is what is notched."""

    where: str
    n: int
    paths: list[tuple[int, list[CellRun]]]
    beyond: list[CellRun]
    largest: list[tuple[int, float]]  # a few numbers, each behind its index
    digits: int


class ThinScale(NamedTuple):
    """A heat scale for long rows, and what lies beyond its end."""

    limit: float
    numbers: int  # how many are drawn on it
    beyond: int  # how many of them lie beyond it
    largest: float  # of them, either way

    @property
    def end_digits(self) -> int:
        """Decimals of the end of the scale, which is a round number."""
        return 0 if self.limit >= 10 else 1 if self.limit >= 1 else self.digits

    @property
    def digits(self) -> int:
        """Decimals of its numbers: 1 from 3 up, 2 from 0.3 up, 3 from 0.03 up."""
        return max(1, 2 - math.floor(math.log10(self.limit / 0.3)))

    def cell(self, value: float) -> HeatCell:
        """On every third level of the heat scale: with a third of the levels a strip has a third of the paths."""
        level = LEVEL_STEP * min(round(LEVELS / LEVEL_STEP * abs(value) / self.limit), LEVELS // LEVEL_STEP)
        return HeatCell(-level if value < 0 else level, value)

    def strip(self, values: Array, where: str = "") -> Thin:
        """One cell a number of `values` [n], each as `cell` has it."""
        wide = values.astype(np.float64)
        sizes = np.minimum(np.rint(LEVELS / LEVEL_STEP * np.abs(wide) / self.limit), LEVELS // LEVEL_STEP).astype(int)
        found: dict[int, list[CellRun]] = {}
        for level, x, n in as_lines(runs(np.where(wide < 0, -LEVEL_STEP, LEVEL_STEP) * sizes)):
            found.setdefault(level, []).append((x, ABOVE if level > 0 else BELOW, n))
        paths = sorted(found.items(), key=lambda path: (path[0] > 0, abs(path[0])))
        beyond: list[CellRun] = [(x, STRIP_HEIGHT // 2, n) for _, x, n in as_lines(runs(np.abs(wide) > self.limit))]
        largest = np.argsort(-np.abs(values), kind="stable")[:N_LARGEST].tolist()
        said = [(i, float(values[i])) for i in largest]
        return Thin(where, len(values), paths, beyond, said, self.digits)


def thin_scale(arrays: Iterable[Array]) -> ThinScale:
    """One scale for all of these."""
    sizes = np.abs(np.concatenate([array.ravel() for array in arrays]).astype(np.float64))
    largest = float(sizes.max())
    limit = round_up(float(np.percentile(sizes, SCALE_SHARE, method="inverted_cdf")) or largest or 1.0)
    far = int((sizes > limit).sum())
    return ThinScale(limit, sizes.size, far, largest)


def runs(cells: Array) -> tuple[Array, Array, Array]:
    """Neighbours that are the same, and not 0: what they are, where they begin, how many."""
    begins, lengths = alike(cells)
    drawn = cells[begins] != 0
    return cells[begins][drawn], begins[drawn], lengths[drawn]


def alike(cells: Array) -> tuple[Array, Array]:
    """Where neighbours that are the same begin, and how many they are."""
    begins = np.flatnonzero(np.concatenate([[True], cells[1:] != cells[:-1]]))
    return begins, np.diff(begins, append=len(cells))


def as_lines(columns: Iterable[Array]) -> list[tuple[int, ...]]:
    """Of several columns, line by line, in Python's numbers."""
    return list(zip(*[column.tolist() for column in columns], strict=True))


def fold(values: Array, cells: int = CELLS) -> Array:
    """Of a row longer than `cells`, the largest number, either way, of each run of neighbours; a short one as it is."""
    if len(values) <= cells:
        return values
    least, longer = divmod(len(values), cells)  # so many runs have one number more than the others
    at = longer * (least + 1)
    parts = values[:at].reshape(longer, least + 1), values[at:].reshape(-1, least)
    return np.concatenate([part[np.arange(len(part)), np.abs(part).argmax(axis=1)] for part in parts])


def run_length(n: int, cells: int = CELLS) -> tuple[int, int]:
    """How many neighbours share a cell of a row of n, at least and at most."""
    sizes = [len(run) for run in np.array_split(np.arange(n), min(n, cells))]
    return min(sizes), max(sizes)
