"""Three mistakes that people make with a cache, made for real: no mask, no position offset, no reset.

Each calls the same `forward`, in a wrong way: with a cache that lies about what it holds. Knows models and caches;
knows no page.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from microgpt.cache import KVCache, LayerCache
from microgpt.config import Array, Config, Params
from microgpt.decode import decode_step


def right(params: Params, config: Config, token_ids: Sequence[int]) -> Array:
    """The logits of every position, as they should be: [n, vocab_size]."""
    return stepwise(params, config, token_ids, KVCache(config, params["wte"].dtype))


def stepwise(params: Params, config: Config, token_ids: Sequence[int], cache: KVCache) -> Array:
    return np.array([decode_step(params, config, token_id, cache) for token_id in token_ids])


class Standing(KVCache):
    """A cache that grows, but says it is empty: every token gets position 0."""

    def __len__(self) -> int:
        return 0


def no_offset(params: Params, config: Config, token_ids: Sequence[int]) -> Array:
    """The position offset forgotten: each step counts its positions from 0 again."""
    return stepwise(params, config, token_ids, Standing(config, params["wte"].dtype))


def no_reset(params: Params, config: Config, token_ids: Sequence[int], before: Sequence[int]) -> Array:
    """The reset forgotten: the rows of another text are still in the cache."""
    cache = KVCache(config, params["wte"].dtype)
    stepwise(params, config, before, cache)
    return stepwise(params, config, token_ids, cache)


class SeesAllLayer(LayerCache):
    """A row is written in its place, and every step is handed all rows, those of later tokens too."""

    at = 0

    def append(self, k: Array, v: Array) -> tuple[Array, Array]:
        self._keys[:, self.at], self._values[:, self.at] = k[0], v[0]
        return self.keys, self.values


class SeesAll(KVCache):
    """A cache of n rows that are all there from the beginning; `go` says whose turn it is."""

    def __init__(self, config: Config, n: int, dtype: np.dtype[Any]) -> None:
        shape = (config.n_kv_head, config.n_ctx, config.head_dim)
        self.seeing = [SeesAllLayer(*shape, dtype) for _ in range(config.n_layer)]
        self.layers = list(self.seeing)
        for layer in self.seeing:
            layer._len = n
            layer._keys[:] = layer._values[:] = 0

    def __len__(self) -> int:
        return self.seeing[-1].at

    def check_room(self, n: int) -> None:
        """There is room: the rows are there already."""

    def go(self, i: int) -> None:
        for layer in self.seeing:
            layer.at = i


def no_mask(params: Params, config: Config, token_ids: Sequence[int]) -> Array:
    """The mask forgotten: every token reads every token. Logits [n, vocab_size]."""
    return see_all(params, config, token_ids)[0]


def see_all(params: Params, config: Config, token_ids: Sequence[int]) -> tuple[Array, KVCache]:
    """The logits and the cached rows of a text in which every token reads every token.

    A row of one layer needs all rows of the layer below, so the text is swept once for each layer until the rows are
    right, and once more for the answer.
    """
    cache = SeesAll(config, len(token_ids), params["wte"].dtype)
    for _ in range(config.n_layer + 1):
        rows = []
        for i, token_id in enumerate(token_ids):
            cache.go(i)
            rows.append(decode_step(params, config, token_id, cache))
    return np.array(rows), cache
