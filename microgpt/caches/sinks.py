"""Sinks: the first rows and the newest ones stay, what lies between leaves. StreamingLLM (Xiao et al., 2023).

A model that was trained to see everything cannot lose its oldest rows unharmed: in large models much of the attention
goes to the first ones, whatever they say, and a window that has slid past them is another input than any in training.
So S sinks are kept beside R recent rows. It goes on for ever, but remembers nothing of what it has dropped.

Positions are places in the cache: the query stands at the number of rows before it, and row j at j, so that no angle
is larger than in a text of S + R tokens. Only differences of positions count (R(-m) R_j k = R_(j-m) k), so it comes to
the same when all places are moved up until the query stands where it is in the text. Recent rows are then where they
were, and what must be turned is the sinks alone, by as many places as rows have left. The model is told nothing of it.
Learned positions are in the embedding and cannot be moved: there the sinks stay where they were.

Rows leave between two steps: call `make_room` before each.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from microgpt.cache import Layers, check_position
from microgpt.config import Array, Config, DType, Hook
from microgpt.errors import N_, UserError
from microgpt.rope import ROTATIONS


class SinkLayer:
    """S sinks, then up to R recent rows: buffers [n_kv_head, slots, head_dim] with an eighth of slots to spare."""

    def __init__(self, config: Config, sinks: int, recent: int, dtype: DType) -> None:
        self._sinks = sinks
        self._keys: Array = np.empty((config.n_kv_head, sinks + recent + recent // 8, config.head_dim), dtype)
        self._values: Array = np.empty_like(self._keys)
        self._sink_keys: Array = np.empty((config.n_kv_head, sinks, config.head_dim), dtype)  # as they came
        self._sink_values: Array = np.empty_like(self._sink_keys)
        self._start = self._end = 0  # of the rows handed out: the sinks stand directly before the recent rows
        self.seen = 0

    def __len__(self) -> int:
        """Rows that are held."""
        return self._end - self._start

    @property
    def nbytes_reserved(self) -> int:
        return sum(part.nbytes for part in (self._keys, self._values, self._sink_keys, self._sink_values))

    def drop(self, n: int, coming: int, turn: Callable[[Array], Array]) -> None:
        """The n oldest rows behind the sinks leave; the sinks go where these were, turned to their new places."""
        self._start += n
        if self._end + coming > self._keys.shape[1]:  # no slot left: back to the start of the buffers
            held = len(self)
            for buffer in (self._keys, self._values):
                buffer[:, :held] = buffer[:, self._start : self._end]
            self._start, self._end = 0, held
        places = slice(self._start, self._start + self._sinks)
        self._keys[:, places] = turn(self._sink_keys.swapaxes(0, 1)).swapaxes(0, 1)
        self._values[:, places] = self._sink_values

    def append(self, k: Array, v: Array) -> tuple[Array, Array, range]:
        """Keep n rows, k and v [n, n_kv_head, head_dim]; sinks and recent rows come back, by their places."""
        old, self._end = self._end, self._end + len(k)
        self._keys[:, old : self._end] = k.swapaxes(0, 1)
        self._values[:, old : self._end] = v.swapaxes(0, 1)
        if (missing := self._sinks - self.seen) > 0:
            own = slice(self.seen, self.seen + len(k[:missing]))
            self._sink_keys[:, own], self._sink_values[:, own] = (x[:missing].swapaxes(0, 1) for x in (k, v))
        self.seen += len(k)
        rows = slice(self._start, self._end)
        return self._keys[:, rows], self._values[:, rows], range(self.seen - len(self), self.seen)


class SinkCache(Layers[SinkLayer]):
    """`sinks` rows from the start of the text and up to `recent` newest ones, the one that is run included.

    >>> cache = SinkCache(Config(position="rope"), sinks=1, recent=3)
    >>> cache.next_position, cache.make_room()
    (0, 0)
    """

    def __init__(self, config: Config, sinks: int = 4, recent: int = 0, dtype: DType = np.float64) -> None:
        recent = recent or max(1, config.n_ctx - sinks)
        if sinks < 0 or recent < 1:
            raise UserError(
                "%(sinks)s sinks and %(recent)s recent rows: choose 0 or more sinks, and 1 or more recent rows.",
                sinks=sinks,
                recent=recent,
            )
        if config.window:
            raise UserError("This model sees a window. A ring keeps what it sees, and nothing is lost.")
        self._config, self.sinks, self.recent, self._dtype = config, sinks, recent, np.dtype(dtype)
        self.layers = [SinkLayer(config, sinks, recent, dtype) for _ in range(config.n_layer)]

    @property
    def next_position(self) -> int:
        """Tokens so far: the place of a row is told by how far it lies before this one."""
        return self.layers[-1].seen

    @property
    def positions(self) -> list[int]:
        """Which tokens of the text the rows belong to."""
        seen, held = self.next_position, len(self)
        sinks = min(self.sinks, held)
        return [*range(sinks), *range(seen - held + sinks, seen)]

    def make_room(self, n: int = 1, hook: Hook | None = None) -> int:
        """Before a step of n tokens: the oldest rows behind the sinks leave. Returns how many."""
        over = min(len(self) + n - self.sinks - self.recent, len(self) - self.sinks)
        if over <= 0:
            return 0
        left = self.positions[self.sinks : self.sinks + over]
        gone = self.next_position - len(self) + over
        turn = ROTATIONS[self._config.position](self._config, range(gone, gone + 1), self._dtype)
        for layer, rows in enumerate(self.layers):
            rows.drop(over, n, turn)
            hook and hook(("cache_evict", np.tile(left, (self._config.n_kv_head, 1)), self.next_position, layer))
        return over

    def check_room(self, n: int) -> None:
        """Raise UserError unless there is room, and a position, for n more tokens."""
        room = self.sinks + self.recent - len(self)
        if n > room:
            sentence = N_(
                "%(sinks)s sinks and %(recent)s recent rows have room for %(room)s more; %(n)s do not fit. "
                "Make room before each step, and run the text in smaller pieces."
            )
            raise UserError(sentence, sinks=self.sinks, recent=self.recent, room=room, n=n)
        check_position(self._config, self.next_position, n)
