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
from microgpt.experiments.shared_heads.quality import CONFIG, MORE, TRAINING_STEPS, load_losses
from microgpt.viz.drawing.chart import Tick

BYTES_A_NUMBER = 2  # bytes a number: 16 bits
SCALE_WIDTH, TICK = 200, 0.02  # the scale: its width, and the loss from tick to tick
DRAWN_KINDS = {  # the kinds of models that are drawn
    "trained": N_("shared from the first step"),
    "averaged": N_("averages, not trained"),
    "continued": N_("averages, trained further"),
}
FULL_KINDS = {"trained": N_("a pair for each query head"), "continued": N_("the same, trained further")}
FURTHER = MORE / TRAINING_STEPS  # share of the steps
PUBLISHED = 5  # percent of the training that made a model, for its conversion: Ainslie et al., 2023


class Trained(NamedTuple):
    """A number of key and value heads. `more` and what follows is by how much its losses are above those with most."""

    n: int
    params: int
    per_token: int  # bytes
    share: float  # of those with most heads
    # by way to come by a model, over all seeds: mean loss, standard deviation, and the runs that lie on the scale
    found: list[tuple[str, float, float, list[float]]]
    more: float
    spreads: float  # the same in spreads of the models with most: up to 1, it cannot be told from what a seed does
    worse: int  # seeds in which it is the worse one
    widened: float = 0.0  # with an MLP that makes up for the weights
    averaged: float = 0.0
    continued: float = 0.0  # averages that are trained further, above those with most trained as much further


def models() -> tuple[list[Trained], list[Tick]]:
    """A row a number of heads, most first, and the scale of the losses."""
    losses = {n: {kind: np.array(found) for kind, found in kinds.items()} for n, kinds in load_losses().items()}
    near = np.concatenate([kinds[kind] for kinds in losses.values() for kind in FULL_KINDS])  # what the scale is for
    low, high = math.floor(near.min() / TICK), math.ceil(near.max() / TICK)
    ticks = [Tick(SCALE_WIDTH * i / (high - low), TICK * (low + i)) for i in range(high - low + 1)]
    return [training_of(n, kinds, losses[CONFIG.n_head], ticks) for n, kinds in losses.items()], ticks


def training_of(n: int, kinds: Mapping[str, Array], most: Mapping[str, Array], ticks: list[Tick]) -> Trained:
    config = replace(CONFIG, n_kv_head=n)
    names, above = FULL_KINDS if kinds is most else DRAWN_KINDS, (kinds["trained"] - most["trained"])
    row = Trained(
        n=n,
        params=n_params(config),
        per_token=kv_bytes(config, 1, BYTES_A_NUMBER),
        share=n / CONFIG.n_head,
        found=[result_of(way, kinds[kind], ticks) for kind, way in names.items()],
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


def result_of(way: str, losses: Array, ticks: list[Tick]) -> tuple[str, float, float, list[float]]:
    low, high = ticks[0].value, ticks[-1].value
    marks = [SCALE_WIDTH * (loss - low) / (high - low) for loss in losses.tolist() if loss <= high]
    return way, losses.mean(), losses.std(ddof=1), marks
