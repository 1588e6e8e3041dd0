"""The picture of a text in too little room: a line per step, a column per row, and how far the step's answer is off.

It is one drawing for all policies; each cell says under which of them the step can still read that row.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from microgpt.config import Array

MIDDLE = 0.5  # of a line, which is one high


class StepCell(NamedTuple):
    """A step and a row: under which policies all heads hold it, and under which some do."""

    held: list[int]
    part: list[int]


class Stairs(NamedTuple):
    """A policy's cells of all steps, as lines from the left: where all heads hold the row, and where some do."""

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
    """The own row of each step is not among them."""
    cells = [(j, i + MIDDLE, one) for i, line in enumerate(lines) for j, one in enumerate(line.cells[:-1])]
    return Stairs(
        [(x, y, 1) for x, y, one in cells if policy in one.held],
        [(x, y, 1) for x, y, one in cells if policy in one.part],
    )


def cell(shares: Sequence[float]) -> StepCell:
    return StepCell([i for i, x in enumerate(shares) if x == 1], [i for i, x in enumerate(shares) if 0 < x < 1])
