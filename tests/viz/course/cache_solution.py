"""A solution of site/exercises/cache_exercise.py, for its test; the site does not carry it."""

from __future__ import annotations

from typing import Any

import numpy as np

from microgpt.config import Array


def append(cache: Any, k: Array, v: Array) -> int:
    cache.keys.append(k.copy())
    cache.values.append(v.copy())
    return len(cache.keys) - 1


def attend(cache: Any, q: Array) -> Array:
    keys, values = np.stack(cache.keys), np.stack(cache.values)
    t, n = len(keys), len(q)
    scores = np.einsum("nhd,thd->hnt", q, keys) / np.sqrt(q.shape[-1])
    positions = np.arange(t - n, t)
    scores[:, np.arange(t) > positions[:, None]] = -np.inf
    raised = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = raised / raised.sum(axis=-1, keepdims=True)
    answers: Array = np.einsum("hnt,thd->nhd", weights, values)
    return answers


def crop(cache: Any, n: int) -> None:
    if not 0 <= n <= len(cache.keys):
        raise ValueError(f"there are {len(cache.keys)} rows")
    del cache.keys[n:]
    del cache.values[n:]
