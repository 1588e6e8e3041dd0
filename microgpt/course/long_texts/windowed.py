"""A small model of ours with a window in half of its layers: what each layer reads and keeps, from a trace."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from microgpt.cache import KVCache
from microgpt.caches.ring import RingCache
from microgpt.config import window_of
from microgpt.decode import decode_step
from microgpt.trace import Trace
from microgpt.viz.drawing.heat import RowPair, row_pairs
from microgpt.weights import Model

ROWS_SEEN = 3  # rows, a token's own included
ALWAYS = 100  # steps, more than any text here has


class WindowStep(NamedTuple):
    """One step."""

    token: str
    read: list[int]  # rows, by layer
    held: list[int]  # after it


class Windowed(NamedTuple):
    """The run."""

    first: int  # the first layer with a window
    rows: list[list[RowPair]]  # by layer and position
    stays: list[int]  # steps for which a row can be read, by layer
    moments: list[WindowStep]
    off: float  # of the logits, from a mask over all rows, at most


def run_both(model: Model, ids: Sequence[int], words: Sequence[str]) -> Windowed:
    """Token by token, with rings; and beside it with all rows under a mask."""
    config = replace(model.config, window=ROWS_SEEN, window_from=model.config.n_layer // 2)
    ring, plain, trace, off, moments = RingCache(config), KVCache(config), Trace({}), 0.0, []
    layers = range(config.n_layer)
    for i, token in enumerate(ids):
        found = decode_step(model.params, config, token, ring, trace)
        off = max(off, float(np.abs(found - decode_step(model.params, config, token, plain)).max()))
        read = [int(np.isfinite(trace["attn_scores", i, layer][0]).sum()) for layer in layers]
        moments.append(WindowStep(words[token], read, [len(layer) for layer in ring.layers]))
    rows = np.array(
        [
            [np.concatenate([trace[name, i, layer].ravel() for name in "kv"]) for i in range(len(ids))]
            for layer in layers
        ]
    )
    stays = [window_of(config, layer) or ALWAYS for layer in layers]
    return Windowed(config.window_from, row_pairs(config.head_dim, rows)[0], stays, moments, off)
