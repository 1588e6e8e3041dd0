"""A text that goes in circles: where its circle begins, and how sure of the next token the model is in each round.

A model that always takes the likeliest token can come back to what it has written, and then writes it once more. Each
round leaves its rows in the cache, and the next one reads them. What that does is found by taking them out: the same
tokens are run with the rows of the earlier rounds gone. Knows models and caches; knows no page.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from microgpt.cache import Cache, KVCache
from microgpt.config import Array, Config, Hook, Report
from microgpt.experiments.dropping.results import SomeRows
from microgpt.model import forward, softmax
from microgpt.weights import Model


class Circle(NamedTuple):
    """From `start` on, each token is the one `period` tokens after it."""

    start: int
    period: int

    def rounds(self, n: int) -> list[range]:
        """The steps of each whole round in a text of n tokens."""
        firsts = range(self.start, n - self.period + 1, self.period)
        return [range(first, first + self.period) for first in firsts]


def circle(ids: Sequence[int]) -> Circle | None:
    """The circle in which a text ends, if it has gone round at least twice: the one that begins first, of equals the
    shortest."""
    found, n = list[Circle](), len(ids)
    for period in range(1, n // 2 + 1):
        start = n - period
        while start and ids[start - 1] == ids[start - 1 + period]:
            start -= 1
        if n - start >= 2 * period:
            found.append(Circle(start, period))
    return min(found, default=None)


def chances(model: Model, ids: Sequence[int], cache: Cache | None = None, hook: Hook | None = None) -> Array:
    """The probability of each token but the first, given those before it and what `cache` holds: [n - 1]."""
    if len(ids) < 2:
        return np.zeros(0)
    cache = KVCache(model.config, model.params["wte"].dtype) if cache is None else cache
    logits = forward(model.params, model.config, ids[:-1], cache, hook)
    found: Array = softmax(logits.astype(np.float64))[np.arange(len(ids) - 1), ids[1:]]
    return found


def without_earlier_rounds(model: Model, ids: Sequence[int], turn: range, start: int) -> Array:
    """The same for the tokens of round `turn`, [period], its rounds before, from `start` on, gone from the cache.

    The token before the round is the last of the one before it; its row is gone too once it has given the first chance.
    """

    def readable(at: int, newest: int) -> bool:
        return newest < turn.start - 1 or at not in range(start, min(newest, turn.start))

    cache = SomeRows(model.config, model.params["wte"].dtype, readable)
    forward(model.params, model.config, ids[: turn.start - 1], cache)
    first = chances(model, ids[turn.start - 1 : turn.start + 1], cache)
    return np.concatenate([first, chances(model, ids[turn.start : turn.stop], cache)])


class Looks:
    """A hook: what each head gives, on average over a round, to what came next in the rounds before.

    `found` is [rounds, n_layer, n_head]; of the first round, which has none before it, 0.
    """

    def __init__(self, config: Config, found: Circle, n: int) -> None:
        self.circle, self.rounds = found, found.rounds(n)
        self.found = np.zeros((len(self.rounds), config.n_layer, config.n_head))

    def __call__(self, report: Report) -> None:
        name, value, pos, layer = report
        if name != "attn_weights":
            return
        for at, turn in enumerate(self.rounds):
            for step in turn:
                if 0 <= step - pos < value.shape[1]:
                    nexts = range(step + 1 - self.circle.period, self.circle.start, -self.circle.period)
                    self.found[at, layer] += value[:, step - pos, list(nexts)].sum(axis=-1) / len(turn)
