"""Questions about codes: bits of a number, how far off it can be, codes that are made again, and four on a grid."""

from __future__ import annotations

from functools import cache
from types import SimpleNamespace as Numbers

import numpy as np

from microgpt.caches.codes import Grid
from microgpt.errors import N_
from microgpt.viz.text.answers import answers
from microgpt.viz.text.tasks import Task, calc, unlike

ASKED_BITS, GROUP, LOW, HIGH, TIMES = 4, 32, -1.0, 2.0, 10
FULL = 16  # bits of a number as it is, and of a scale
DRIFT = (64, 16, 4)  # rows, numbers, and rows that come at once
CODED, WIDER = (-1.0, 0.15, 0.45, 2.0), 5.0  # numbers of a group, the last of which becomes another


def per_number(bits: int, group: int, low: bool) -> float:
    """Bits: the code's own, and its part of a scale, and of a minimum, of sixteen each."""
    return bits + FULL * (2 if low else 1) / group


@cache
def drift() -> tuple[float, float]:
    """Root mean square errors of rows in four bits: groups that are closed once, and all rows coded anew each time."""
    n, d, at_once = DRIFT
    rows = np.random.default_rng(0).normal(size=(n, d))
    grid = Grid(4)
    once = np.concatenate([grid.decode(grid.encode(part.T)).T for part in np.split(rows, n // at_once)])
    again = rows[:0]
    for part in np.split(rows, n // at_once):
        again = np.concatenate([again, part])
        again = grid.decode(grid.encode(again.T)).T
    return tuple(float(np.sqrt(np.mean((found - rows) ** 2))) for found in (once, again))  # type: ignore[return-value]


def asks() -> Numbers:
    step = (HIGH - LOW) / (2**ASKED_BITS - 1)
    each = answers(
        per_number(ASKED_BITS, GROUP, True), code=float(ASKED_BITS), scale=per_number(ASKED_BITS, GROUP, False)
    )
    return Numbers(
        bits=ASKED_BITS,
        group=GROUP,
        each=each,
        range=(LOW, HIGH),
        off=answers(step / 2, step=step, bits=(HIGH - LOW) / ASKED_BITS / 2),
        times=TIMES,
        drift=drift(),
    )


def codes() -> Numbers:
    """A group of numbers on a grid, and the same with a larger last one."""
    points, low, high, larger = 2**ASKED_BITS - 1, CODED[0], CODED[-1], (*CODED[:-1], WIDER)
    scale, wide = (high - low) / points, (WIDER - low) / points
    unlike(scale, wide)
    back, moved = ([low + gap * round((x - low) / gap) for x in xs] for xs, gap in ((CODED, scale), (larger, wide)))
    n, form = len(CODED), "({} + {}) ÷ {} = {}"
    return Numbers(
        numbers=CODED,
        bits=ASKED_BITS,
        full=FULL,
        scale=calc(form, high, -low, points, scale),
        codes=[calc(form, x, -low, scale, (x - low) / scale) for x in CODED],  # each is rounded
        back=back,
        off=max(abs(a - b) for a, b in zip(back, CODED, strict=True)),
        size=calc("({} × {} + 2 × {}) ÷ {} = {}", n, ASKED_BITS, FULL, n, per_number(ASKED_BITS, n, True)),
        larger=WIDER,
        wide=calc(form, WIDER, -low, points, wide),
        moved=moved,
        further=max(abs(a - b) for a, b in zip(moved, larger, strict=True)),
        symmetric=calc("{} ÷ ({} − 1) = {}", high, 2 ** (ASKED_BITS - 1), high / (2 ** (ASKED_BITS - 1) - 1)),
    )


TASKS = (Task("coded", N_("Four numbers on a grid"), 7, "compute", 15, 10, codes),)
