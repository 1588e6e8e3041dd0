"""Models without rows: all that was read is summed up in one table of numbers, which never grows.

Attention keeps a key and a value per token and looks at all of them. Without its softmax the weighted sum can be
taken in another order: what all keys and values make together is one matrix S, [key, value], and a query is answered
by q S. So S is all there is to keep (linear attention, Katharopoulos et al., 2020):

    S += k v^T        o = q S

A new pair is laid over the old ones, and S answers with some of each. The delta rule first asks S what it would say to
this key, and writes only what is missing; a decay lets old pairs fade (the gated delta rule, Yang et al., 2024):

    S *= decay        S += k (beta (v - S^T k))^T        o = q S

One head. Nothing here is part of a GPT that keeps rows.
"""

from __future__ import annotations

import numpy as np

from microgpt.config import Array


def add_pair(state: Array, key: Array, value: Array) -> Array:
    """The state [d_k, d_v] with a pair laid over it."""
    found: Array = state + np.outer(key, value)
    return found


def write_delta(state: Array, key: Array, value: Array, beta: float = 1.0, decay: float = 1.0) -> Array:
    """The state after it has faded, and after what it says to this key has been moved to the value by beta."""
    faded = decay * state
    found: Array = faded + np.outer(key, beta * (value - key @ faded))
    return found


def recall(n: int, d: int, delta: bool, seed: int = 0) -> float:
    """Write n random pairs of d numbers, ask for each again: the error, as a share of the size of the values.

    Keys have length 1. Rows that are kept would give every value back as it was.
    """
    rng = np.random.default_rng(seed)
    keys, values = rng.normal(size=(2, n, d))
    keys /= np.linalg.norm(keys, axis=1, keepdims=True)
    state = np.zeros((d, d))
    for key, value in zip(keys, values, strict=True):
        state = (write_delta if delta else add_pair)(state, key, value)
    return float(np.linalg.norm(keys @ state - values) / np.linalg.norm(values))
