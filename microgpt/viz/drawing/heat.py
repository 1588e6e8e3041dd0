"""Numbers as heat: a symmetric scale, fixed over what is compared, and rows of cells on it. Knows no trace."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from microgpt.config import Array
from microgpt.viz.text.formats import number

LEVELS = 12  # steps of the scale on each side of zero


class Cell(NamedTuple):
    """One number: its heat class (n12 ... z ... p12) and its text."""

    heat: str
    text: str


class Strip(NamedTuple):
    """A row of numbers; `where` are classes that say what it belongs to."""

    where: str
    cells: list[Cell]


class Scale(NamedTuple):
    """From -limit to limit; numbers are written with `digits` decimals, from 10 on with one less, so as to fit."""

    limit: float
    digits: int = 2

    def cell(self, value: float) -> Cell:
        level = round(LEVELS * value / self.limit)
        heat = "z" if level == 0 else f"{'n' if level < 0 else 'p'}{min(abs(level), LEVELS)}"
        fewer = abs(round(value, self.digits)) >= 10
        return Cell(heat, number(value, max(0, self.digits - fewer)))

    def strip(self, values: Array, where: str = "") -> Strip:
        """One cell a number of `values` [n]."""
        return Strip(where, [self.cell(x) for x in values.tolist()])


def rounded_up(highest: float) -> float:
    """The next round number, for the end of a scale; a scale of zeros is short too."""
    power = 10.0 ** math.floor(math.log10(max(highest, 1e-9)))
    return next(x * power for x in (1, 1.5, 2, 3, 4, 5, 6, 8, 10) if x * power >= highest)


def scale_for(*arrays: Array, digits: int = 2) -> Scale:
    """One scale for all of these: to the largest number among them, rounded up."""
    return Scale(rounded_up(max(float(np.abs(array).max()) for array in arrays)), digits)
