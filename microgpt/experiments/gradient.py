"""Gradients at the cached rows: what each K and V row learns, from its own step and from the queries that came later.

The loss of a text is a sum over its positions, and so is every gradient: running the backward pass once for each
position tells which query a row has learned from. Knows models and their gradients; knows no page.
"""

from collections.abc import Sequence

import numpy as np

from microgpt.backward import Grads, Tape, backward
from microgpt.cache import KVCache
from microgpt.config import Array, Config, Params, Report
from microgpt.decode import decode_step
from microgpt.model import forward, softmax


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
    alone = np.eye(len(dlogits))[..., None] * dlogits  # [i, n, vocab_size]: nothing but the row of one position
    return np.stack([at_rows(params, config, token_ids, tape, one) for one in alone], axis=2)


def at_rows(params: Params, config: Config, token_ids: Sequence[int], tape: Tape, dlogits: Array) -> Array:
    """What one backward pass reports at each row of K and V: [2, n_layer, n, n_kv_head, head_dim]."""
    found = np.zeros((2, config.n_layer, len(dlogits), config.n_kv_head, config.head_dim))
    grads = {name: np.zeros_like(value) for name, value in params.items()}

    def keep(report: Report) -> None:
        name, value, _, layer = report
        if name in ("dk", "dv"):
            found[int(name == "dv"), layer] = value

    backward(params, config, token_ids[:-1], tape, dlogits, grads, keep)
    return found


def arrivals(found: Array) -> tuple[Array, Array]:
    """The length of the gradient at each row, [2 (K, V), n_layer, n], of what by_query has found: what comes from the
    loss at its own position, and what from all later ones together."""
    own = np.stack([found[:, :, j, j] for j in range(found.shape[2])], axis=2)  # [2, n_layer, n, n_kv_head, head_dim]
    own_length, later = (np.sqrt((part**2).sum(axis=(-1, -2))) for part in (own, found.sum(axis=2) - own))
    return own_length, later


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
    return float(np.abs(at_rows(params, config, token_ids, tape, dlogits) - summed).max())
