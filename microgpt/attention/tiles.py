"""Softmax that never sees the whole row: one pass over tiles of the keys, and parts that are joined.

softmax needs the largest score and the sum over all of them before it can give the first weight. But what it is for,
the weighted sum of values, can be carried along: keep the largest score so far, m, the sum l of e^(score - m), and the
sum o of e^(score - m) times value. When a tile brings a larger score, the old l and o are too large by the factor
e^(m_new - m_old), and are made smaller by it. In the end o / l is the answer. This is the online softmax (Milakov and
Gimelshein, arXiv 1805.02867) on which FlashAttention is built (arXiv 2205.14135): scores live only as long as their
tile, and are never written to memory.

The parts may be worked out apart, by processors that would otherwise be idle (flash-decoding), and joined: log l + m is
all that must be known of a part to give its answer the right weight.

One query, one head. A score of -inf is a key that the mask hides.

What it saves is what is moved between memory and processor. Step by step, attention stores its scores, reads them for
softmax, stores the weights and reads those for the weighted sum: four times n * t numbers, which for a long prompt is
nearly all. For a single query, as in decoding, they were little beside K and V, so nothing is won there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from microgpt.config import Array
from microgpt.errors import UserError


class State(NamedTuple):
    """What has been seen of the row after a tile."""

    m: float  # the largest score
    l: float  # noqa: E741 (its name in the papers): the sum of e^(score - m)
    o: Array  # [d]: the sum of e^(score - m) * value
    factor: float = 1.0  # what the l and o of before were multiplied by in this tile

    @property
    def part(self) -> Part:
        """The answer for the keys so far; zeros where all are hidden."""
        with np.errstate(divide="ignore"):
            return Part(self.o / self.l if self.l else np.zeros_like(self.o), float(np.log(self.l) + self.m))


class Part(NamedTuple):
    """Attention over some of the keys: the weighted sum of their values [d], and the log of the sum of e^score."""

    out: Array
    lse: float


def online(scores: Array, values: Array, size: int, sink: float = -np.inf) -> Iterator[State]:
    """The state after each tile of `size` keys: scores [t], values [t, d].

    A `sink` is a score without a value, which a model may have learned for each head (gpt-oss): the sum starts with it.
    """
    if size < 1:
        raise UserError("A tile of %(size)s keys holds none; choose 1 or more.", size=size)
    state = State(sink, float(np.isfinite(sink)), np.zeros(values.shape[1], values.dtype))
    for at in range(0, len(scores), size):
        state = after(state, scores[at : at + size], values[at : at + size])
        yield state


def after(state: State, scores: Array, values: Array) -> State:
    """One tile more: scores [size], values [size, d]."""
    m = max(state.m, float(scores.max()))
    if m == -np.inf:  # nothing has been seen yet: -inf minus -inf is not a number
        return state._replace(factor=1.0)
    factor = float(np.exp(state.m - m))
    e = np.exp(scores - m)  # [size]
    return State(m, state.l * factor + float(e.sum()), state.o * factor + e @ values, factor)


def attend(scores: Array, values: Array, size: int, sink: float = -np.inf) -> Part:
    """The answer of one query, tile by tile."""
    *_, last = online(scores, values, size, sink)
    return last.part


def split(scores: Array, values: Array, n_splits: int, size: int = 128) -> list[Part]:
    """The keys in `n_splits` parts of nearly the same length, each on its own; none where there are fewer keys."""
    if n_splits < 1:
        raise UserError("%(n)s splits leave nobody to work; choose 1 or more.", n=n_splits)
    cuts = np.array_split(np.arange(len(scores)), n_splits)
    return [attend(scores[cut], values[cut], size) for cut in cuts if len(cut)]


def join(parts: Iterable[Part]) -> Part:
    """One answer of several: their mean, weighted by e^lse. The plain mean would be wrong."""
    outs, lses = zip(*parts, strict=True)
    m = max(lses)
    if m == -np.inf:
        return Part(np.zeros_like(outs[0]), m)
    weights = np.exp(np.array(lses) - m)  # [parts]
    return Part((weights / weights.sum()) @ np.array(outs), float(m + np.log(weights.sum())))


def n_splits(texts_and_heads: int, n_keys: int, processors: int, block: int = 128, most: int = 128) -> int:
    """How many splits flash-attention 2 takes for one query of `texts_and_heads`, on a GPU with so many processors.

    One where they are four fifths busy without splits. Else the fewest that keep them busy to within 85 percent of what
    any number would. Two blocks of work fit on a processor at a time.
    """
    places, n_blocks = 2 * processors, -(-n_keys // block)
    if texts_and_heads >= 0.8 * places:
        return 1
    busy = dict[int, float]()
    for n in range(1, min(most, places, n_blocks) + 1):
        if n == 1 or -(-n_blocks // n) != -(-n_blocks // (n - 1)):  # else one more split makes none of them shorter
            rounds = texts_and_heads * n / places
            busy[n] = rounds / np.ceil(rounds)
    return next(n for n, share in busy.items() if share >= 0.85 * max(busy.values()))


# ---- the numbers that one head moves: n queries of width d over t keys ------------------------------


def separate_traffic(n: int, t: int, d: int) -> int:
    """One after the other: Q, K and V are read, scores and weights are stored and read, O is stored."""
    return once(n, t, d) + 4 * n * t


def once(n: int, t: int, d: int) -> int:
    """The least there is: each of Q, K and V read once, O stored once."""
    return 2 * n * d + 2 * t * d
