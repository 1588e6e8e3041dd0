"""Gradients at the cached rows: what each K and V row learns, from its own step and from the queries that came later.

The loss of a text is a sum over its positions, and so is every gradient: running the backward pass once for each
position tells which query a row has learned from. Knows models and their gradients; knows no page.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from microgpt.backward import Grads, Tape, backward
from microgpt.cache import KVCache
from microgpt.config import Array, Config, Params, Report
from microgpt.decode import decode_step
from microgpt.model import forward, softmax


class Arrivals(NamedTuple):
    """`own` and `later` [2 (K, V), n_layer, n]: the length of the gradient at each row, by where it comes from."""

    own: Array
    later: Array


def record_tape(params: Params, config: Config, token_ids: Sequence[int]) -> tuple[Tape, Array]:
    """The tape of the parallel pass over a text's inputs, and d loss / d logits [n, vocab_size] of the mean loss."""
    tape, n = Tape(), len(token_ids) - 1
    p = softmax(forward(params, config, token_ids[:-1], KVCache(config, params["wte"].dtype), tape.keep))
    p[np.arange(n), token_ids[1:]] -= 1.0
    return tape, p / n


def gradients(params: Params, config: Config, token_ids: Sequence[int], detached: bool = False) -> Grads:
    """The gradient of the text's mean loss; `detached` cuts the history of every cached row."""
    grads = {name: np.zeros_like(value) for name, value in params.items()}
    tape, dlogits = record_tape(params, config, token_ids)
    backward(params, config, token_ids[:-1], tape, dlogits, grads, detached=detached)
    return grads


def by_query(params: Params, config: Config, token_ids: Sequence[int]) -> Array:
    """What reaches row j of K or V from the loss at position i: [2, n_layer, n (i), n (j), n_kv_head, head_dim]."""
    tape, dlogits = record_tape(params, config, token_ids)
    n = len(dlogits)
    found = np.zeros((2, config.n_layer, n, n, config.n_kv_head, config.head_dim))
    grads = {name: np.zeros_like(value) for name, value in params.items()}
    for i in range(n):
        alone = np.zeros_like(dlogits)
        alone[i] = dlogits[i]

        def keep(report: Report, i: int = i) -> None:
            name, value, _, layer = report
            if name in ("dk", "dv"):
                found[int(name == "dv"), layer, i] = value

        backward(params, config, token_ids[:-1], tape, alone, grads, keep)
    return found


def arrivals(params: Params, config: Config, token_ids: Sequence[int]) -> Arrivals:
    """For each row: how much comes from the loss at its own position, how much from all later ones together."""
    found = by_query(params, config, token_ids)
    n = found.shape[2]
    own = np.stack([found[:, :, j, j] for j in range(n)], axis=2)  # [2, n_layer, n, n_kv_head, head_dim]
    later = found.sum(axis=2) - own
    return Arrivals(*(np.sqrt((part**2).sum(axis=(-1, -2))) for part in (own, later)))


def losses(params: Params, config: Config, token_ids: Sequence[int], cached: bool = False) -> Array:
    """-log p of each next token [n]: from one parallel pass, or token by token through a cache."""
    cache = KVCache(config, params["wte"].dtype)
    if cached:
        logits = np.array([decode_step(params, config, token, cache) for token in token_ids[:-1]])
    else:
        logits = forward(params, config, token_ids[:-1], cache)
    return -np.log(softmax(logits)[np.arange(len(token_ids) - 1), token_ids[1:]])


def gap(params: Params, config: Config, token_ids: Sequence[int], summed: Array) -> float:
    """How far `summed`, by_query added up over the queries, is from what one backward pass reports at each row."""
    tape, dlogits = record_tape(params, config, token_ids)
    gaps = []

    def compare(report: Report) -> None:
        name, value, _, layer = report
        if name in ("dk", "dv"):
            gaps.append(float(np.abs(value - summed[int(name == "dv"), layer]).max()))

    grads = {name: np.zeros_like(value) for name, value in params.items()}
    backward(params, config, token_ids[:-1], tape, dlogits, grads, compare)
    return max(gaps)
