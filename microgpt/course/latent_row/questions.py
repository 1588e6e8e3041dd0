"""Questions about latent rows: bytes of a token, a state that does not grow, and a card with many readers."""

from __future__ import annotations

import math
from types import SimpleNamespace as Numbers

from microgpt.errors import N_
from microgpt.viz.text.answers import answers
from microgpt.viz.text.tasks import Task, calc, ratio

WEIGHTS, KEPT, SHORT = 5 * 10**9, 100_000, 5_000  # of a model; bytes per token, and with latent rows
READS, DOES = 2 * 10**12, 400 * 10**12  # of a card, per second: bytes and operations
TEXTS, N_LONG = 50, 1000  # texts, and tokens of each


def asks(latent: int, turned: int, layers: int, state: int, grouped: int) -> Numbers:
    """`latent` and `turned` are the numbers of a row, `state` those of a layer that keeps none, and `grouped` those per
    token of a layer with shared heads."""
    row = latent + turned
    total = 2 * layers * row
    return Numbers(
        latent=latent,
        turned=turned,
        layers=layers,
        bytes=answers(total, twice=2 * total, latent=2 * layers * latent),
        state=state,
        row=row,
        until=answers(math.ceil(state / row), grouped=math.ceil(state / grouped), bytes=math.ceil(state / total)),
    )


def roof() -> Numbers:
    """A model on a card: what a step takes at least, and when rows take over."""
    gb, tb, million, two = 10**9, 10**12, 10**6, 2  # two bytes and two operations per weight
    weights, rows, reads, does = two * WEIGHTS / gb, TEXTS * N_LONG * KEPT / gb, READS // tb, DOES // tb
    step, each, short, work = (
        (weights + rows) / reads,
        N_LONG * KEPT / million,
        N_LONG * SHORT / million,
        weights / does,
    )
    return Numbers(
        weights=WEIGHTS,
        per_token=KEPT,
        reads=READS,
        does=DOES,
        texts=TEXTS,
        long=N_LONG,
        short=SHORT,
        alone=ratio(weights, reads),  # ms, as the next but one and `work`
        rows=calc("{} × {} × {} ÷ {} = {}", TEXTS, N_LONG, KEPT, gb, rows),
        step=calc("({} + {}) ÷ {} = {}", weights, rows, reads, step),
        per_second=calc("{} ÷ {} × {} = {}", TEXTS, step, 1000, 1000 * TEXTS / step),
        equal=calc("{} ÷ {} × {} = {}", weights, each, 1000, 1000 * weights / each),  # texts
        work=calc("{} × {} ÷ {} = {}", TEXTS, weights, does, TEXTS * work),
        by_work=calc("{} × {} ÷ {} = {}", 1000, weights, does, 1000 * work),  # of one text more, in microseconds
        by_rows=ratio(each, reads),
        by_latents=ratio(short, reads),
    )


TASKS = (Task("roof", N_("A GPU with many readers"), 9, "compute", 20, 12, roof, also=("reading-limit",)),)
