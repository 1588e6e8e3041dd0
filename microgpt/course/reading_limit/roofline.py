"""The roofline as shares of a picture: both axes logarithmic, a point per batch, case by case.

To the right goes the number of operations per byte, upwards the operations per second, as a share of the peak.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

LEAST_INTENSITY, MOST_INTENSITY = 1.0, 1000.0  # operations per byte, at both ends
LOWEST = 0.001  # of the peak
NAME = 0.12  # of the width: dots that are nearer have their names below each other
TICKS = (1, 10, 100, 1000)


class Point(NamedTuple):
    """A batch: in each case how far to the right, and how high."""

    across: list[float]
    up: list[float]
    below: list[float]  # its name hangs so many lines below it, in hundredths


class Drawing(NamedTuple):
    """In shares of the width and the height."""

    ridge: float
    top: float  # of the roof
    start: float  # height of the slope at the left edge
    points: list[Point]
    limits: list[float]
    ticks: list[tuple[float, int]]

    @property
    def roof(self) -> tuple[float, float, float]:
        """In hundredths: from the top to where the slope starts, from the left and from the top to where it ends."""
        return 100 * (1 - self.start), 100 * self.ridge, 100 * (1 - self.top)


def drawing(ridge: float, intensities: Sequence[Sequence[float]], limits: Sequence[float]) -> Drawing:
    """`intensities` by case and batch."""
    places = [[across(x) for x in case] for case in intensities]
    hung = [lines_below(case) for case in places]
    return Drawing(
        across(ridge),
        up(1),
        up(LEAST_INTENSITY / ridge),
        [
            Point(
                [case[i] for case in places],
                [up(min(1, case[i] / ridge)) for case in intensities],
                [case[i] / 100 for case in hung],
            )
            for i in range(len(intensities[0]))
        ],
        [across(x) for x in limits],
        [(across(x), x) for x in TICKS],
    )


def lines_below(places: Sequence[float]) -> list[int]:
    """By how many lines each name hangs below its dot, so that none touches another; places from left to right."""
    found = [1]
    for before, place in zip(places, places[1:], strict=False):
        found.append(found[-1] + 1 if place - before < NAME else 1)
    return found


def across(x: float) -> float:
    return min(1.0, max(0.0, math.log(x / LEAST_INTENSITY) / math.log(MOST_INTENSITY / LEAST_INTENSITY)))


def up(share: float) -> float:
    """With some room above the roof."""
    return 0.94 * max(0.0, math.log(share / LOWEST) / math.log(1 / LOWEST))
