"""Questions about tiles: a factor, halves that are joined, a bug, and softmax in two tiles."""

from __future__ import annotations

import math
from types import SimpleNamespace as Numbers

import numpy as np

from microgpt.config import Array
from microgpt.errors import N_
from microgpt.viz.text.answers import answers
from microgpt.viz.text.tasks import Task, calc, ratio, unlike

TILE, NEXT = (1.0, 3.0), 5.0  # scores of a tile, and the largest of the next
HALVES = (Numbers(answer=2.0, total=1.0), Numbers(answer=4.0, total=3.0))
SCORES, VALUES = ((1, 3), (2, 5)), ((1, 2), (3, 4))  # of two tiles


def asks(scores: Array, size: int) -> Numbers:
    """`too_much` is the weight of the first tile's keys among these scores, [n]: right, and with the bug."""
    largest, (one, other) = max(TILE), HALVES
    joined = (one.answer * one.total + other.answer * other.total) / (one.total + other.total)
    first, wrong, kept, m = float(np.exp(scores[:size] - scores.max()).sum()), 0.0, 0.0, -np.inf
    total = float(np.exp(scores - scores.max()).sum())
    for at in range(0, len(scores), size):
        m = max(m, float(scores[at : at + size].max()))
        e = float(np.exp(scores[at : at + size] - m).sum())
        wrong, kept = wrong + e, kept or e
    return Numbers(
        scores=TILE,
        next=NEXT,
        factor=answers(math.exp(largest - NEXT), turned=math.exp(NEXT - largest), ratio=largest / NEXT),
        halves=HALVES,
        joined=answers(joined, mean=(one.answer + other.answer) / 2, turned=(one.answer + other.answer) - joined),
        too_much=(first / total, kept / wrong),
    )


def tiles() -> Numbers:
    """Softmax over two tiles of two keys, one after the other and apart."""
    (a, b), (c, d) = SCORES
    (u, v), (w, x) = VALUES
    small, factor, low = math.exp(a - b), math.exp(b - d), math.exp(c - d)
    first, first_o = small + 1, small * u + v
    total, o = first * factor + low + 1, first_o * factor + low * w + x
    left, right = first_o / first, (low * w + x) / (low + 1)
    unlike(o / total, (left + right) / 2)
    return Numbers(
        scores=SCORES,
        values=VALUES,
        first=calc("e^({} − {}) + e^0 = {}", a, b, first, digits=3),  # l after the first tile
        first_o=calc("{} × {} + 1 × {} = {}", small, u, v, first_o, digits=3),
        factor=calc("e^({} − {}) = {}", b, d, factor, digits=3),
        l=calc("{} × {} + {} + 1 = {}", first, factor, low, total, digits=3),
        o=calc("{} × {} + {} × {} + {} = {}", first_o, factor, low, w, x, o, digits=3),
        out=ratio(o, total, digits=3),
        apart=[ratio(first_o, first, digits=3), ratio(low * w + x, low + 1, digits=3)],
        mean=calc("({} + {}) ÷ 2 = {}", left, right, (left + right) / 2, digits=3),
    )


TASKS = (Task("tiled", N_("Softmax in two tiles"), 8, "compute", 15, 12, tiles),)
