"""One attention weight as a reader can compute it from the picture: the products, the score, softmax. Knows no HTML."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from microgpt.config import Config
from microgpt.trace import Reads, Trace


class ByHand(NamedTuple):
    """The largest weight of one step and head. What the trace reports, `score` and `weight`, is computed again."""

    i: int  # the step, by its position
    layer: int
    head: int
    row: int
    pairs: list[tuple[float, float]]  # of q and k, number by number
    dot: float
    root: float  # of head_dim
    score: float
    raised: float  # e to the score
    total: float  # the same of all rows, added
    weight: float


def by_hand(trace: Trace, config: Config, i: int, layer: int, head: int) -> ByHand:
    reads, most = Reads(trace), int(trace["attn_weights", i, layer][head, 0].argmax())
    row = reads.positions(i, layer)[most]
    q = trace["q", i, layer][0].reshape(config.n_head, -1)[head]
    k = reads.row("k", row, layer, i)[head * config.n_kv_head // config.n_head]
    root = config.head_dim**0.5
    raised = np.exp(trace["attn_scores", i, layer][head, 0])
    score, total = float(q @ k) / root, float(raised.sum())
    return ByHand(
        i, layer, head, row, list(zip(q.tolist(), k.tolist(), strict=True)), float(q @ k), root, score,
        float(np.exp(score)), total, float(np.exp(score)) / total,
    )  # fmt: skip
