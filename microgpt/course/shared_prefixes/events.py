"""Texts that begin alike, in one pool of blocks: who finds whose rows, who copies, and what a changed token costs.

A model goes on from one beginning in two ways. The first text is run; the second finds the full blocks that both begin
with; a third is a fork of the second, and both write; the first ends, comes again, and comes once more with an early
token changed. Each text is also run by itself, so that the logits can be compared. Knows no page.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from microgpt.cache import KVCache
from microgpt.caches.blocks import BlockPool
from microgpt.caches.paged import PagedCache
from microgpt.caches.prefix import begin, publish
from microgpt.config import Array
from microgpt.decode import check_length, decode_step, prefill
from microgpt.errors import UserError
from microgpt.trace import Trace
from microgpt.weights import Model

SIZE = 2  # rows of a block
MOST_NEW = 4  # tokens that are written after the beginning
CHANGED = 2  # the position of the token that is changed: the first of the second block
FIRST, SECOND, FORK, AGAIN, OTHER = range(5)  # the texts


class Event(NamedTuple):
    """What happens to one text, and what the pool holds after it."""

    kind: str  # run, fork, copy, write, end, again, changed
    text: int
    ids: list[int]  # of this text, up to now
    found: int  # rows of others that it takes over
    run: int  # tokens whose rows were computed
    copied: tuple[int, int] | None  # a block, and its copy
    tables: list[list[int]]  # of all texts
    refs: list[int]  # of all blocks
    keys: dict[int, bytes]  # of the blocks that can be found
    difference: float  # of the logits, from those of a run of its own


def likeliest(model: Model, logits: Array, rank: int = 0, but: int = -1) -> int:
    """The token of that rank, among those that do not end the text and are not `but`."""
    tokens = [int(i) for i in np.argsort(-logits, kind="stable") if i not in model.tokenizer.stops and i != but]
    return tokens[rank]


def alone(model: Model, ids: Sequence[int]) -> tuple[Array, KVCache]:
    """The last logits of a text that shares nothing, and its cache."""
    cache = KVCache(model.config)
    return prefill(model.params, model.config, ids, cache), cache


def compose_text(model: Model, ids: Sequence[int], rank: int) -> list[int]:
    """The beginning, the token of this rank after it, and what the model goes on with.

    Its last block is left with a free place: if the model ends the text before, one token more is written.
    """
    text = list(ids)
    logits, cache = alone(model, text)
    for n in range(MOST_NEW + 1):
        stops = int(logits.argmax()) in model.tokenizer.stops
        if n and (stops or n >= MOST_NEW or len(text) + SIZE >= model.config.n_ctx) and len(text) % SIZE:
            break
        text.append(likeliest(model, logits, 0 if n else rank))
        logits = decode_step(model.params, model.config, text[-1], cache)
    return text


def beginning(model: Model, prompt: str) -> list[int]:
    """The tokens of a prompt, as many as leave room for two ends."""
    if not model.tokenizer.split(prompt):
        raise UserError("The prompt is empty; give at least one token.")
    ids = model.tokenizer.encode(prompt)
    check_length(model.config, len(ids))
    return ids[: model.config.n_ctx - SIZE]


class Texts:
    """The texts, their caches in one pool, and what has happened so far."""

    def __init__(self, model: Model, ids: Sequence[int], trace: Trace) -> None:
        self.model, self.trace = model, trace
        first, second = (compose_text(model, ids, rank) for rank in (0, 1))
        other = list(first)
        before = alone(model, first[:CHANGED])[0]
        other[CHANGED] = likeliest(model, before, but=first[CHANGED])
        self.ids = [first, second, [], list(first), other]
        self.pool = BlockPool(model.config, sum(len(one) // SIZE + 2 for one in self.ids), SIZE)
        self.caches = [PagedCache(self.pool) for _ in self.ids]
        self.there = [list[int]() for _ in self.ids]  # tokens that have rows

    def events(self) -> Iterator[Event]:
        """All that happens, in its order."""
        yield self.arrives(FIRST, "run")
        yield self.arrives(SECOND, "run")
        yield self.forks()
        last = alone(self.model, self.ids[SECOND])[0]
        yield self.writes(FORK, likeliest(self.model, last, 1), "copy")
        yield self.writes(SECOND, likeliest(self.model, last, 0), "write")
        self.caches[FIRST].free()
        yield self.event("end", FIRST, 0, 0)
        yield self.arrives(AGAIN, "again")
        yield self.arrives(OTHER, "changed")

    def arrives(self, text: int, kind: str) -> Event:
        ids = self.ids[text]
        self.pool.hook = hook = self.trace.sequence(text)
        cache = self.caches[text] = begin(self.pool, ids)
        found = len(cache)
        logits = prefill(self.model.params, self.model.config, ids[found:], cache, hook)
        self.there[text] = list(ids)
        publish(cache, ids)
        return self.event(kind, text, found, len(ids) - found, logits)

    def forks(self) -> Event:
        self.caches[FORK] = self.caches[SECOND].fork()
        self.there[FORK] = list(self.ids[SECOND])
        return self.event("fork", FORK, len(self.there[FORK]), 0)

    def writes(self, text: int, token: int, kind: str) -> Event:
        self.pool.hook = hook = self.trace.sequence(text)
        cache, last = self.caches[text], self.caches[text].table[-1]
        logits = decode_step(self.model.params, self.model.config, token, cache, hook)
        self.there[text].append(token)
        publish(cache, self.there[text])
        copied = (last, cache.table[-1]) if cache.table[-1] != last else None
        return self.event(kind, text, 0, 1, logits, copied)

    def event(
        self,
        kind: str,
        text: int,
        found: int,
        run: int,
        logits: Array | None = None,
        copied: tuple[int, int] | None = None,
    ) -> Event:
        ids = list(self.there[text])
        difference = 0.0 if logits is None else float(np.abs(logits - alone(self.model, ids)[0]).max())
        tables = [list(cache.table) for cache in self.caches]
        return Event(
            kind, text, ids, found, run, copied, tables, list(self.pool.ref_count), dict(self.pool.key_of), difference
        )


def row_distances(model: Model, ids: Sequence[int], other: Sequence[int], at: int) -> list[float]:
    """How far the rows after position `at` of two texts are apart, at most, layer by layer."""
    one, two = (
        [np.stack([layer.keys, layer.values])[:, :, at + 1 :] for layer in alone(model, text)[1].layers]
        for text in (ids, other)
    )
    return [float(np.abs(a - b).max()) for a, b in zip(one, two, strict=True)]


def misplacement_error(model: Model, ids: Sequence[int], order: Sequence[int]) -> float:
    """How far the last logits are off if the blocks of a text are found by their own tokens alone.

    `ids` has been run. The text that comes has the same blocks in this `order`, and takes over all of them; only its
    last token is run.
    """
    pool = BlockPool(model.config, 2 * len(ids), SIZE)
    cache = PagedCache(pool)
    prefill(model.params, model.config, ids, cache)
    full = [list(ids[SIZE * block : SIZE * block + SIZE]) for block in order]
    other = [token for block in full for token in block] + [ids[-1]]
    wrong = PagedCache(pool)
    wrong.table = [cache.table[block] for block in order]
    pool.share(wrong.table)
    for layer in wrong.layers:
        layer.set_length(SIZE * len(order))
    logits = decode_step(model.params, model.config, other[-1], wrong)
    return float(np.abs(logits - alone(model, other)[0]).max())
