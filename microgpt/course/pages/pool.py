"""The picture of a pool: rows in their order, block tables, the blocks, and who holds what in which step.

It is one drawing for all steps; each piece of it says in which of them it is there. Places are in lines from the top.
"""

from __future__ import annotations

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

    text: int
    number: int
    line: int
    block: int
    cases: list[int]
    taken: int  # the step in which it was made
    rows: list[PoolRow | None]


class Slot(NamedTuple):
    """A place in the pool, and all rows that have lain there."""

    number: int
    place: int  # in its block
    rows: list[PoolRow]


class Block(NamedTuple):
    """A block of the pool: in which steps each of the texts holds it, or nobody."""

    number: int
    line: int
    held: list[list[int]]
    free: list[int]
    slots: list[Slot]


class Wire(NamedTuple):
    """From an entry to its block: heights at both ends, the steps in which it is there, and is used."""

    text: int
    start: int
    end: int
    cases: list[int]
    used: list[int]

    @property
    def path(self) -> str:
        return f"M0 {self.start}C50 {self.start} 50 {self.end} 100 {self.end}"


class Drawing(NamedTuple):
    texts: list[list[Entry]]
    blocks: list[Block]
    wires: list[Wire]
    height: int


def drawing(steps: Sequence[Step], words: Sequence[Sequence[str]], size: int, n_blocks: int) -> Drawing:
    """All steps of two texts in a pool of `n_blocks` blocks of `size` rows."""
    texts, line = [], 1  # below the names of the columns
    for text, tokens in enumerate(words):
        texts.append(entries(steps, text, tokens, size, line + 1))
        line += 1 + len(texts[-1])
    placed = [(row, slot) for found in texts for entry in found for row, slot in slots_of(entry, size)]
    blocks = []
    for number in range(n_blocks):
        held = [[i for i, step in enumerate(steps) if number in step.tables[text]] for text in range(len(words))]
        slots = [
            Slot(at, at % size, [row for row, slot in placed if slot == at])
            for at in range(number * size, (number + 1) * size)
        ]
        free = [i for i, step in enumerate(steps) if number in step.free]
        blocks.append(Block(number, number + 1, held, free, slots))
    return Drawing(texts, blocks, wires(texts), 2 * HALF_LINE * max(line, n_blocks + 1))


def entries(steps: Sequence[Step], text: int, tokens: Sequence[str], size: int, line: int) -> list[Entry]:
    mine = [i for i, step in enumerate(steps) if step.text == text]  # one a row, and the end
    end, found = mine[-1], []
    for index, first in enumerate(range(0, len(tokens), size)):
        rows: list[PoolRow | None] = [
            PoolRow(tokens[i], text, list(range(mine[i], end)), mine[i]) if i < len(tokens) else None
            for i in range(first, first + size)
        ]
        taken = mine[first]
        found.append(
            Entry(text, index, line + index, steps[taken].tables[text][index], list(range(taken, end)), taken, rows)
        )
    return found


def slots_of(entry: Entry, size: int) -> list[tuple[PoolRow, int]]:
    return [(row, entry.block * size + place) for place, row in enumerate(entry.rows) if row]


def wires(texts: Sequence[Sequence[Entry]]) -> list[Wire]:
    return [
        Wire(
            text,
            (2 * entry.line + 1) * HALF_LINE,
            (2 * entry.block + 3) * HALF_LINE,
            entry.cases,
            [row.written for row in entry.rows if row],
        )
        for text, found in enumerate(texts)
        for entry in found
    ]
