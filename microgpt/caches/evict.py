"""Eviction by attention: rows leave that were looked at least. H2O and SnapKV.

Both ask the attention weights, which a cache never sees: `watch` gives a hook that reads them as they are reported.
Rows leave between two steps, in `make_room`. Each key and value head chooses for itself, so heads hold rows of
different tokens, but equally many.

- H2O (Zhang et al., 2023): what a row has received so far, summed over all queries. The heaviest rows stay, and the
  newest. A sum favours old rows, which more queries have seen.
- SnapKV (Li et al., 2024): once, at the end of the prompt. Its last tokens vote by their weights for the rows before
  them, neighbours share their votes, and the rows with the most stay, with the voters. Rows that come later all stay.

Both are guesses about what will be needed: a row that has left is gone. Rows keep the positions that they had.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from microgpt.cache import Layers, check_position
from microgpt.config import Array, Config, DType, Hook, Report
from microgpt.errors import N_, UserError


class ChosenLayer:
    """The rows of one layer, of each head its own: [n_kv_head, t, head_dim], and whose they are [n_kv_head, t]."""

    def __init__(self, n_kv_head: int, head_dim: int, dtype: DType) -> None:
        self.keys: Array = np.empty((n_kv_head, 0, head_dim), dtype)
        self.values: Array = np.empty_like(self.keys)
        self.positions: Array = np.empty((n_kv_head, 0), int)
        self.seen = 0

    def __len__(self) -> int:
        """Rows that are held, in each head."""
        return int(self.positions.shape[1])

    @property
    def nbytes(self) -> int:
        return self.keys.nbytes + self.values.nbytes

    def append(self, k: Array, v: Array) -> tuple[Array, Array, range]:
        """Keep n rows, k and v [n, n_kv_head, head_dim]; all come back, in order.

        Heads hold rows of different positions, of which no one list can tell. Those that are returned only put all old
        rows before all new ones; a mask asks for no more.
        """
        self.keys = np.concatenate([self.keys, k.swapaxes(0, 1)], axis=1)
        self.values = np.concatenate([self.values, v.swapaxes(0, 1)], axis=1)
        new = np.tile(np.arange(self.seen, self.seen + len(k)), (len(self.keys), 1))
        self.positions = np.concatenate([self.positions, new], axis=1)
        self.seen += len(k)
        return self.keys, self.values, range(self.seen - len(self), self.seen)

    def keep(self, places: Array) -> Array:
        """Only these rows stay, [n_kv_head, m] in rising order. Returns the positions of the others."""
        out = np.ones(self.positions.shape, bool)
        np.put_along_axis(out, places, False, axis=1)
        left = self.positions[out].reshape(len(out), -1)
        self.keys, self.values = (
            np.take_along_axis(rows, places[..., None], axis=1) for rows in (self.keys, self.values)
        )
        self.positions = np.take_along_axis(self.positions, places, axis=1)
        return left


class ChoosingCache(Layers[ChosenLayer], ABC):
    """What H2O and SnapKV have in common: rows a head, a hook that watches, and room that is made between steps."""

    def __init__(self, config: Config, dtype: DType = np.float64) -> None:
        if config.window:
            raise UserError("This model sees a window. A ring keeps what it sees, and nothing is lost.")
        self._config = config
        self.layers = [ChosenLayer(config.n_kv_head, config.head_dim, dtype) for _ in range(config.n_layer)]

    @property
    def next_position(self) -> int:
        """Tokens so far, which are more than the rows that are held in each head."""
        return self.layers[-1].seen

    def check_room(self, n: int) -> None:
        """Raise UserError where n more tokens have no position."""
        check_position(self._config, self.next_position, n)

    def watch(self, hook: Hook | None = None) -> Hook:
        """The hook that `forward` must be given; it tells `hook` everything too."""

        def tell(report: Report) -> None:
            name, value, _, layer = report
            if name == "attn_weights":
                t = value.shape[-1]
                self.observe(layer, value.reshape(self._config.n_kv_head, -1, value.shape[1], t).sum(axis=1))
            hook and hook(report)

        return tell

    def make_room(self, n: int = 1, hook: Hook | None = None) -> int:
        """Before a step of n tokens: the rows that are not chosen leave. Returns how many, of each head."""
        gone = 0
        for layer, rows in enumerate(self.layers):
            places = self.choose(layer, n)
            if places is not None and places.shape[1] < len(rows):
                others = rows.keep(places)
                self.forget(layer, places)
                gone = others.shape[1]
                hook and hook(("cache_evict", others, rows.seen, layer))
        return gone

    @abstractmethod
    def observe(self, layer: int, weights: Array) -> None:
        """What n queries gave to the t rows: [n_kv_head, n, t], summed over the query heads that share a row."""

    @abstractmethod
    def choose(self, layer: int, n: int) -> Array | None:
        """The places of the rows that stay, [n_kv_head, m] in rising order; None: all."""

    def forget(self, layer: int, places: Array) -> None:
        """Only these rows are held from now on."""


def check_watched(seen: int, held: int) -> None:
    """Raise UserError unless a hook has seen the weights of all rows that are held."""
    if seen != held:
        raise UserError("Nobody has watched the attention weights. Run the model with the hook of `watch`.")


def best_and_newest(scores: Array, best: int, held: int) -> Array:
    """The places of so many older rows with the highest scores [n_kv_head, older], and of all newer ones, in order."""
    older = np.sort(np.argsort(-scores, axis=1, kind="stable")[:, :best], axis=1)
    newest = np.tile(np.arange(scores.shape[1], held), (len(scores), 1))
    return np.concatenate([older, newest], axis=1)


class H2OCache(ChoosingCache):
    """`heavy` rows that have received most, and the `recent` newest, the one that is run included.

    >>> cache = H2OCache(Config(), heavy=4, recent=4)
    >>> cache.make_room(), cache.next_position
    (0, 0)
    """

    def __init__(self, config: Config, heavy: int, recent: int, dtype: DType = np.float64) -> None:
        if heavy < 0 or recent < 1:
            raise UserError(
                "%(heavy)s heavy rows and %(recent)s recent ones: choose 0 or more heavy, and 1 or more recent.",
                heavy=heavy,
                recent=recent,
            )
        super().__init__(config, dtype)
        self.heavy, self.recent = heavy, recent
        self.received: list[Array] = [np.zeros((config.n_kv_head, 0)) for _ in self.layers]  # by row: [n_kv_head, t]

    def observe(self, layer: int, weights: Array) -> None:
        total: Array = weights.sum(axis=1)
        before = self.received[layer]
        total[:, : before.shape[1]] += before
        self.received[layer] = total

    def scores(self, layer: int, n: int) -> Array:
        """What each row has received, but for the newest; the n that come are recent too."""
        held = len(self.layers[layer])
        check_watched(self.received[layer].shape[1], held)
        return self.received[layer][:, : held - max(0, self.recent - n)]

    def choose(self, layer: int, n: int) -> Array | None:
        held = len(self.layers[layer])
        if held <= self.heavy + max(0, self.recent - n):
            return None
        return best_and_newest(self.scores(layer, n), self.heavy, held)

    def forget(self, layer: int, places: Array) -> None:
        self.received[layer] = np.take_along_axis(self.received[layer], places, axis=1)


class SnapKVCache(ChoosingCache):
    """Of the prompt, `rows` rows: its last `voters`, and those that they vote for. Later rows all stay.

    >>> SnapKVCache(Config(), rows=8, voters=2, pool=3).make_room()
    0
    """

    def __init__(self, config: Config, rows: int, voters: int, pool: int = 1, dtype: DType = np.float64) -> None:
        if not 1 <= voters <= rows:
            sentence = N_("%(voters)s voters and %(rows)s rows: choose 1 or more voters, and as many rows or more.")
            raise UserError(sentence, voters=voters, rows=rows)
        if pool < 1 or pool % 2 == 0:
            raise UserError("%(pool)s neighbours share their votes: choose an odd number.", pool=pool)
        super().__init__(config, dtype)
        self.rows, self.voters, self.pool = rows, voters, pool
        self.votes: list[Array] = [np.zeros((config.n_kv_head, 0, 0)) for _ in self.layers]  # [n_kv_head, voters, t]
        self._voted = False

    def observe(self, layer: int, weights: Array) -> None:
        """The last queries so far; earlier ones have seen fewer rows."""
        if self._voted:
            return
        before = self.votes[layer]
        wider = np.zeros((*before.shape[:2], weights.shape[2]))
        wider[:, :, : before.shape[2]] = before
        self.votes[layer] = np.concatenate([wider, weights], axis=1)[:, -self.voters :]

    def make_room(self, n: int = 1, hook: Hook | None = None) -> int:
        """After the prompt, before the first step: once."""
        gone = super().make_room(n, hook)
        self._voted = self._voted or self.next_position > 0
        return gone

    def scores(self, layer: int, n: int) -> Array:
        """What the voters give to each row before them, shared with its neighbours."""
        held = len(self.layers[layer])
        check_watched(self.votes[layer].shape[2], held)
        return pool_votes(self.votes[layer].sum(axis=1)[:, : held - self.voters], self.pool)

    def choose(self, layer: int, n: int) -> Array | None:
        held = len(self.layers[layer])
        if self._voted or held <= self.rows:
            return None
        return best_and_newest(self.scores(layer, n), self.rows - self.voters, held)


def pool_votes(votes: Array, width: int) -> Array:
    """The mean of each row's votes and its neighbours', [n_kv_head, t]; beyond the ends there is nothing."""
    padded = np.pad(votes, ((0, 0), (width // 2, width // 2)))
    return np.lib.stride_tricks.sliding_window_view(padded, width, axis=1).mean(axis=-1)  # type: ignore[no-any-return]
