"""A table of blocks

Texts share one memory of blocks, `pool`, [n_blocks, size, d]. Each text has a table: the numbers of its blocks,
in order. The row of position p lies in the block at place p // size of the table; its place there is the
remainder.

Write `put`, which writes the row of the next position of a text. It takes a block from the list `free`, by
`free.pop()`, only when the row needs one. Write `read`, which returns the rows of the positions 0 to n − 1, [n,
d].
"""

import numpy as np

HINT = "Only a position without a remainder needs a new block. Of the last block, read what is filled."


def put(pool, table, free, position, row):
    """Write the row of that position, in a block of the table."""
    ### BEGIN SOLUTION
    size = pool.shape[1]
    if position % size == 0:
        table.append(free.pop())
    pool[table[position // size], position % size] = row
    ### END SOLUTION


def read(pool, table, n):
    """The rows of the positions 0 to n - 1, [n, d]."""
    ### BEGIN SOLUTION
    return pool[table].reshape(-1, pool.shape[-1])[:n]
    ### END SOLUTION


# ---- the tests ------------------------------------------------------------------------------------


def row(text, position):
    return np.array([text, position, position / 10])


def texts(lengths, size=4):
    """A pool with texts that were written in turn, their tables, and the blocks that are free."""
    pool, tables, free = np.zeros((6, size, 3)), [[] for _ in lengths], [1, 4, 0, 5, 2, 3]
    for position in range(max(lengths)):
        for text, length in enumerate(lengths):
            if position < length:
                put(pool, tables[text], free, position, row(text + 1, position))
    return pool, tables, free


def test_no_block_too_many():
    """A text takes a block when it needs one, and not before."""
    for n in (1, 4, 5, 9):
        tables = texts([n])[1]
        held, wanted = len(tables[0]), (n + 3) // 4
        assert held == wanted, f"A text of {n} rows in blocks of 4 holds {held} blocks; it needs {wanted}."


def test_blocks_come_from_the_list():
    """A block that a text holds is free no longer."""
    _, tables, free = texts([5, 3])
    both = sorted(set(tables[0] + tables[1]) & set(free))
    assert not both, f"The blocks {both} are held by a text and are in the list of free ones."


def test_n_rows_are_read():
    """As many rows are read as there are."""
    pool, tables, _ = texts([6])
    found = len(read(pool, tables[0], 6))
    assert found == 6, f"The text has 6 rows in 2 blocks of 4, and {found} are read."


def test_rows_of_its_own():
    """No text reads or writes the rows of another."""
    pool, tables, _ = texts([6, 5])
    for text, n in enumerate((6, 5)):
        others = int((read(pool, tables[text], n)[:, 0] != text + 1).sum())
        assert others == 0, f"Of {n} rows that text {text} reads, {others} are not its own."


def test_rows_in_order():
    """Rows come in the order of their positions."""
    pool, tables, _ = texts([10])
    found = read(pool, tables[0], 10)[:, 1].astype(int).tolist()
    assert found == list(range(10)), f"The rows are read in the order {found}."
