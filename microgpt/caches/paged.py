"""A paged cache: the rows of one text, in blocks of a pool that other texts draw from too.

Row i lies in block `table[i // block_size]`, at place `i % block_size`. The block table is all that a text owns; a new
block is taken when the last one is full, so at most block_size - 1 places are empty. Attention is not changed by this,
only addresses are. Where the blocks of a text follow each other in the pool its rows are read where they lie; elsewhere
they are gathered in their order, block by block, which costs a copy that a kernel on a GPU saves.

`fork` makes a second text of one, which shares all rows so far. The first of the two that writes into a block of both
gets a copy of it.
"""

from __future__ import annotations

import numpy as np

from microgpt.cache import Layers, check_crop
from microgpt.caches.blocks import BlockPool
from microgpt.config import Array


class PagedLayer:
    """The rows of one layer of a paged cache."""

    def __init__(self, cache: PagedCache, layer: int, held: int = 0) -> None:
        self._cache, self._layer, self._len = cache, layer, held

    def __len__(self) -> int:
        return self._len

    def append(self, k: Array, v: Array) -> tuple[Array, Array, range]:
        """Write n rows, k and v [n, n_kv_head, head_dim], to their slots; return all, [n_kv_head, len, head_dim].

        What is returned holds until the next rows are written, in this pool by whomever.
        """
        pool, old, new = self._cache.pool, self._len, self._len + len(k)
        self._cache.reserve(old, new)
        slots = self._cache.slots(old, new)  # [n]
        pool.keys[self._layer][:, slots] = k.swapaxes(0, 1)
        pool.values[self._layer][:, slots] = v.swapaxes(0, 1)
        self._len = new
        keys, values = pool.rows(self._layer, self._cache.table)
        return keys[:, :new], values[:, :new], range(new)

    def set_length(self, n: int) -> None:
        """There are n rows: those that the blocks held before, or what is left of them."""
        self._len = n


class PagedCache(Layers[PagedLayer]):
    """The cache of one text: a block table, and how many rows each layer has."""

    def __init__(self, pool: BlockPool) -> None:
        self.pool = pool
        self.table: list[int] = []
        self.layers = [PagedLayer(self, layer) for layer in range(len(pool.keys))]

    def slots(self, old: int, new: int) -> Array:
        """Where rows old to new - 1 lie in the pool: [new - old]."""
        rows = np.arange(old, new)
        blocks = np.array(self.table, int)[rows // self.pool.block_size]
        return blocks * self.pool.block_size + rows % self.pool.block_size

    def blocks_for(self, old: int, new: int) -> int:
        """Blocks that must be free before rows old to new - 1 can be written: new ones, and a copy of a shared one."""
        return max(0, -(-new // self.pool.block_size) - len(self.table)) + self._writes_shared(old, new)

    def _writes_shared(self, old: int, new: int) -> bool:
        """Whether the first of the rows goes into a block that another table holds as well."""
        at = old // self.pool.block_size
        return new > old and at < len(self.table) and self.pool.ref_count[self.table[at]] > 1

    def check_room(self, n: int) -> None:
        """Raise UserError unless the pool has blocks for n more tokens."""
        self.pool.check_free(self.blocks_for(len(self), len(self) + n))

    def reserve(self, old: int, new: int) -> None:
        """Blocks of one's own for rows old to new - 1. The first layer that asks gets them for all layers."""
        self.pool.check_free(self.blocks_for(old, new))
        if self._writes_shared(old, new):
            at = old // self.pool.block_size
            self.table[at] = self.pool.copy(self.table[at], old % self.pool.block_size, at)
        elif old < new and old // self.pool.block_size < len(self.table):
            # after a crop: it holds something else from now on
            self.pool.forget(self.table[old // self.pool.block_size])
        while len(self.table) * self.pool.block_size < new:
            self.table.append(self.pool.take(len(self.table)))

    def fork(self) -> PagedCache:
        """A second cache with the same rows so far; no row is copied."""
        other = PagedCache(self.pool)
        other.table = list(self.table)
        other.layers = [PagedLayer(other, layer, len(rows)) for layer, rows in enumerate(self.layers)]
        self.pool.share(other.table)
        return other

    def crop(self, n: int) -> None:
        """Keep the first n tokens, and give back the blocks that hold none of them."""
        check_crop(len(self), n)
        keep = -(-n // self.pool.block_size)
        self.pool.give_back(self.table[keep:], keep)
        del self.table[keep:]
        for layer in self.layers:
            layer.set_length(n)

    def free(self) -> None:
        """The text has ended: give back all."""
        self.crop(0)
