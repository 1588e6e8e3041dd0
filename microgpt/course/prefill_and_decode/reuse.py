"""Rows that are given back, and rows that are shared, on real caches.

Rows of tokens that turn out wrong are cropped, and it is as if they had never been. In prefix reuse a text takes over
the rows of another one as far as both begin alike. Both give what plain decoding gives.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from microgpt.cache import KVCache
from microgpt.decode import prefill
from microgpt.experiments.schedule import largest_difference
from microgpt.model import forward
from microgpt.weights import Model


class Undone(NamedTuple):
    """Rows appended and cropped again, and what that did to the next logits."""

    appended: int
    difference: float  # of the next logits, from those of a cache that never held the rows
    kept: float  # the same if the rows are not cropped; 0 where there is no room for them


def undo(model: Model, token_ids: Sequence[int], wrong_ids: Sequence[int]) -> Undone:
    """Run all but the last token, append rows of wrong tokens, crop them, and go on as if they had never been."""
    caches = KVCache(model.config), KVCache(model.config)
    for cache in caches:
        prefill(model.params, model.config, token_ids[:-1], cache)
    prefill(model.params, model.config, wrong_ids, caches[0])
    plain = forward(model.params, model.config, token_ids[-1:], caches[1])
    kept = plain
    if len(caches[0]) < model.config.n_ctx:
        kept = forward(model.params, model.config, token_ids[-1:], caches[0])
    caches[0].crop(len(token_ids) - 1)
    ours = forward(model.params, model.config, token_ids[-1:], caches[0])
    return Undone(len(wrong_ids), *(float(np.abs(logits - plain).max()) for logits in (ours, kept)))


class Shared(NamedTuple):
    """Two texts that begin alike."""

    rows: int  # that both share
    run: int  # tokens of the second text that were run
    rows_difference: float  # of the shared rows, each text run on its own
    logits_difference: float  # of the second text: on the taken-over rows, and on its own


def share(model: Model, first: Sequence[int], second: Sequence[int]) -> Shared:
    """Run `second` on the rows that `first` left behind, as far as both begin alike (its last token is always run)."""
    params, config = model.params, model.config
    ours, alone = KVCache(config), KVCache(config)
    prefill(params, config, first, ours)
    expected = prefill(params, config, second, alone)
    alike = [a == b for a, b in zip(first, second, strict=False)]
    rows = min(alike.index(False) if False in alike else len(alike), len(second) - 1)
    rows_difference = largest_difference(ours, alone, rows)
    ours.crop(rows)
    logits = prefill(params, config, second[rows:], ours)
    return Shared(rows, len(second) - rows, rows_difference, float(np.abs(logits - expected).max()))
