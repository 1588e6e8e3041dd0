"""Long rows of numbers as thin strips: one cell a number, without text, drawn as one path a level of the heat scale.

The scale of a long row ends where 95 of 100 numbers lie within it: rows of a trained model may have a few huge numbers,
and on a scale as long as those all others would be pale. What lies beyond has the last colour and a notch. A cell above
zero touches the upper edge of its strip and leaves the lower one free, one below zero the other way round, so that
colour is not all that tells the sign. Knows no trace.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from microgpt.config import Array
from microgpt.errors import N_
from microgpt.viz.drawing.heat import LEVELS, rounded_up
from microgpt.viz.text.formats import number, whole
from microgpt.viz.text.language import say

SHARE = 95  # percent of the numbers that a scale holds
HEIGHT = 10  # of a strip, in the units of its paths
Y = {"p": 4, "n": 6}  # the middle of a cell that is 8 high, above zero and below
N_LARGEST = 3  # numbers that are said where a strip cannot be seen
STEP = 2  # levels of the heat scale that are one here
CELLS = 64  # the most cells of a row that is not cut into heads


class Thin(NamedTuple):
    """A strip; `paths` are heat classes with what they draw, `beyond` what is notched, `said` its summary in words."""

    where: str
    n: int
    paths: list[tuple[str, str]]
    beyond: str
    said: str


class ThinScale(NamedTuple):
    """A heat scale for long rows, and what lies beyond its end."""

    limit: float
    numbers: str  # how many are drawn on it
    beyond: str  # how many of them lie beyond it, "" for none
    largest: str  # the largest of them, either way

    @property
    def end(self) -> str:
        """The end of the scale as text."""
        return number(self.limit, 0 if self.limit >= 10 else 1 if self.limit >= 1 else self.digits)

    @property
    def digits(self) -> int:
        """Decimals of its numbers: 1 from 3 up, 2 from 0.3 up, 3 from 0.03 up."""
        return decimals(self.limit)

    def heat(self, value: float) -> str:
        """Every second class of the heat scale: with half the levels a strip has half the paths."""
        level = STEP * min(round(LEVELS / STEP * abs(value) / self.limit), LEVELS // STEP)
        return "z" if level == 0 else f"{'n' if value < 0 else 'p'}{level}"

    def strip(self, values: Array, where: str = "") -> Thin:
        """One cell a number of `values` [n]."""
        heats = [self.heat(x) for x in values.tolist()]
        paths = [(heat, path([h == heat for h in heats], Y[heat[0]])) for heat in sorted(set(heats) - {"z"}, key=order)]
        far = [abs(x) > self.limit for x in values.tolist()]
        largest = np.argsort(-np.abs(values), kind="stable")[:N_LARGEST].tolist()
        said = say(
            N_("%(n)s numbers, the largest: %(largest)s"),
            n=whole(len(values)),
            largest=", ".join(f"{i}: {number(values[i], self.digits)}" for i in largest),
        )
        return Thin(where, len(values), paths, path(far, HEIGHT // 2), said)

    def texts(self, values: Array) -> list[str]:
        """The numbers themselves."""
        return [number(x, self.digits) for x in values.tolist()]


def thin_scale(arrays: Iterable[Array]) -> ThinScale:
    """One scale for all of these."""
    sizes = np.abs(np.concatenate([array.ravel() for array in arrays]).astype(np.float64))
    largest = float(sizes.max())
    limit = rounded_up(float(np.percentile(sizes, SHARE, method="inverted_cdf")) or largest or 1.0)
    far = int((sizes > limit).sum())
    return ThinScale(limit, whole(sizes.size), whole(far) if far else "", number(largest, decimals(limit)))


def decimals(limit: float) -> int:
    return max(1, 2 - math.floor(math.log10(limit / 0.3)))


def path(cells: list[bool], y: int) -> str:
    """A line through the middle of every run of cells that are True."""
    text, pen = "", 0
    x, n = 0, len(cells)
    while x < n:
        if not cells[x]:
            x += 1
            continue
        end = x
        while end < n and cells[end]:
            end += 1
        text += f"m{x - pen} 0h{end - x}" if text else f"M{x} {y}h{end - x}"
        x = pen = end
    return text


def order(heat: str) -> tuple[str, int]:
    return heat[0], int(heat[1:])


def folded(values: Array, cells: int = CELLS) -> Array:
    """Of a row longer than `cells`, the largest number, either way, of each run of neighbours; a short one as it is."""
    if len(values) <= cells:
        return values
    runs = np.array_split(values, cells)
    return np.array([run[np.abs(run).argmax()] for run in runs])


def run_length(n: int, cells: int = CELLS) -> str:
    """How many neighbours share a cell of a row of n: '12', or '12–13'."""
    sizes = sorted({len(run) for run in np.array_split(np.arange(n), min(n, cells))})
    return "–".join(whole(size) for size in sizes)
