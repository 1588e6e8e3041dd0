"""The latent row: what is kept, what is made of it or of the query, and what both cost. Knows no HTML."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache
from typing import NamedTuple

import numpy as np

from microgpt.architectures import Architecture
from microgpt.architectures.known import PRESETS
from microgpt.attention.states import recall
from microgpt.cache import KVCache
from microgpt.config import Config, n_params, v_dim
from microgpt.cost import expansion_macs, pair_widths
from microgpt.course.latent_row.one_head import CALCULATIONS, one_head
from microgpt.course.latent_row.questions import asks
from microgpt.course.latent_row.taught import N_TEXTS, latent_model
from microgpt.errors import N_
from microgpt.experiments.shared_heads.widths import (
    KINDS,
    N_HELD,
    SEEDS,
    Paired,
    compare_pairs,
    config_of,
    load_losses,
    numbers_per_token,
)
from microgpt.model import forward
from microgpt.record import Recording
from microgpt.viz.controls import Choice
from microgpt.viz.drawing.chart import Chart, Series, line_chart
from microgpt.viz.settings import Settings
from microgpt.viz.text.formats import show
from microgpt.weights import Model

__all__ = ["N_HELD", "N_TEXTS", "SEEDS", "view"]  # and what the templates read

SEEN = 6  # rows of the figure, the newest
LATENT_MODEL, ROWS_READ, BYTES = "DeepSeek-V3", 1024, 2  # bytes of a number
V2_LAYERS, V2_CLAIM = 60, 93.3  # per cent less, as its paper says, against DeepSeek-67B:
OLD_LAYERS, OLD_HEADS, OLD_DIM = 95, 8, 128
ABLATION = ((110.6, 15.6), (860.2, 34.6))  # thousands of numbers per token: MHA and MLA, in a small and a large model
# numbers of a layer of Qwen3-Next that keeps no rows: a state, and what is convolved
KEPT_STATE = 32 * 128 * 128 + 24_576
GROUPED = 2 * 8 * 128  # numbers per token of a layer with 8 heads of 128
LONGEST_TEXT, PAIRS, PAIR_WIDTH, TRIES = 1000, (1, 2, 4, 8, 16, 24, 32), 16, 20
INTERVAL = (95, 100)  # of so many experiments, those whose interval holds the true mean
CLAIM = V2_CLAIM / 100


class TrainedKind(NamedTuple):
    """A trained kind: numbers per token, weights, and its losses."""

    name: str
    numbers: int
    weights: int
    loss: float
    above: Paired | None  # the first of them
    marks: list[float]
    share: float


class View:
    """The newest step of a model with latent rows."""

    def __init__(self, settings: Settings) -> None:
        model = latent_model(settings.model)
        recording = Recording(model, settings.prompt)
        recording.run_prompt()
        n, layer = recording.n_prompt, 0
        c, ids = recording.model.config, list(recording.ids[: recording.n_prompt])
        kinds = all_kinds()
        large = PRESETS[LATENT_MODEL]
        old = OLD_LAYERS * 2 * OLD_HEADS * OLD_DIM
        self.n, self.kinds, self.large = n, kinds, large
        self.tokens = [show(str(token)) for token in recording.trace.about["tokens"][:n]][-SEEN:]
        self.head = one_head(recording, layer)
        self.trace = recording.trace
        self.choices = (Choice("way", range(2), 0),)
        self.fields = (Choice("lens", ("", *self.head.lines.names()), "", in_figure=False),)
        self.model = recording.model.name
        self.config = c
        self.ways = ways(c, n)
        self.row = c.kv_lora_rank + c.rope_dim  # numbers that are kept of a token
        self.own = v_dim(c)  # numbers of a head's key that are its own
        self.as_gqa = numbers_per_token(config_of("gqa"))  # numbers per token of stories
        self.difference = both_ways(model, ids)  # of the logits, both ways
        self.one_head = kinds[KINDS.index("mqa")]  # of these, the one that keeps as many numbers as latent rows do
        self.same_size = compare_pairs("mla", "mqa")  # latent rows against one key head, which keeps as many numbers
        self.ends = ends()
        self.fair = 1 - V2_LAYERS * large.row / old  # the same with 16 bits,
        self.own_heads = 1 - large.row / (2 * large.config.n_head * OLD_DIM)  # and against its own heads
        self.times = large.row_if_mha / large.row
        self.expanded, self.absorbed = work(large)
        self.full = large.row_if_mha * ROWS_READ  # numbers that are made anew
        self.growth = growth_chart(large)
        self.recalled = recall_chart()
        self.at_once = error(PAIR_WIDTH, False)  # the error of a sum of as many pairs as it is wide
        self.by_delta = error(PAIR_WIDTH, True)
        assert large.latent
        self.asks = asks(large.latent.d_c, large.latent.d_rope, large.config.n_layer, KEPT_STATE, GROUPED)


view = View


def can_be_asked() -> list[str]:
    return list(CALCULATIONS)


def ways(c: Config, n: int) -> list[tuple[int, int]]:
    """How the scores are computed: numbers that are made anew, and multiply-adds of the newest step, in a layer."""
    made_anew = 2 * n * c.n_head * v_dim(c)
    absorbed = attention(replace(c, absorbed=True), n)
    return [(made_anew, attention(c, n)), (0, absorbed)]


def attention(c: Config, n: int) -> int:
    """Multiply-adds of the newest step over n rows in one layer, from query and rows to what the heads have mixed."""
    return int(expansion_macs(c, 1, n).sum()) + n * c.n_head * sum(pair_widths(c))


def both_ways(model: Model, ids: list[int]) -> float:
    """The largest difference of a logit over the whole text."""
    made, absorbed = (
        forward(model.params, config, ids, KVCache(config))
        for config in (model.config, replace(model.config, absorbed=True))
    )
    return float(np.abs(made - absorbed).max())


def ends() -> tuple[float, float]:
    """Of the scale of losses: hundredths around all of them."""
    losses = [x for kind in load_losses().values() for x in kind]
    return math.floor(100 * min(losses)) / 100, math.ceil(100 * max(losses)) / 100


@cache
def all_kinds() -> list[TrainedKind]:
    low, high = ends()
    configs = {kind: config_of(kind) for kind in KINDS}
    most = max(numbers_per_token(c) for c in configs.values())
    return [
        TrainedKind(
            kind,
            numbers_per_token(configs[kind]),
            n_params(configs[kind]),
            float(np.mean(losses)),
            None if kind == KINDS[0] else compare_pairs(kind, KINDS[0]),
            [100 * (x - low) / (high - low) for x in losses],
            numbers_per_token(configs[kind]) / most,
        )
        for kind, losses in load_losses().items()
    ]


@cache
def work(model: Architecture) -> tuple[int, int]:
    """Multiply-adds of one layer of a large model, in one step with ROWS_READ rows: expanded, and absorbed."""
    latent, c = model.latent, model.config
    assert latent is not None
    key = latent.d_nope + latent.d_rope
    shape = Config(
        n_head=c.n_head, n_kv_head=1, head_dim=key, kv_lora_rank=latent.d_c, rope_dim=latent.d_rope, position="rope"
    )
    return attention(shape, ROWS_READ), attention(replace(shape, absorbed=True), ROWS_READ)


def growth_chart(large: Architecture) -> Chart:
    """Thousands of numbers that a layer keeps, by tokens."""
    ns = range(0, LONGEST_TEXT + 1, 100)
    return line_chart(
        N_("Numbers that a layer keeps"),
        [
            Series(N_("grouped heads"), "again", [(n, n * GROUPED / 1000) for n in ns]),
            Series(N_("latent rows"), "needed", [(n, n * large.row / 1000) for n in ns]),
            Series(N_("a state"), "own", [(n, KEPT_STATE / 1000) for n in ns]),
        ],
        N_("tokens"),
        N_("thousands"),
    )


@cache
def error(n: int, delta: bool) -> float:
    return float(np.mean([recall(n, PAIR_WIDTH, delta, seed) for seed in range(TRIES)]))


def recall_chart() -> Chart:
    """The error of what comes back, by pairs that were written."""
    return line_chart(
        N_("Error of what comes back"),
        [
            Series(N_("a sum"), "again", [(n, 100 * error(n, False)) for n in PAIRS]),
            Series(N_("delta rule"), "own", [(n, 100 * error(n, True)) for n in PAIRS]),
            Series(N_("rows"), "needed", [(n, 0.0) for n in PAIRS]),
        ],
        N_("pairs of key and value"),
        N_("per cent"),
    )
