"""A row in codes, and its picture: how a number becomes one, and what that does to the weights of the newest query."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from microgpt.caches.codes import Grid
from microgpt.caches.quantised import Rows
from microgpt.config import Array
from microgpt.experiments.dropping.bits import HALF, through
from microgpt.experiments.dropping.shift import shift_of
from microgpt.viz.drawing.lens import as_printed, fewest, near

AS_PRINTED, IN_STEPS = 2, 1  # decimals of a number, and of how many steps of its grid it is
LARGER = 4.0  # times the largest number of all keys, which is added to the planted channel
MOST_COLUMNS = 16  # that can be asked how they become their codes; of a longer row the first


def number_names(n: int) -> list[str]:
    """Of the numbers of a row of n: ["c0", "c1"]."""
    return [f"c{at}" for at in range(min(n, MOST_COLUMNS))]


class Coded(NamedTuple):
    """How a number becomes its code, and what the code stands for."""

    number: float
    low: float
    scale: float
    code: int
    back: float

    @property
    def digits(self) -> int:
        """Decimals with which both come true, as they are printed."""
        return fewest(self.true)

    @property
    def steps(self) -> float:
        return (self.number - self.low) / self.scale

    def true(self, digits: int) -> bool:
        number, low, scale = (as_printed(x, digits) for x in (self.number, self.low, self.scale))
        return (
            scale > 0
            and near((number - low) / scale, self.steps, IN_STEPS)
            and near(low + self.code * scale, self.back, AS_PRINTED)
        )


class Case:
    """One row in codes, and what the weights of the newest query become when all rows are."""

    def __init__(self, query: Array, own: Array, channel: int, bits: int, large: bool, per_channel: bool) -> None:
        """The newest row, [head_dim], among all rows; per channel, all rows but perhaps the first make a group."""
        keys = own.copy()
        if large:  # the same in all tokens: it adds as much to every score, and changes no weight
            keys[:, channel] += LARGER * np.abs(own).max()
        odd = len(keys) % 2 if per_channel else 0  # two codes fill a byte
        rows = Rows(Grid(bits, scales=HALF), per_channel, len(keys) - odd if per_channel else 0)
        kind = through(rows, keys[None, None, odd:])
        codes = rows.codes.encode(rows.split_groups(keys[None, odd:]))
        d = own.shape[1]
        scales, low = (np.broadcast_to(part[0, -1, :, 0].astype(float), d) for part in (codes.scale, codes.low))
        points = np.rint((kind.after[0, 0, -1] - low) / np.where(scales > 0, scales, 1)).astype(int)
        after = np.concatenate([keys[:odd], kind.after[0, 0]])
        off = np.abs(after[-1] - keys[-1])
        self.bits, self.per_channel = bits, per_channel
        self.large = large  # one channel is planted
        self.points = 2**bits
        self.before = keys[-1].tolist()
        self.after = after[-1].tolist()
        self.codes = points.tolist()
        self.scale = float(scales.max())  # the largest of those in use
        self.low = low.tolist()  # of each column
        self.scales = scales.tolist()  # of each column
        columns = zip(self.before, self.low, self.scales, self.codes, self.after, strict=True)
        coded = [Coded(*column) for column in columns][:MOST_COLUMNS]
        # by the name that it is asked by; none where all numbers are the same
        self.coded = {
            name: line
            for name, line in zip(number_names(d), coded, strict=True)
            if line.scale and line.true(line.digits)
        }
        # largest error of the row but for the planted number
        self.others = float((np.delete(off, channel) if large else off).max())
        self.shift = shift_of(query, keys, after)
        self.row_bytes = codes.nbytes / (len(keys) - odd)
        self.full_bytes = d * np.dtype(HALF).itemsize

    @property
    def limit(self) -> float:
        return self.scale / 2

    @property
    def off(self) -> float:
        return float(max(abs(a - b) for a, b in zip(self.after, self.before, strict=True)))


# ---- the picture: case by case, heights of the numbers and the lines that they may lie on ---------

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
