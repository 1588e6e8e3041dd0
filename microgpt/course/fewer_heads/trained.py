"""What sharing heads costs in quality: the losses of data/sharing.json, ready to be placed.

Knows no HTML, and trains nothing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from microgpt.config import Array, n_params
from microgpt.cost import kv_bytes
from microgpt.errors import N_
from microgpt.experiments.shared_heads.quality import CONFIG, MORE, N_HELD, SEEDS, STEPS, measured
from microgpt.viz.drawing.chart import Tick

SIZE = 2  # bytes a number: 16 bits
WIDE, STEP = 200, 0.02  # the scale: its width, and the loss from tick to tick
WAYS = {  # the kinds of models that are drawn
    "trained": N_("shared from the first step"),
    "averaged": N_("averages, not trained"),
    "continued": N_("averages, trained further"),
}
FIRST = {"trained": N_("a pair for each query head"), "continued": N_("the same, trained further")}
PUBLISHED = 5  # percent of the training that made a model, for its conversion: Ainslie et al., 2023


class Found(NamedTuple):
    """One way to come by a model, over all seeds; `marks` are the places of the runs that lie on the scale."""

    way: str
    loss: float  # mean
    spread: float  # standard deviation
    marks: list[float]


class Trained(NamedTuple):
    """A number of key and value heads. `more` and what follows is by how much its losses are above those with most."""

    n: int
    params: int
    per_token: int  # bytes
    share: float  # of those with most heads
    found: list[Found]
    more: float
    spreads: float  # the same in spreads of the models with most
    worse: int  # seeds in which it is the worse one
    widened: float = 0.0  # with an MLP that makes up for the weights
    averaged: float = 0.0
    continued: float = 0.0  # averages that are trained further, above those with most trained as much further

    @property
    def within(self) -> bool:
        """What it costs cannot be told from what another seed does."""
        return self.spreads <= 1


class Quality(NamedTuple):
    """All of it."""

    rows: list[Trained]  # most heads first
    fewer: list[Trained]  # those after it
    spread: float  # of the models with most heads
    seeds: int
    steps: int
    further: float  # share of the steps
    held: int  # names
    by_sharing: bool  # most of what a single head costs stays when it has as many weights
    start_better: bool  # to share from the first step beats averages that are trained further
    ticks: list[Tick]
    width: int
    published: int


def quality() -> Quality:
    losses = {
        n: {kind: np.array(found) for kind, found in kinds.items()} for n, kinds in measured().items()
    }  # most heads first
    near = np.concatenate([kinds[kind] for kinds in losses.values() for kind in FIRST])  # what the scale is for
    low, high = math.floor(near.min() / STEP), math.ceil(near.max() / STEP)
    ticks = [Tick(WIDE * i / (high - low), STEP * (low + i)) for i in range(high - low + 1)]
    rows = [trained(n, kinds, losses[CONFIG.n_head], ticks) for n, kinds in losses.items()]
    single = rows[-1]
    return Quality(
        rows=rows,
        fewer=rows[1:],
        spread=rows[0].found[0].spread,
        seeds=SEEDS,
        steps=STEPS,
        further=MORE / STEPS,
        held=N_HELD,
        by_sharing=single.widened > single.more / 2,
        start_better=all(one.more < one.continued for one in rows[1:]),
        ticks=ticks,
        width=WIDE,
        published=PUBLISHED,
    )


def trained(n: int, kinds: Mapping[str, Array], most: Mapping[str, Array], ticks: list[Tick]) -> Trained:
    config = replace(CONFIG, n_kv_head=n)
    names, above = FIRST if kinds is most else WAYS, (kinds["trained"] - most["trained"])
    row = Trained(
        n=n,
        params=n_params(config),
        per_token=kv_bytes(config, 1, SIZE),
        share=n / CONFIG.n_head,
        found=[found(way, kinds[kind], ticks) for kind, way in names.items()],
        more=above.mean(),
        spreads=above.mean() / most["trained"].std(ddof=1),
        worse=int((above > 0).sum()),
    )
    if kinds is most:
        return row
    return row._replace(
        widened=(kinds["widened"] - most["trained"]).mean(),
        averaged=(kinds["averaged"] - most["trained"]).mean(),
        continued=(kinds["continued"] - most["continued"]).mean(),
    )


def found(way: str, losses: Array, ticks: list[Tick]) -> Found:
    low, high = ticks[0].value, ticks[-1].value
    marks = [WIDE * (loss - low) / (high - low) for loss in losses.tolist() if loss <= high]
    return Found(way, losses.mean(), losses.std(ddof=1), marks)
