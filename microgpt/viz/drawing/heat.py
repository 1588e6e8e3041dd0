"""Numbers as heat: a symmetric scale, fixed over what is compared, and rows of cells on it. Knows no trace."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from microgpt.config import Array

LEVELS = 12  # steps of the scale on each side of zero


class HeatCell(NamedTuple):
    """One number and its level of heat, from -LEVELS to LEVELS."""

    level: int
    value: float


class Strip(NamedTuple):
    """A row of numbers; `where` are classes that say what it belongs to."""

    where: str
    cells: list[HeatCell]
    digits: int | None  # decimals of its numbers; None where only their heat is drawn


class RowPair(NamedTuple):
    """A row of K and the one of V beside it, in one head."""

    k: Strip
    v: Strip


class Scale(NamedTuple):
    """From -limit to limit; numbers are written with `digits` decimals, from 10 on with one less, so as to fit."""

    limit: float
    digits: int = 2

    def cell(self, value: float) -> HeatCell:
        return HeatCell(max(-LEVELS, min(LEVELS, round(LEVELS * value / self.limit))), value)

    def strip(self, values: Array, where: str = "") -> Strip:
        """One cell a number of `values` [n]."""
        return Strip(where, [self.cell(x) for x in values.tolist()], self.digits)


def round_up(highest: float) -> float:
    """The next round number, for the end of a scale; a scale of zeros is short too."""
    power = 10.0 ** math.floor(math.log10(max(highest, 1e-9)))
    return next(x * power for x in (1, 1.5, 2, 3, 4, 5, 6, 8, 10) if x * power >= highest)


def scale_for(*arrays: Array, digits: int = 2) -> Scale:
    """One scale for all of these: to the largest number among them, rounded up."""
    return Scale(round_up(max(float(np.abs(array).max()) for array in arrays)), digits)


def row_pairs(head_dim: int, *texts: Array) -> list[list[list[RowPair]]]:
    """Of each text, by layer and position, the rows of the first head, without figures and on one scale for all.

    A text is [n_layer, n, width], each row of K followed by that of V.
    """
    parts = [(rows[..., :head_dim], rows[..., rows.shape[-1] // 2 :][..., :head_dim]) for rows in texts]
    scale = scale_for(*(part for both in parts for part in both))

    def strip(row: Array) -> Strip:
        return scale.strip(row)._replace(digits=None)

    return [
        [[RowPair(strip(k), strip(v)) for k, v in zip(*layer, strict=True)] for layer in zip(*both, strict=True)]
        for both in parts
    ]
