"""Rows with a channel, or a token, that is planted larger: what scales per token and per channel do to all others.

The rows of our own models have neither: `unevenness` says how even theirs are.
"""

from __future__ import annotations

import numpy as np

from microgpt.caches.codes import Grid
from microgpt.caches.quantised import Rows
from microgpt.config import Array
from microgpt.experiments.dropping.bits import through

N_ROWS, CHANNELS, CHANNEL, TOKEN, TIMES = 64, 16, 3, 3, 20.0


def rows_with(times: float = TIMES, token: bool = False) -> Array:
    """[n, head_dim], one channel of which is so many times larger; or one token."""
    rows = np.random.default_rng(0).normal(size=(N_ROWS, CHANNELS))
    rows[(TOKEN,) if token else (slice(None), CHANNEL)] *= times
    return rows


def plant(rows: Array, bits: int, token: bool = False) -> tuple[float, float]:
    """The error of all channels, or tokens, but the planted one: with a scale per token, and with one per channel."""
    per_token, per_channel = Rows(Grid(bits)), Rows(Grid(bits), per_channel=True, group=len(rows))
    return others_off(rows, per_token, token), others_off(rows, per_channel, token)


def others_off(rows: Array, kept: Rows, token: bool) -> float:
    """Through these codes: the error of what is not planted."""
    kind = through(kept, rows[None, None])
    off = (kind.after - kind.before)[0, 0]
    others = np.delete(off, TOKEN if token else CHANNEL, axis=0 if token else 1)
    return float(np.sqrt(np.mean(others**2)))


def unevenness(rows: Array) -> float:
    """Of rows [n, head_dim]: the largest channel's root mean square, in times of the middle one's."""
    sizes = np.sqrt(np.mean(rows**2, axis=0))
    return float(sizes.max() / np.sort(sizes)[len(sizes) // 2])
