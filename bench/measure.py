"""Rounds, medians and ratios: the little statistics that every measure here uses.

Jobs take turns, in an order that is drawn anew every round: a slow moment of the machine meets all of them alike,
and no job always runs in the caches and the memory that the same other one has left. A ratio is taken within a
round; what is reported is the median of the rounds, and the middle half of them. Does not know what is measured.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random
from statistics import median, quantiles
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
Job = Callable[[], float]  # runs once and returns what it took


class Result(NamedTuple):
    """A line of the table. `met` is None where there is no goal, or nothing was measured."""

    what: str
    value: str
    yardstick: str = ""
    goal: str = ""
    met: bool | None = None
    scale: str = ""  # absolute figures, to give an idea; they depend on the machine


def interleave(rounds: int, jobs: Mapping[str, Job]) -> dict[str, list[float]]:
    """What each job took, round by round; one more round in front warms up and is dropped."""
    took: dict[str, list[float]] = {name: [] for name in jobs}
    draw = Random(0)
    for _ in range(rounds + 1):
        for name in draw.sample(list(jobs), len(jobs)):
            took[name].append(jobs[name]())
    return {name: values[1:] for name, values in took.items()}


def in_one_thread(module: str, *words: str, python: str = sys.executable) -> Any:
    """What `python -m module` prints last, as JSON: the number of threads is settled when NumPy is imported."""
    libraries = ("OPENBLAS", "OMP", "MKL", "VECLIB_MAXIMUM")
    env = os.environ | {f"{library}_NUM_THREADS": "1" for library in libraries} | {"HF_HUB_OFFLINE": "1"}
    command = [python, "-m", module, *words]
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, timeout=1800)
    if done.returncode:
        raise SystemExit(f"bench: {module} cannot be measured: {done.stderr.strip().splitlines()[-1]}")
    return json.loads(done.stdout.splitlines()[-1])


def seconds_of(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def ratios(above: list[float], below: list[float]) -> list[float]:
    """Round by round."""
    return [a / b for a, b in zip(above, below, strict=True)]


def summarise(values: list[float], form: str = ".2f") -> str:
    """The median and the middle half: '1.07 (1.05 to 1.10)'."""
    if len(values) < 2:
        return format(values[0], form)
    low, _, high = quantiles(values, n=4)
    return f"{median(values):{form}} ({low:{form}} to {high:{form}})"


def at_most(what: str, values: list[float], limit: float, yardstick: str, scale: str = "", form: str = ".2f") -> Result:
    """A result whose median must not be above `limit`."""
    shown = f"at most {limit:g}" if form == ".0f" else f"at most {limit:{form}}"
    return Result(what, summarise(values, form), yardstick, shown, median(values) <= limit, scale)


def at_least(
    what: str, values: list[float], limit: float, yardstick: str, scale: str = "", form: str = ".0f"
) -> Result:
    """A result whose median must not be below `limit`."""
    return Result(what, summarise(values, form), yardstick, f"at least {limit:g}", median(values) >= limit, scale)
