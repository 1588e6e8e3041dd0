"""Which cached rows stay right when something changes: a token more, another token, another place, other weights.

A text is run token by token, and its K and V rows are compared with those of the changed run. A step that sees
the same numbers does the same arithmetic, so rows that are untouched are equal to the last bit: no tolerance is
needed to call a row right or stale. Knows models and caches; knows no page.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from microgpt.cache import KVCache
from microgpt.config import Array, Config, Params
from microgpt.decode import decode_step
from microgpt.experiments.gradient import gradients
from microgpt.experiments.mistakes import SeesAll, see_all
from microgpt.model import forward


def cache_rows(params: Params, config: Config, token_ids: Sequence[int]) -> Array:
    """The cached rows of a text, K and V side by side: [n_layer, n, 2 * n_kv_head * head_dim]."""
    cache = KVCache(config, params["wte"].dtype)
    for token_id in token_ids:
        decode_step(params, config, token_id, cache)
    return rows_of(cache)


def rows_without_mask(params: Params, config: Config, token_ids: Sequence[int]) -> Array:
    """The rows that the same text would have if every token read every other, as in an encoder."""
    return rows_of(see_all(params, config, token_ids)[1])


def rows_of(cache: KVCache | SeesAll) -> Array:
    n = cache[0].keys.shape[1]
    sides = [[side.swapaxes(0, 1).reshape(n, -1) for side in (layer.keys, layer.values)] for layer in cache.layers]
    return np.array([np.concatenate(pair, axis=-1) for pair in sides])


def staleness(before: Array, after: Array) -> Array:
    """How far each row of `before` is from the row in the same place of `after`: [n_layer, n], 0 where it is right.

    Both are cache_rows; only the rows that both have are compared.
    """
    n = min(before.shape[1], after.shape[1])
    return np.abs(before[:, :n] - after[:, :n]).max(axis=-1)  # type: ignore[no-any-return]


def another(config: Config, token_id: int, avoid: int) -> int:
    """A token to put in the place of `token_id`: the next one in the vocabulary that is not `avoid`."""
    return next(t % config.vocab_size for t in range(token_id + 1, token_id + 3) if t % config.vocab_size != avoid)


def after_one_training_step(params: Params, config: Config, token_ids: Sequence[int], rate: float = 0.01) -> Params:
    """The weights after one step down the gradient of this text's loss."""
    grads = gradients(params, config, token_ids)
    return {name: value - rate * grads[name] for name, value in params.items()}


def rows_under(params: Params, config: Config, token_ids: Sequence[int], block: int) -> Array:
    """The rows if each token sees its own block of so many tokens whole: 1 is the causal mask, n_ctx no mask at all.

    In one pass, since such rows cannot be made token by token; so two texts agree up to rounding, not to the last bit.
    """
    cache = KVCache(config, params["wte"].dtype)
    forward(params, replace(config, mask_block=block), token_ids, cache)
    return rows_of(cache)
