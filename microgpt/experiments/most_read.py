"""Which key is read most: the weight that each row receives, over all the steps that read it. Knows no page."""

from __future__ import annotations

import numpy as np

from microgpt.config import Array, Config
from microgpt.trace import Trace


def received(trace: Trace, config: Config) -> Array:
    """[n_layer, n_head, n]: the weights that row j has got in a text of n tokens, summed over the steps j to n - 1."""
    n = len(trace.about["tokens"])
    total = np.zeros((config.n_layer, config.n_head, n))
    for layer in range(config.n_layer):
        for step in range(n):
            weights = trace["attn_weights", step, layer]  # [n_head, 1, step + 1]
            total[layer, :, : step + 1] += weights[:, 0]
    return total


def even_shares(n: int) -> Array:
    """[n]: the same, if each query gave every row that it may read the same weight: 1/(j + 1) + ... + 1/n."""
    return np.cumsum(1 / np.arange(n, 0, -1))[::-1]
