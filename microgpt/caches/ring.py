"""A ring: the cache of a model that sees a window. A new row takes the place of one that is out of reach.

Where a token sees the last W rows, its own included (`Config.window`), W - 1 older ones are enough, and the answer is
exactly that of a cache that keeps all: what the mask hides need not be there. Several new tokens at once read what is
left and themselves; the mask does the rest.

Layers that see everything (`Config.window_from`) keep everything. What a model without a window would lose in a ring is
another matter: that is eviction, and not exact.
"""

from __future__ import annotations

import numpy as np

from microgpt.cache import KVLayer, Layers, check_position
from microgpt.config import Array, Config, DType, window_of
from microgpt.errors import UserError


class RingLayer:
    """The last W - 1 rows of one layer, in two buffers [n_kv_head, slots, head_dim] with an eighth of slots to spare.

    Rows go in one after the other, so the oldest first is a view. At the end of the buffer those that are still
    held move to its start: once in W / 8 tokens, instead of all of them for each token.
    """

    def __init__(self, n_kv_head: int, window: int, head_dim: int, dtype: DType = np.float64) -> None:
        if window < 1:
            raise UserError(
                "A window of %(window)s rows: a token sees at least its own; choose 1 or more.", window=window
            )
        self._size = window - 1
        self._keys: Array = np.empty((n_kv_head, window + self._size // 8, head_dim), dtype)
        self._values: Array = np.empty_like(self._keys)
        self._end = 0  # the slot of the next row
        self.seen = 0  # tokens so far, kept or not

    def __len__(self) -> int:
        """Rows that are held."""
        return min(self.seen, self._size)

    @property
    def nbytes_reserved(self) -> int:
        return self._keys.nbytes + self._values.nbytes

    def check_room(self, n: int) -> None:
        """There always is."""

    def append(self, k: Array, v: Array) -> tuple[Array, Array, range]:
        """Keep n rows, k and v [n, n_kv_head, head_dim]. Return what was held, oldest first, and the new rows."""
        n, held, slots = len(k), len(self), self._keys.shape[1]
        positions = range(self.seen - held, self.seen + n)
        self.seen += n
        if held + n > slots:  # a long prompt: more rows than a ring has room for, and most are not held
            return *self._append_long(k, v, held), positions
        if self._end + n > slots:
            for buffer in (self._keys, self._values):
                buffer[:, :held] = buffer[:, self._end - held : self._end]
            self._end = held
        start, old, self._end = self._end - held, self._end, self._end + n
        self._keys[:, old : self._end] = k.swapaxes(0, 1)
        self._values[:, old : self._end] = v.swapaxes(0, 1)
        return self._keys[:, start : self._end], self._values[:, start : self._end], positions

    def _append_long(self, k: Array, v: Array, held: int) -> tuple[Array, Array]:
        """All rows, side by side for once; the last of them are kept."""
        keys, values = (
            np.concatenate([buffer[:, self._end - held : self._end], new.swapaxes(0, 1)], axis=1)
            for buffer, new in ((self._keys, k), (self._values, v))
        )
        self._end = len(self)
        self._keys[:, : self._end] = keys[:, keys.shape[1] - self._end :]
        self._values[:, : self._end] = values[:, values.shape[1] - self._end :]
        return keys, values


class RingCache(Layers[RingLayer | KVLayer]):
    """Rings in the layers with a window, and all rows in the others."""

    def __init__(self, config: Config, dtype: DType = np.float64) -> None:
        if not any(window_of(config, layer) for layer in range(config.n_layer)):
            raise UserError("This model sees the whole text, so a ring would lose rows. Keep them in a KVCache.")
        self._config = config
        self.layers = [
            RingLayer(config.n_kv_head, window, config.head_dim, dtype)
            if (window := window_of(config, layer))
            else KVLayer(config.n_kv_head, config.n_ctx, config.head_dim, dtype)
            for layer in range(config.n_layer)
        ]

    @property
    def next_position(self) -> int:
        """Tokens so far, which are more than the rows that are held."""
        last = self.layers[-1]  # while a forward pass is under way, it tells
        return last.seen if isinstance(last, RingLayer) else len(last)

    def check_room(self, n: int) -> None:
        """Raise UserError where n more tokens have no position, or no room in a layer that keeps all."""
        check_position(self._config, self.next_position, n)
        for layer in self.layers:
            layer.check_room(n)
