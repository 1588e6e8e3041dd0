"""Where rows lie: two texts take turns in one pool of blocks, and what several ways to reserve memory waste.

A slot is the place of one row, in all layers. While a text is written, a slot that it keeps holds a row, waits for
a later one, or is never filled. Knows models and caches; knows no page.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from microgpt.cache import KVCache
from microgpt.caches.blocks import BlockPool
from microgpt.caches.paged import PagedCache
from microgpt.decode import decode_step, encode_prompt, generate
from microgpt.recipes import first_thousand
from microgpt.trace import Trace
from microgpt.weights import Model

N_NAMES = 20  # that microgpt writes after its training
TEMPERATURE = 0.5  # as it does

Reserve = Callable[[int, int], int]  # (rows that a text has now, rows that it will have) -> slots that are kept for it


class Step(NamedTuple):
    """One text runs one token, whose row goes to one slot; or, without a token, the text ends."""

    text: int
    token: int | None
    row: int
    slot: int
    taken: list[int]  # blocks
    freed: list[int]
    tables: list[list[int]]  # of all texts, after the step
    lengths: list[int]
    free: list[int]  # the queue
    difference: float  # of the logits from those of a cache in one piece


class Waste(NamedTuple):
    """Slots, added up over the steps of all texts."""

    rows: int
    reserved: int  # for rows that are still to come
    internal: int  # kept, and never filled

    @property
    def shares(self) -> list[float]:
        return [part / sum(self) for part in self]


def complete_text(model: Model, prompt: str) -> list[int]:
    """The prompt and what the likeliest tokens add, without the one that ends the text: one row each."""
    config, stop = model.config, model.tokenizer.start
    ids = encode_prompt(model.tokenizer, config, prompt)
    new = list(generate(model.params, config, ids, config.n_ctx - len(ids) + 1, stop=stop))
    return (ids + [token for token in new if token != stop])[: config.n_ctx]


def order_of(lengths: Sequence[int]) -> list[tuple[int, int]]:
    """(text, row) in turns, as long as a text has rows; row -1 says that it ends, in the turn after its last."""
    turns = range(max(lengths) + 1)
    return [(text, row if row < n else -1) for row in turns for text, n in enumerate(lengths) if row <= n]


def most_blocks(lengths: Sequence[int], block_size: int) -> int:
    """How many blocks the texts hold at once at most, when they take turns."""
    held, most = [0] * len(lengths), 0
    for text, row in order_of(lengths):
        held[text] = row // block_size + 1  # -1 // block_size + 1 is none
        most = max(most, sum(held))
    return most


def take_turns(model: Model, texts: Sequence[Sequence[int]], block_size: int, trace: Trace) -> list[Step]:
    """Run the texts token by token in turns, in a pool that is just large enough; each once more in one piece."""
    pool = BlockPool(model.config, most_blocks([len(ids) for ids in texts], block_size), block_size)
    paged = [PagedCache(pool) for _ in texts]
    plain = [KVCache(model.config) for _ in texts]
    steps = []
    for text, row in order_of([len(ids) for ids in texts]):
        cache, before, difference = paged[text], list(paged[text].table), 0.0
        pool.hook = trace.sequence(text)
        if row < 0:
            cache.free()
        else:
            token = texts[text][row]
            logits = decode_step(model.params, model.config, token, cache, trace.sequence(text))
            other = decode_step(model.params, model.config, token, plain[text])
            difference = float(np.abs(logits - other).max())
        steps.append(
            Step(
                text,
                None if row < 0 else texts[text][row],
                row,
                -1 if row < 0 else cache.table[row // block_size] * block_size + row % block_size,
                [block for block in cache.table if block not in before],
                [block for block in before if block not in cache.table],
                [list(one.table) for one in paged],
                [len(one) for one in paged],
                list(pool.free_queue),
                difference,
            )
        )
    return steps


def longest_text(n_ctx: int) -> Reserve:
    """Room for the longest text there may be."""
    return lambda now, end: n_ctx


def power_of_two(now: int, end: int) -> int:
    """Room for the next power of two, if the length of the text is known so far in advance."""
    return 1 << (end - 1).bit_length()


def blocks(size: int) -> Reserve:
    """As many blocks as the rows need that are there."""
    return lambda now, end: -(-now // size) * size


def waste(lengths: Sequence[int], reserve: Reserve) -> Waste:
    """Of texts that are written token by token, each in memory of its own."""
    rows = reserved = internal = 0
    for end in lengths:
        for now in range(1, end + 1):
            slots = reserve(now, end)
            rows, reserved = rows + now, reserved + min(slots, end) - now
            internal += max(0, slots - end)
    return Waste(rows, reserved, internal)


def at_end(lengths: Sequence[int], reserve: Reserve) -> tuple[int, int]:
    """(rows, slots that are kept for them) once all texts are written."""
    return sum(lengths), sum(reserve(end, end) for end in lengths)


def last_block(mean: int, size: int) -> float:
    """The share of slots that the last blocks leave empty, over texts of each length from half to 1.5 times `mean`."""
    lengths = range(mean // 2, mean + mean // 2 + 1)
    return 1 - sum(lengths) / sum(-(-n // size) * size for n in lengths)


def twenty(model: Model) -> list[int]:
    """How many rows each of microgpt's own samples needs, with the first token; drawn as it draws them."""
    config, start, rng = model.config, model.tokenizer.start, first_thousand().rng
    names = [
        list(generate(model.params, config, [start], config.n_ctx, TEMPERATURE, rng=rng, stop=start))
        for _ in range(N_NAMES)
    ]
    return [1 + sum(token != start for token in name) for name in names]


def owner_of_slots(sizes: Sequence[int], ended: Sequence[int], memory: int) -> list[int]:
    """Slot by slot the text that it is kept for, one text after the other, or -1 once that one has ended."""
    owners = [text for text, size in enumerate(sizes) for _ in range(size)]
    return [-1 if text in ended else text for text in owners] + [-1] * (memory - len(owners))


def holes(owners: Sequence[int]) -> list[int]:
    """How many free slots lie side by side, for each place where there are some."""
    found, run = [], 0
    for owner in [*owners, 0]:
        if owner >= 0 and run:
            found.append(run)
        run = run + 1 if owner < 0 else 0
    return found


def whole_blocks(owners: Sequence[int], size: int) -> int:
    """How many blocks of this size are free from end to end."""
    return sum(all(one < 0 for one in owners[at : at + size]) for at in range(0, len(owners), size))
