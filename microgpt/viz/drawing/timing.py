"""Ways against each other by the clock of this machine: in turns, lap by lap; what counts is the median."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import NamedTuple

clock = time.perf_counter  # looked up here, always, so that one place can stop it


class Lane(NamedTuple):
    """One of the ways, to be drawn: `share` is of what is to be done, or in the end of the slowest one's time."""

    name: str
    kind: str
    done: int
    share: float
    milliseconds: float  # so far in this lap, or the median of all


def medians(laps: Sequence[Sequence[float]]) -> list[float]:
    """Of an odd number of laps that have the seconds of each way: the median of each.

    By hand: the Python that a page fetches leaves out `statistics`, and what np.median needs.
    """
    return [sorted(times)[len(laps) // 2] for times in zip(*laps, strict=True)]


def final_lanes(names: Sequence[str], kinds: Sequence[str], done: int, laps: Sequence[Sequence[float]]) -> list[Lane]:
    """The lanes in the end."""
    seconds = medians(laps)
    return [
        Lane(name, kind, done, one / max(seconds), 1000 * one)
        for name, kind, one in zip(names, kinds, seconds, strict=True)
    ]
