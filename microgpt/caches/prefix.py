"""Prefix caching: a text that begins like an earlier one takes over its rows.

A row depends on its own token and on those before it (and on the weights), so two texts that begin alike have the
same rows there, and need them once. Only full blocks are shared. The key of a block is a hash of its tokens *and of
the key of the block before*, so that it stands for the whole beginning of the text: the same sentence further on has
another key, since its rows are other rows. A salt joins the first key where texts must not meet, such as those of two
users, who could tell by the time of an answer what the other has sent.

At least one token is always run: somebody asks for logits, and rows give none.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from microgpt.caches.blocks import BlockPool
from microgpt.caches.paged import PagedCache


def block_keys(token_ids: Sequence[int], block_size: int, salt: str = "") -> list[bytes]:
    """The keys of the full blocks of a text, each made from the one before."""
    keys, before = list[bytes](), hashlib.sha256(salt.encode()).digest()
    for at in range(0, len(token_ids) - block_size + 1, block_size):
        tokens = ",".join(map(str, token_ids[at : at + block_size]))
        before = hashlib.sha256(before + tokens.encode()).digest()
        keys.append(before)
    return keys


def begin(pool: BlockPool, token_ids: Sequence[int], salt: str = "") -> PagedCache:
    """A cache for this text with all rows that the pool can find. The tokens from its length on are still to be run."""
    cache = PagedCache(pool)
    for key in block_keys(token_ids[:-1], pool.block_size, salt):  # the last token is run in any case
        if key not in pool.block_of:
            break
        cache.table.append(pool.block_of[key])
    pool.share(cache.table)
    for layer in cache.layers:
        layer.set_length(len(cache.table) * pool.block_size)
    return cache


def publish(cache: PagedCache, token_ids: Sequence[int], salt: str = "") -> None:
    """The full blocks of a text that has been run can be found by others from now on."""
    keys = block_keys(token_ids[: len(cache)], cache.pool.block_size, salt)
    for block, key in zip(cache.table, keys, strict=False):  # the last block may not be full
        cache.pool.keep(block, key)
