"""Questions about attention: a hidden key, a louder query, a late mask, an answer by hand, a vector added to keys."""

from __future__ import annotations

import math
from types import SimpleNamespace as Numbers

import numpy as np

from microgpt.config import Array, Config
from microgpt.errors import N_
from microgpt.model import softmax
from microgpt.viz.settings import Settings
from microgpt.viz.text.answers import answers
from microgpt.viz.text.formats import show
from microgpt.viz.text.tasks import Task, calc, chain, ratio
from microgpt.weights import shipped

LOUDER, DIGITS = 10, 2  # how much a query is stretched; decimals
RUN = Settings("names", "oli")
LAYER, HEAD, STEP = 0, 0, 2  # of what is computed by hand


def asks(scores: Array, weights: Array, first: Array) -> Numbers:
    """Of a query with these scores and weights, [n]; `first` are the scores of the first query, with nothing masked."""
    without = softmax(scores[:-1])  # the last key
    at = int(without.argmax())
    right, undivided, old = (round(float(one[at]), DIGITS) for one in (without, np.exp(scores), weights))
    return Numbers(
        at=at,
        fewer=answers(right, undivided=undivided, old=old),
        louder_by=LOUDER,
        louder=float(softmax(LOUDER * scores).max()),
        leaked=float(softmax(first)[0]),  # what the weights of the first row add up to, masked after softmax
    )


def of_head(row: Array, config: Config) -> list[float]:
    """The numbers of one head in a row, as they are printed."""
    return [round(float(x), 2) for x in row.reshape(-1, config.head_dim)[HEAD]]


def by_hand() -> Numbers:
    """One query, the keys that it may read, and the answer; all numbers begin with those that are printed."""
    trace, config = RUN.trace(), shipped(RUN.model).config
    q, root = of_head(trace["q", STEP, LAYER], config), math.isqrt(config.head_dim)
    rows = [[of_head(trace[kind, j, LAYER], config) for kind in "kv"] for j in range(STEP + 1)]
    dots = [sum(a * b for a, b in zip(q, k, strict=True)) for k, _ in rows]
    raised = [math.exp(dot / root) for dot in dots]
    weights = [one / sum(raised) for one in raised]
    form = " + ".join(["{} × {}"] * config.head_dim) + " = {}"
    keys = [
        Numbers(
            token=show(trace.about["tokens"][j]),
            k=k,
            v=v,
            dot=calc(form, *[x for pair in zip(q, k, strict=True) for x in pair], dots[j]),
            score=ratio(dots[j], root),
            raised=raised[j],
            weight=ratio(raised[j], sum(raised)),
        )
        for j, (k, v) in enumerate(rows)
    ]
    answer = [sum(w * v[x] for w, (_, v) in zip(weights, rows, strict=True)) for x in range(config.head_dim)]
    pairs = [x for w, (_, v) in zip(weights, rows, strict=True) for x in (w, v[0])]
    return Numbers(
        q=q,
        keys=keys,
        root=root,
        total=chain(raised, "+"),
        answer=answer,
        first=calc(" + ".join(["{} × {}"] * len(keys)) + " = {}", *pairs, answer[0]),
        by=calc("(" + " + ".join(["{}"] * len(q)) + ") ÷ {} = {}", *q, root, sum(q) / root),  # where k + 1
    )


TASKS = (
    Task("by-hand", N_("One answer by hand"), 3, "compute", 20, 14, by_hand),
    Task("shift", N_("The same vector added to every key"), 4, "explain", 10, 8, by_hand),
)
