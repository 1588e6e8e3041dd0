"""Rows with one channel that is planted larger: what a scale per token and one per channel do to all other channels.

The rows of our own models have no such channel. Knows the codes; knows no model and no page.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from microgpt.caches.codes import Grid
from microgpt.caches.quantised import Rows
from microgpt.config import Array
from microgpt.experiments.dropping.bits import through

ROWS, CHANNELS, CHANNEL, TIMES = 64, 16, 3, 20.0


@dataclass(frozen=True)
class Planted:
    """How far off the other channels are (root mean square)."""

    bits: int
    per_token: float
    per_channel: float


def rows_with(times: float = TIMES, seed: int = 0) -> Array:
    """[n, head_dim], one channel of which is so many times larger."""
    rows = np.random.default_rng(seed).normal(size=(ROWS, CHANNELS))
    rows[:, CHANNEL] *= times
    return rows


def planted(rows: Array, bits: int) -> Planted:
    """The error of all channels but the planted one, both ways."""
    token, channel = Rows(Grid(bits)), Rows(Grid(bits), per_channel=True, group=len(rows))
    return Planted(bits, others_off(rows, token), others_off(rows, channel))


def others_off(rows: Array, kept: Rows) -> float:
    """Through these codes: the error of the channels that are not planted."""
    kind = through(kept, rows[None, None])
    off = np.delete(kind.after - kind.before, CHANNEL, axis=-1)
    return float(np.sqrt(np.mean(off**2)))
