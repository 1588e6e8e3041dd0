"""Questions about pages: where a row lies, what stays empty, two texts in one pool, and a crop that takes too much."""

from types import SimpleNamespace as Numbers

from microgpt.errors import N_
from microgpt.experiments import allocation
from microgpt.experiments.allocation import Step
from microgpt.viz.text.answers import answers
from microgpt.viz.text.tasks import Task, calc, ratio, unlike

FIGURE_6 = ((7, 1, 3), 4, 8)  # a block table, rows of a block, a row: figure 6 of the paper on PagedAttention
ASKED_ROWS = (37, 16)  # rows, rows of a block
BLOCK_ROWS, LENGTHS, BLOCKS = 4, (9, 6), 6  # rows of a block, of the two texts, blocks of the pool
ROW = 6  # of the first text
CROPPED, SEEN = 6, 2  # rows that are to stay, and rows that a token sees


def asks(step: Step, size: int) -> Numbers:
    """`step` is the fullest moment: there the wrong address of the bug is tried, with blocks of `size` rows."""
    table, per_block, row = FIGURE_6
    index, place = divmod(row, per_block)
    rows, block = ASKED_ROWS
    tried = [t[i // size] + i % size for t, n in zip(step.tables, step.lengths, strict=True) for i in range(n)]
    slot = table[index] * per_block + place
    return Numbers(
        table=table,
        size=per_block,
        row=row,
        block_number=table[index],
        place=place,
        slot=answers(slot, row=row, block=table[index], first=table[0] * per_block + row),
        rows=rows,
        block=block,
        empty=answers(-rows % block, over=rows % block, power=allocation.power_of_two(rows, rows) - rows),
        bug_rows=len(tried),
        bug_slots=len({*tried}),  # that these rows are written to
    )


def tables() -> Numbers:
    """Two texts that take turns; the tables once all rows are there."""
    free, made = iter(range(BLOCKS)), [list[int]() for _ in LENGTHS]
    for row in range(0, max(LENGTHS), BLOCK_ROWS):
        for table, n in zip(made, LENGTHS, strict=True):
            if row < n:
                table.append(next(free))
    block, place = made[0][ROW // BLOCK_ROWS], ROW % BLOCK_ROWS
    return Numbers(
        size=BLOCK_ROWS,
        lengths=LENGTHS,
        n_blocks=BLOCKS,
        first=made[0],
        second=made[1],
        row=ROW,
        slot=calc("{} × {} + {} = {}", block, BLOCK_ROWS, place, block * BLOCK_ROWS + place),
        empty=[
            calc("{} × {} − {} = {}", len(table), BLOCK_ROWS, n, len(table) * BLOCK_ROWS - n)
            for table, n in zip(made, LENGTHS, strict=True)
        ],
    )


def crop() -> Numbers:
    """A crop that gives back a block too many; and blocks that a window no longer reaches."""
    kept, first = CROPPED // BLOCK_ROWS, CROPPED + 1 - SEEN
    unlike(kept * BLOCK_ROWS, CROPPED)
    return Numbers(
        size=BLOCK_ROWS,
        n=CROPPED,
        kept=ratio(CROPPED, BLOCK_ROWS),
        lost=calc("{} − {} × {} = {}", CROPPED, kept, BLOCK_ROWS, CROPPED - kept * BLOCK_ROWS),
        window=SEEN,
        first=calc("{} + 1 − {} = {}", CROPPED, SEEN, first),  # row that the next token reads
        free=ratio(first, BLOCK_ROWS),  # blocks
    )


TASKS = (
    Task("tables", N_("Two texts in one pool"), 1, "compute", 10, 8, tables),
    Task("cropped", N_("Find the bug: a block too many"), 3, "bug", 15, 9, crop, also=("full-cache",)),
)
