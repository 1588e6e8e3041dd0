"""One layer's attention over several processors: each has some of the heads, or some of the rows.

Tensor parallel: a rank computes its heads and multiplies them by its columns of wo; the sum over ranks is what one
processor would have got. A key and value head that several ranks need is kept by each of them: with fewer of those than
ranks, the cache of a rank does not become smaller any more.

Context parallel: a rank keeps some rows of all heads and attends to them alone. It sends d + 1 numbers a head, its
answer and its log-sum-exp, and they are joined.

One token. Weights, keys and values are those of the whole layer; what a rank may see is cut out of them.
"""

from __future__ import annotations

import numpy as np

from microgpt.attention.tiles import Part, attend, join
from microgpt.config import Array
from microgpt.errors import UserError
from microgpt.model import attn_scores, mix, softmax


def kv_heads_of(rank: int, ranks: int, n_head: int, n_kv_head: int) -> range:
    """The key and value heads that a rank must keep. Raises UserError where the query heads cannot be dealt evenly."""
    if ranks < 1 or n_head % ranks:
        raise UserError(
            "%(n_head)s heads cannot be dealt to %(ranks)s ranks; choose a divisor.", n_head=n_head, ranks=ranks
        )
    mine, group = n_head // ranks, n_head // n_kv_head
    return range(rank * mine // group, ((rank + 1) * mine - 1) // group + 1)


def tensor_parallel(q: Array, keys: Array, values: Array, wo: Array, ranks: int) -> list[Array]:
    """What each rank adds to attn_out, [d] each: q [n_head, head_dim], keys and values [n_kv_head, t, head_dim]."""
    n_head, head_dim = q.shape
    parts, mine, group = list[Array](), n_head // ranks, n_head // len(keys)
    for rank in range(ranks):
        kept = kv_heads_of(rank, ranks, n_head, len(keys))
        mixed = list[Array]()
        for head in range(rank * mine, (rank + 1) * mine):
            at = slice(head // group - kept.start, head // group - kept.start + 1)
            k, v = keys[kept.start : kept.stop][at], values[kept.start : kept.stop][at]
            mixed.append(mix(softmax(attn_scores(q[head][None, None], k)), v)[0])
        columns = slice(rank * mine * head_dim, (rank + 1) * mine * head_dim)
        parts.append(wo[:, columns] @ np.concatenate(mixed))
    return parts


def rows_held(ranks: int, n_head: int, n_kv_head: int) -> float:
    """Rows of all ranks together, as a multiple of those of one processor."""
    return sum(len(kv_heads_of(rank, ranks, n_head, n_kv_head)) for rank in range(ranks)) / n_kv_head


def context_parallel(q: Array, keys: Array, values: Array, ranks: int) -> Array:
    """head_out [n_head * head_dim] of rows that are dealt in turns: row i lies with rank i mod `ranks`."""
    n_head, head_dim = q.shape
    group, out = n_head // len(keys), np.empty_like(q)
    for head in range(n_head):
        k, v = keys[head // group], values[head // group]
        sent = list[Part]()
        for rank in range(min(ranks, len(k))):
            scores = k[rank::ranks] @ q[head] * head_dim**-0.5
            sent.append(attend(scores, v[rank::ranks], len(scores)))
        out[head] = join(sent).out
    return out.reshape(-1)
