"""One head with a planted sink: what a window loses with the first row, and what keeping that row saves.

In large models the first row gets much of the weight whatever it says, and its value is short: to look there is to look
nowhere. Our own models have no such row. Here random queries read random rows of length 1, and the key of the first row
is made so that it gets a given share of the weight of the last query. Knows the maths of a head; knows no page.
"""

from __future__ import annotations

import numpy as np

from microgpt.config import Array
from microgpt.model import softmax

N_ROWS, ROW_WIDTH, SINK_LENGTH, SINK_SEED = 64, 16, 0.05, 0  # rows, numbers of a row, length of the sink's value


def plant(share: float, kept: int) -> tuple[float, float]:
    """How far off the answer of a head of N_ROWS rows is, as a share of its length, if `kept` may stay: the newest, or
    the first row and the newest."""
    rng = np.random.default_rng(SINK_SEED)
    keys, values = rng.normal(size=(2, N_ROWS, ROW_WIDTH))
    query = rng.normal(size=ROW_WIDTH)
    values /= np.linalg.norm(values, axis=1, keepdims=True)
    values[0] *= SINK_LENGTH
    scores = keys @ query / np.sqrt(ROW_WIDTH)
    scores[0] = np.log(share / (1 - share)) + np.log(np.exp(scores[1:]).sum())
    full = softmax(scores) @ values
    newest = np.arange(N_ROWS - kept, N_ROWS)
    return off(scores, values, newest, full), off(scores, values, np.r_[0, newest[1:]], full)


def off(scores: Array, values: Array, rows: Array, full: Array) -> float:
    """The answer of these rows alone against the full one."""
    found = softmax(scores[rows]) @ values[rows]
    return float(np.linalg.norm(found - full) / np.linalg.norm(full))
