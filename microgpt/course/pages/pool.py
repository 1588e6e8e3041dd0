"""The picture of a pool: rows in their order, block tables, the blocks, and who holds what in which step.

It is one drawing for all steps; each piece of it says in which of them it is there. Places are in lines from the top.
"""

from collections.abc import Sequence
from typing import NamedTuple

from microgpt.experiments.allocation import Step

TEXT_LETTERS = "AB"  # the texts
HALF_LINE = 10  # of the height of a line, in the units of the wires


class PoolRow(NamedTuple):
    """A row in its place: its token, its text, the steps in which it is there, the one that has written it."""

    token: str
    text: int
    cases: list[int]
    written: int


class Entry(NamedTuple):
    """An entry of a block table, and the rows that it stands for; None where the text ends before."""

    line: int
    block: int
    cases: list[int]
    taken: int  # the step in which it was made
    rows: list[PoolRow | None]

    @property
    def block_line(self) -> int:
        return self.block + 1

    @property
    def steps_in_use(self) -> list[int]:
        """The steps in which a row passes it."""
        return [row.written for row in self.rows if row]

    @property
    def wire(self) -> str:
        """From the entry to its block."""
        start, end = ((2 * line + 1) * HALF_LINE for line in (self.line, self.block_line))
        return f"M0 {start}C50 {start} 50 {end} 100 {end}"


class Block(NamedTuple):
    """A block of the pool: in which steps each of the texts holds it, and where it is in each."""

    number: int
    line: int
    held: list[list[int]]
    slots: list[tuple[int, list[PoolRow]]]  # number, and all rows that have lain there
    places: list[tuple[bool, int]]  # whether in the queue of the free ones, and its line there; else its own

    @property
    def cases(self) -> list[int]:
        """The steps in which a text holds it."""
        return [i for i, (queued, _) in enumerate(self.places) if not queued]


class Chip(NamedTuple):
    """A row on its way: from its text, along the line of its table's entry, to its slot; then to the queue, with the
    block that its text gives back."""

    row: PoolRow
    place: int  # in the block
    entry_line: int
    block_line: int
    stored: list[int]  # the steps from the one on that has written it
    gone: list[int]  # and from the one on in which its text ends
    queue_line: int  # of its block in that one


class Drawing(NamedTuple):
    texts: list[list[Entry]]
    blocks: list[Block]
    height: int
    chips: list[Chip]
    none_free: list[int]  # the steps in which the queue is empty


def drawing(steps: Sequence[Step], words: Sequence[Sequence[str]], size: int, n_blocks: int) -> Drawing:
    """All steps of two texts in a pool of `n_blocks` blocks of `size` rows."""
    texts, line = [], 1  # below the names of the columns
    for text, tokens in enumerate(words):
        texts.append(entries(steps, text, tokens, size, line + 1))
        line += 1 + len(texts[-1])
    placed = [
        (row, entry.block * size + place)
        for found in texts for entry in found for place, row in enumerate(entry.rows) if row
    ]  # fmt: skip
    blocks = []
    for number in range(n_blocks):
        held = [[i for i, step in enumerate(steps) if number in step.tables[text]] for text in range(len(words))]
        slots = [(at, [row for row, slot in placed if slot == at]) for at in range(number * size, (number + 1) * size)]
        blocks.append(Block(number, number + 1, held, slots, places_of(number, steps)))
    lines = max(line, n_blocks + 1)
    chips = [chip for text in texts for entry in text for chip in chips_of(entry, steps)]
    none_free = [i for i, step in enumerate(steps) if not step.free]
    return Drawing(texts, blocks, 2 * HALF_LINE * lines, chips, none_free)


def places_of(number: int, steps: Sequence[Step]) -> list[tuple[bool, int]]:
    """Of a block, in each step; the head of the queue is in the line of the first block."""
    return [(True, 1 + step.free.index(number)) if number in step.free else (False, 1 + number) for step in steps]


def chips_of(entry: Entry, steps: Sequence[Step]) -> list[Chip]:
    """The rows that an entry of a table stands for."""
    end = entry.cases[-1] + 1
    return [
        Chip(
            row, place, entry.line, entry.block_line,
            list(range(row.written, len(steps))), list(range(end, len(steps))), 1 + steps[end].free.index(entry.block),
        )
        for place, row in enumerate(entry.rows) if row
    ]  # fmt: skip


def entries(steps: Sequence[Step], text: int, tokens: Sequence[str], size: int, line: int) -> list[Entry]:
    mine = [i for i, step in enumerate(steps) if step.text == text]  # one a row, and the end
    end, found = mine[-1], []
    for index, first in enumerate(range(0, len(tokens), size)):
        rows: list[PoolRow | None] = [
            PoolRow(tokens[i], text, list(range(mine[i], end)), mine[i]) if i < len(tokens) else None
            for i in range(first, first + size)
        ]
        taken = mine[first]
        found.append(Entry(line + index, steps[taken].tables[text][index], list(range(taken, end)), taken, rows))
    return found
