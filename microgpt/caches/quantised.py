"""Rows in fewer bits: a cache that keeps codes, and turns them back when they are read.

What a step reads of the cache is what it must move, so a row of half the bytes is read in half the time, and twice as
many fit. The price is an error (`microgpt.caches.codes`), and it depends on which numbers share a scale:

- per token: a row, or a part of a row, is a group. A row can be closed as soon as it is there.
- per channel: the same number of G rows, one after the other, is a group. It is closed when all G are there.

In large models some channels of the keys are large for every token. Per token, each such number widens the grid of its
whole row; per channel, only that of its own kind. Values have no such channels. So KIVI (Liu et al., 2024) takes keys
per channel and values per token, and leaves the newest rows as they are: they often get most attention.

A closed group never changes. What `append` hands out is what is kept: new rows too are read turned back if they are
closed by then. (KIVI's prompt reads itself in full precision.) Kernels turn codes back inside of attention; here they
are turned back before it, so bytes are saved and time is not.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from microgpt.cache import Layers, check_rows
from microgpt.caches.codes import Codes, Float8, Grid
from microgpt.config import Array, Config, DType
from microgpt.errors import N_, UserError


@dataclass(frozen=True)
class Rows:
    """How rows are kept: their codes, what makes a group, and how many of the newest stay as they are."""

    codes: Grid | Float8
    per_channel: bool = False
    group: int = 0  # numbers in a group; per token, 0 is the whole row
    recent: int = 0

    def check(self, head_dim: int) -> None:
        """Raise UserError for groups that cannot be."""
        if self.recent < 0:
            raise UserError("%(n)s newest rows in full: choose 0 or more.", n=self.recent)
        if self.group < (1 if self.per_channel else 0):
            raise UserError("A group of %(group)s rows: choose 1 or more.", group=self.group)
        if not self.per_channel and self.group and head_dim % self.group:
            sentence = N_("A group of %(group)s numbers does not divide a row of %(head_dim)s; choose a divisor of it.")
            raise UserError(sentence, group=self.group, head_dim=head_dim)
        self.codes.encode(np.zeros((1, self.length(head_dim))))  # codes that fill no whole bytes

    @property
    def block(self) -> int:
        """Rows that are closed together."""
        return self.group if self.per_channel else 1

    def length(self, head_dim: int) -> int:
        """Numbers in a group."""
        return self.group or head_dim

    def split_groups(self, x: Array) -> Array:
        """Rows [g, n, d] as groups: [g, blocks, groups in a block, length]."""
        g, n, d = x.shape
        if self.per_channel:
            return x.reshape(g, n // self.group, self.group, d).swapaxes(2, 3)
        return x.reshape(g, n, d // self.length(d), self.length(d))

    def join_groups(self, groups: Array) -> Array:
        """The undo of `split_groups`."""
        g, blocks, n_groups, length = groups.shape
        if self.per_channel:
            return groups.swapaxes(2, 3).reshape(g, blocks * length, n_groups)
        return groups.reshape(g, blocks, n_groups * length)


class QuantisedRows:
    """K or V of one layer: codes of closed groups, in buffers for n_ctx rows, and the open rows behind them."""

    def __init__(self, rows: Rows, n_kv_head: int, n_ctx: int, head_dim: int, dtype: DType) -> None:
        rows.check(head_dim)
        self.rows = rows
        self.open: Array = np.empty((n_kv_head, 0, head_dim), dtype)
        one = rows.codes.encode(rows.split_groups(np.zeros((n_kv_head, rows.block, head_dim), dtype)))
        self._buffers = Codes(*(np.empty(self._shape(part, -(-n_ctx // rows.block)), part.dtype) for part in one))
        self._blocks = 0

    @staticmethod
    def _shape(part: Array, blocks: int) -> tuple[int, ...]:
        return (part.shape[0], blocks, *part.shape[2:]) if part.ndim > 1 else part.shape

    @property
    def codes(self) -> Codes:
        """Views of what is closed."""
        return Codes(*(part[:, : self._blocks] if part.ndim > 1 else part for part in self._buffers))

    def __len__(self) -> int:
        return self._blocks * self.rows.block + int(self.open.shape[1])

    @property
    def nbytes(self) -> int:
        """Bytes of the rows in use, which is what a step reads: codes, scales, minima, and the open rows."""
        return self.codes.nbytes + self.open.nbytes

    def append(self, new: Array) -> Array:
        """Keep n rows [g, n, d], close what can be closed, and hand out all rows [g, t, d]."""
        self.open = np.concatenate([self.open, new], axis=1)
        blocks = max(0, int(self.open.shape[1]) - self.rows.recent) // self.rows.block
        if blocks:
            n, old, self._blocks = blocks * self.rows.block, self._blocks, self._blocks + blocks
            for buffer, part in zip(
                self._buffers, self.rows.codes.encode(self.rows.split_groups(self.open[:, :n])), strict=True
            ):
                if buffer.ndim > 1:
                    buffer[:, old : self._blocks] = part
            self.open = self.open[:, n:].copy()
        return self.read()

    def read(self) -> Array:
        """All rows, turned back: [g, t, d]."""
        back = self.rows.join_groups(self.rows.codes.decode(self.codes, self.open.dtype))
        return np.concatenate([back, self.open], axis=1)


class QuantisedLayer:
    """The keys and the values of one layer."""

    def __init__(self, keys: QuantisedRows, values: QuantisedRows) -> None:
        self.keys, self.values = keys, values

    def __len__(self) -> int:
        return len(self.keys)

    @property
    def nbytes(self) -> int:
        return self.keys.nbytes + self.values.nbytes

    def append(self, k: Array, v: Array) -> tuple[Array, Array, range]:
        """Keep n rows, k and v [n, n_kv_head, head_dim]; all rows come back [n_kv_head, len, head_dim]."""
        keys, values = self.keys.append(k.swapaxes(0, 1)), self.values.append(v.swapaxes(0, 1))
        return keys, values, range(len(self))


class QuantisedCache(Layers[QuantisedLayer]):
    """A cache whose keys and values are kept as two `Rows` say.

    >>> cache = QuantisedCache(Config(), *kivi(bits=4, group=2, recent=4))
    >>> cache.next_position, cache.nbytes
    (0, 0)
    """

    def __init__(self, config: Config, keys: Rows, values: Rows, dtype: DType = np.float64) -> None:
        shape = config.n_kv_head, config.n_ctx, config.head_dim, dtype
        self._n_ctx = config.n_ctx
        self.layers = [
            QuantisedLayer(QuantisedRows(keys, *shape), QuantisedRows(values, *shape)) for _ in range(config.n_layer)
        ]

    def check_room(self, n: int) -> None:
        """Raise UserError unless n more rows fit."""
        check_rows(len(self), n, self._n_ctx)


def kivi(bits: int = 2, group: int = 32, recent: int = 128, scales: DType = np.float64) -> tuple[Rows, Rows]:
    """Keys per channel, in groups of `group` rows; values per token; the `recent` newest rows of both in full."""
    grid = Grid(bits, scales=scales)
    return Rows(grid, per_channel=True, group=group, recent=recent), Rows(grid, recent=recent)
