"""A pool of blocks: memory for K and V that is cut into equal pieces, so that many texts can share it.

A text that reserves n_ctx rows wastes what it does not fill, and what is free between such reservations may fit nobody.
Here every text takes a block when its last one is full, from anywhere. A block may be in several tables (texts that
begin alike), so the pool counts: `ref_count` is the number of tables that hold a block, and what nobody holds waits in
the free queue. PagedAttention (Kwon et al., SOSP 2023) has brought this to language models; the names are vLLM's.

What is free is not yet lost. A full block may have a key, which says what it holds (`microgpt.caches.prefix`); by this
key it can be found again until somebody takes the block for something else.

A pool does not know which row of which text lies where: that is a block table, `microgpt.caches.paged`. To a `hook` it
tells which block is taken, copied or free again; the position is that of the first row which the block has been for.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from microgpt.config import Array, Config, DType, Hook
from microgpt.errors import N_, UserError


class BlockPool:
    """`n_blocks` blocks of `block_size` rows, in every layer. One number names a block in all layers.

    >>> pool = BlockPool(Config(), n_blocks=4, block_size=2)
    >>> pool.take(), pool.take(), pool.n_free
    (0, 1, 2)
    """

    def __init__(self, config: Config, n_blocks: int, block_size: int = 16, dtype: DType = np.float64) -> None:
        if block_size < 1 or block_size & (block_size - 1):
            raise UserError(
                "A block of %(size)s rows: choose a power of two, such as 1, 2, 4, 8 or 16.", size=block_size
            )
        if n_blocks < 1:
            raise UserError("A pool of %(n)s blocks holds nothing; choose 1 or more.", n=n_blocks)
        shape = (config.n_layer, config.n_kv_head, n_blocks * block_size, config.head_dim)
        self.keys: Array = np.empty(shape, dtype)
        self.values: Array = np.empty(shape, dtype)
        self._gathered: Array = np.empty((2, config.n_kv_head, 0, 0), dtype)
        self.block_size = block_size
        self.ref_count = [0] * n_blocks
        # in order: taken from the head, given back to the tail
        self.free_queue: dict[int, None] = dict.fromkeys(range(n_blocks))
        self.key_of: dict[int, bytes] = {}  # of full blocks whose rows can be found again
        self.block_of: dict[bytes, int] = {}
        self.hook: Hook | None = None  # of the text whose turn it is

    @property
    def n_free(self) -> int:
        return len(self.free_queue)

    @property
    def nbytes_reserved(self) -> int:
        return self.keys.nbytes + self.values.nbytes

    def rows(self, layer: int, table: list[int]) -> tuple[Array, Array]:
        """The keys and values of these blocks in their order, two of [n_kv_head, len(table) * block_size, head_dim].

        A view where each block follows the one before. Else a copy, into memory that the next copy will use again: to
        ask for new memory every time would take longer than the copy itself.
        """
        first = table[0] if table else 0
        if table == list(range(first, first + len(table))):
            run = slice(first * self.block_size, (first + len(table)) * self.block_size)
            return self.keys[layer][:, run], self.values[layer][:, run]
        return self._gather(0, self.keys[layer], table), self._gather(1, self.values[layer], table)

    def _gather(self, which: int, rows: Array, table: list[int]) -> Array:
        n_kv_head, _, head_dim = rows.shape
        blocks = rows.reshape(n_kv_head, -1, self.block_size * head_dim)  # a block of a head is one piece of memory
        if self._gathered.shape[2] < len(table):
            self._gathered = np.empty((2, n_kv_head, 2 * len(table), blocks.shape[2]), rows.dtype)
        copy, order = self._gathered[which, :, : len(table)], np.array(table)
        for head in range(n_kv_head):
            blocks[head].take(order, axis=0, out=copy[head], mode="clip")  # "raise" would copy once more
        return copy.reshape(n_kv_head, -1, head_dim)

    def check_free(self, n: int) -> None:
        """Raise UserError unless n blocks are free."""
        if n > self.n_free:
            sentence = N_(
                "%(n)s more blocks are needed and %(free)s of %(all)s are free. "
                "End another text, or make the pool larger."
            )
            raise UserError(sentence, n=n, free=self.n_free, all=len(self.ref_count))

    def take(self, index: int = 0) -> int:
        """A free block; the caller's table is the first to hold it, at this index."""
        self.check_free(1)
        block = next(iter(self.free_queue))
        del self.free_queue[block]
        self.forget(block)
        self.ref_count[block] = 1
        self.tell("block_alloc", block, index)
        return block

    def share(self, blocks: Iterable[int]) -> None:
        """One table more holds these. What was free is free no longer."""
        for block in blocks:
            self.free_queue.pop(block, None)
            self.ref_count[block] += 1

    def give_back(self, blocks: list[int], first: int = 0) -> None:
        """One table less holds these, its end from index `first` on. The newest comes first into the queue."""
        for index, block in reversed([*enumerate(blocks, first)]):
            self.ref_count[block] -= 1
            if not self.ref_count[block]:
                self.free_queue[block] = None
                self.tell("block_free", block, index)

    def copy(self, block: int, n: int, index: int = 0) -> int:
        """Copy on write: a block of one's own with the first n rows of a shared one, which one table less holds."""
        own = self.take(index)
        old, new = block * self.block_size, own * self.block_size
        for rows in (self.keys, self.values):
            rows[:, :, new : new + n] = rows[:, :, old : old + n]
        self.tell("block_copy", own, index)
        self.give_back([block], index)
        return own

    def keep(self, block: int, key: bytes) -> None:
        """A full block can be found by its key from now on. If another has this key already, that one stays found."""
        if key not in self.block_of and block not in self.key_of:
            self.key_of[block], self.block_of[key] = key, block

    def forget(self, block: int) -> None:
        """Its rows are about to be written over."""
        if (key := self.key_of.pop(block, None)) is not None:
            del self.block_of[key]

    def tell(self, name: str, block: int, index: int) -> None:
        if self.hook:
            self.hook((name, block, index * self.block_size, -1))
