"""An encoder and its decoder: one cache that never grows, beside one that does.

The encoder reads the whole source at once, without a mask (`Config.mask_block`), and keeps nothing. The decoder writes
token by token, with a cache as ever; in each layer it also reads the source, by keys and values that `remember` makes
of the encoder's rows. These are the same at every step: they are made once, and no step adds to them.

`forward` is both: the encoder's with another mask, the decoder's with `memory`. T5 and Whisper are built so; the test
against T5 is in tests/references/test_latent.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from microgpt.cache import KVCache
from microgpt.config import Array, Config, Params, param_shapes
from microgpt.model import NORMS, forward, remember
from microgpt.trace import Trace


def encode(params: Params, config: Config, token_ids: Sequence[int]) -> Array:
    """What an encoder hands on: its residual stream after the last layer, and the last norm if it has one, [m, d].

    Every token sees every other, whatever `config` says of the mask.
    """
    trace = Trace()
    forward(params, replace(config, mask_block=config.n_ctx), token_ids, KVCache(config), trace.keep)
    x: Array = trace["resid_final", 0]
    return NORMS[config.norm](x, params, "final_norm", config.norm_eps) if config.final_norm else x


def with_cross(params: Params, config: Config, seed: int = 0, scale: float = 0.3) -> tuple[Params, Config]:
    """A model with cross-attention added to it, of random numbers: nothing has trained it, so what it writes is
    nonsense. Which rows it reads, and when they are made, does not depend on that."""
    config, rng = replace(config, cross=True), np.random.default_rng(seed)
    drawn = {name: rng.normal(0, scale, shape) for name, shape in param_shapes(config).items() if name not in params}
    gains = {name: np.ones_like(value) for name, value in drawn.items() if name.endswith("cross_norm")}
    return params | drawn | gains, config


class CrossStep(NamedTuple):
    """One step of a decoder: rows in each layer of its own cache, and in that of the source."""

    own: int
    cross: int
    moved: float  # the largest change of a row of the source's since the first step
    difference: float  # of the logits, from those of a run in which keys and values of the source are made anew


def decode_with_source(params: Params, config: Config, source: Array, token_ids: Sequence[int]) -> list[CrossStep]:
    """Decode these tokens, one by one; the source's rows are made once, and for comparison again at every step."""
    memory, cache, other = remember(params, config, source), KVCache(config), KVCache(config)
    first, steps = [(keys.copy(), values.copy()) for keys, values in memory], []
    for i, token in enumerate(token_ids):
        logits = forward(params, config, [token], cache, memory=memory)
        again = forward(params, config, [token], other, memory=remember(params, config, source))
        moved = max(largest(one, two) for one, two in zip(first, memory, strict=True))
        steps.append(CrossStep(i + 1, len(source), moved, float(np.abs(logits - again).max())))
    return steps


def largest(one: tuple[Array, Array], two: tuple[Array, Array]) -> float:
    return max(float(np.abs(a - b).max()) for a, b in zip(one, two, strict=True))


def nbytes(n_layer: int, width: int, rows: int, bytes_per_value: int = 2) -> int:
    """Bytes of so many rows of K and V in all layers; `width` is n_kv_head times head_dim."""
    return 2 * n_layer * width * rows * bytes_per_value
