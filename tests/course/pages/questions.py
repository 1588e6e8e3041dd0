"""Pages: its questions, answered slot by slot, and by a pool of blocks."""

import math

import numpy as np

from microgpt.caches.blocks import BlockPool
from microgpt.caches.paged import PagedCache
from microgpt.config import Config
from tests.support.questions import Facts, Numbers, View, run

MEASURED = ("10 rows would be written to 6 slots",)


def ask_bug(view: View) -> str:
    """At the fullest moment, with the tables that the picture has there: each row by the wrong address."""
    moment = view.moments[view.end - 1]
    slots = [table[i // 2] + i % 2 for _, table, rows, _ in moment.tables for i in range(rows)]
    assert (len(slots), len({*slots})) == (view.asks.bug_rows, view.asks.bug_slots) and len({*slots}) < len(slots)
    return "different rows are written to the same slot"


def ask_slot(view: View) -> str:
    return f"{[4 * block + i for block in (7, 1, 3) for i in range(4)][8]}"


def ask_empty(view: View) -> str:
    return f"{16 * math.ceil(37 / 16) - 37}"


def task_tables(facts: Facts) -> Numbers:
    """In a pool."""
    pool = BlockPool(Config(), facts.n_blocks, facts.size)
    caches, row = [PagedCache(pool) for _ in facts.lengths], np.zeros((1, 4, 4))
    for i in range(max(facts.lengths)):
        for paged, n in zip(caches, facts.lengths, strict=True):
            if i < n:
                paged[0].append(row, row)
    first, second = (paged.table for paged in caches)
    slots = [block * facts.size + place for block in first for place in range(facts.size)]
    return {
        "first": first,
        "second": second,
        "empty": [len(paged.table) * paged.pool.block_size - len(paged) for paged in caches],
        "slot": slots[facts.row],
    }


def task_cropped(facts: Facts) -> Numbers:
    """The listing as it stands and mended; and blocks that hold no row that the next token reads."""
    mended, lost = ("n // B", "-(-n // B)"), 0
    for n in range(1, 12):
        wrong, right = [0, 1, 2], [0, 1, 2]
        run(facts.listing, B=facts.size)["crop"](wrong, [], n)
        run(facts.listing, mended, B=facts.size)["crop"](right, [], n)
        assert right == [block for block in range(3) if block * facts.size < n]
        assert (wrong == right) == (n % facts.size == 0)
        lost = n - len(wrong) * facts.size if n == facts.n else lost
    assert "keep = -(-n // B)" in facts.solved
    sees = range(facts.n + 1 - facts.window, facts.n + 1)
    blocks = [range(at, at + facts.size) for at in range(0, facts.n, facts.size)]
    assert int(facts.free) == sum(not {*block} & {*sees} and block[-1] < sees[0] for block in blocks)
    return {"lost": lost, "first": sees[0]}


LEARNED = r"""
Why do engines not simply keep room for the longest text? only 21\.8 % of the room for the longest text holds rows
What is lost by reserving? 15\.6 % waits for rows that will come
What is internal waste? 62\.6 % is kept and never filled
What is external waste? 5 \+ 5 \+ 4 = 14 slots are free, and a text of 8 fits nowhere
Why do blocks help against it? 6 blocks are free from end to end\. A text of 8 needs 4 of them
What is a block table? one block number for every 2 rows
Where does row i lie? table\[i // B\] \* B \+ i % B
Has each layer a table of its own? One table serves all layers
Does paging change the answer? Only addresses change\. Attention gets the same rows in the same order
Is attention quicker with pages? was 20 to 26 % slower than one without blocks .* So pages do not make attention quicker
Then where does the speed come from? They make room for more texts at once
Do pages go to disk? no page goes to disk by itself
Is nothing wasted any more? up to B − 1 of its slots stay empty, on average \(B − 1\) ÷ 2
"""
