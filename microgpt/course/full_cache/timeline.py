"""The picture of a text in too little room: a column per step, a line per row, and how far the step's answer is off.

It is one drawing for all policies; each cell says under which of them the step can still read that row.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby
from math import ceil
from typing import NamedTuple

from microgpt.config import Array

MIDDLE = 0.5  # of a line, which is one high, and of a column, which is one wide


class StepCell(NamedTuple):
    """A step and a row: under which policies all heads hold it, and under which some do."""

    held: list[int]
    part: list[int]


class Stairs(NamedTuple):
    """A policy's rows as lines from the left, the newest on top: the steps at which all heads hold it, and some do."""

    held: list[tuple[int, float, int]]
    part: list[tuple[int, float, int]]


class StepLine(NamedTuple):
    """A step: its token, the rows up to its own, and how far off its answer is, policy by policy."""

    token: str
    cells: list[StepCell]
    off: list[float]


def drawing(words: Sequence[str], reads: Sequence[Array], off: Sequence[Sequence[float]]) -> list[StepLine]:
    """`reads` of each policy is [n, n], step by row: the share of the heads that hold it."""
    return [
        StepLine(word, [cell([float(one[i, j]) for one in reads]) for j in range(i + 1)], [one[i] for one in off])
        for i, word in enumerate(words)
    ]


def stairs(lines: Sequence[StepLine], policy: int) -> Stairs:
    """The step that brings a row is not among its own."""
    return Stairs(lives(lines, lambda one: policy in one.held), lives(lines, lambda one: policy in one.part))


def lives(lines: Sequence[StepLine], holds: Callable[[StepCell], bool]) -> list[tuple[int, float, int]]:
    """Each row from the first step to the last at which it is held: step, height, and how many steps."""
    found = list[tuple[int, float, int]]()
    for j in range(len(lines)):
        held = [i for i in range(j + 1, len(lines)) if holds(lines[i].cells[j])]
        for _, steps in groupby(enumerate(held), lambda one: one[1] - one[0]):  # those that follow each other
            run = [i for _, i in steps]
            found.append((run[0], len(lines) - j - MIDDLE, len(run)))
    return found


def columns(off: Sequence[float], whole: float) -> list[tuple[float, float, int]]:
    """A line upwards for each step that is off at all, in hundredths of the `whole`: where it begins, how high."""
    return [(i + MIDDLE, 100 - high, high) for i, x in enumerate(off) if (high := ceil(100 * x / whole))]


def cell(shares: Sequence[float]) -> StepCell:
    return StepCell([i for i, x in enumerate(shares) if x == 1], [i for i, x in enumerate(shares) if 0 < x < 1])
