"""A text in too little room as drawings: a column per step, a line per row, and how far the answer of a step is off."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from math import ceil

from microgpt.config import Array

MIDDLE = 0.5  # of a line, which is one high, and of a column, which is one wide


def lives(held: Array) -> list[tuple[int, float, int]]:
    """Each row from the first step to the last at which it is `held`, [n, n], step by row: step, height from the newest
    on top, and how many steps. The step that brings a row is not among its own."""
    found = list[tuple[int, float, int]]()
    for row in range(len(held)):
        steps = [step for step in range(row + 1, len(held)) if held[step, row]]
        for _, numbered in groupby(enumerate(steps), lambda one: one[1] - one[0]):  # those that follow each other
            run = [step for _, step in numbered]
            found.append((run[0], len(held) - row - MIDDLE, len(run)))
    return found


def columns(off: Sequence[float], whole: float) -> list[tuple[float, float, int]]:
    """A line upwards for each step that is off at all, in hundredths of the `whole`: where it begins, how high."""
    return [(i + MIDDLE, 100 - high, high) for i, x in enumerate(off) if (high := ceil(100 * x / whole))]
