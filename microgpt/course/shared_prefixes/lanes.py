"""The picture of texts that begin alike: their blocks, and a line a text through those that it holds.

It is one drawing for all events; each piece of it says in which of them it is there. A block has the same index in
every text that holds it, so an index is a column. A lane has the blocks that a text does not share with those above.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

from microgpt.course.shared_prefixes.events import AGAIN, FIRST, FORK, OTHER, SECOND, SIZE, Event

TEXT_NAMES = {FIRST: "A", SECOND: "B", FORK: "C", AGAIN: "A", OTHER: "D"}
LANES = {FIRST: 0, AGAIN: 0, SECOND: 1, FORK: 2, OTHER: 3}
LINE_KINDS = {
    FIRST: 0,
    AGAIN: 0,
    SECOND: 1,
    FORK: 2,
    OTHER: 3,
}  # of a line, which is the same for one text and its copy
COMES = ("run", "again", "changed")  # events in which a text is looked up, and run from where it is not found
KEY_DIGITS = 4  # hexadecimal digits that are shown of a key
COLUMN_WIDTH, TALL = 100, 100  # a column and a lane, in the units of the lines
EDGE, TOP, APART = 8, 68, 6  # from a column to its block; from a lane to its first line; from line to line


class BlockRow(NamedTuple):
    """A row in a block: its token, the events in which it is there, the one that has put it there, and how."""

    token: str
    cases: list[int]
    written: int
    copied: bool


class Block(NamedTuple):
    """A block of the pool, and in which events how many tables hold it."""

    number: int
    column: int
    lane: int
    cases: list[int]
    rows: list[BlockRow | None]
    key: str
    keyed: list[int]
    refs: list[tuple[int, list[int]]]
    found: list[tuple[int, int]]  # (kind of the text, event): found by its key
    missed: list[int]  # a text comes that has another block here
    holders: list[str]  # the texts that hold it, after each event

    @property
    def cases_of_sharing(self) -> list[int]:
        return [case for n, cases in self.refs if n > 1 for case in cases]

    @property
    def free(self) -> list[int]:
        return [case for n, cases in self.refs if n == 0 for case in cases]


class LaneLine(NamedTuple):
    """A text's way through its blocks, as long as its table stays the same; it ends in this column and lane."""

    kind: int
    letter: str
    path: str
    column: int
    lane: int
    cases: list[int]


class TokenCell(NamedTuple):
    """A token of the text that an event is about: found, again (run, though as in A), run, before or gone."""

    token: str
    state: str
    changed: bool


class Strip(NamedTuple):
    """The text that an event is about, block by block."""

    case: int
    kind: int
    letter: str
    name: str
    found: int
    run: int
    blocks: list[list[TokenCell]]


class Drawing(NamedTuple):
    columns: int
    lanes: int
    width: int
    height: int
    blocks: list[Block]
    lines: list[LaneLine]
    strips: list[Strip]


def drawing(events: Sequence[Event], words: Sequence[str]) -> Drawing:
    """All events, with the tokens as `words` writes them."""
    columns = max(len(table) for event in events for table in event.tables)
    lanes = max(LANES.values()) + 1
    places = places_of(events)
    blocks = [block(number, *place, events, words) for number, place in sorted(places.items())]
    lines = [line for text in TEXT_NAMES for line in lines_of(events, text, places)]
    strips = [strip(i, events, words) for i in range(len(events))]
    return Drawing(columns, lanes, COLUMN_WIDTH * columns, TALL * lanes, blocks, lines, strips)


def places_of(events: Sequence[Event]) -> dict[int, tuple[int, int]]:
    """Block -> its column and lane: those of the text that was the first to hold it."""
    places: dict[int, tuple[int, int]] = {}
    for event in events:
        for text, table in enumerate(event.tables):
            for column, number in enumerate(table):
                places.setdefault(number, (column, LANES[text]))
    return places


def block(number: int, column: int, lane: int, events: Sequence[Event], words: Sequence[str]) -> Block:
    cases = [i for i, event in enumerate(events) if event.refs[number] or number in event.keys]
    keyed = [i for i in cases if number in events[i].keys]
    counted = sorted((events[i].refs[number], i) for i in cases)
    refs = [(n, [i for _, i in found]) for n, found in groupby(counted, lambda pair: pair[0])]
    found, missed = [], []
    for i, event in enumerate(events):
        if i in cases and event.kind in COMES and i > cases[0]:
            if number in event.tables[event.text]:
                found.append((LINE_KINDS[event.text], i))
            elif lane == LANES[FIRST] and number in event.keys:
                missed.append(i)
    key = events[keyed[0]].keys[number].hex()[:KEY_DIGITS] if keyed else ""
    holders = [" ".join(TEXT_NAMES[t] for t, table in enumerate(one.tables) if number in table) for one in events]
    rows = [row(number, column * SIZE + at, cases, events, words) for at in range(SIZE)]
    return Block(number, column, lane, cases, rows, key, keyed, refs, found, missed, holders)


def row(number: int, at: int, cases: list[int], events: Sequence[Event], words: Sequence[str]) -> BlockRow | None:
    """What lies in this block for position `at`, from the first event on that has put a token there."""
    for i, event in enumerate(events):
        if number in event.tables[event.text] and at < len(event.ids):
            copied = event.copied is not None and number == event.copied[1] and at < len(event.ids) - 1
            return BlockRow(words[event.ids[at]], [case for case in cases if case >= i], i, copied)
    return None


def lines_of(events: Sequence[Event], text: int, places: dict[int, tuple[int, int]]) -> list[LaneLine]:
    found = []
    numbered = [(event.tables[text], i) for i, event in enumerate(events)]
    for table, runs in groupby(numbered, lambda pair: pair[0]):
        if table:
            column, lane = places[table[-1]]
            path = path_of([places[number][1] for number in table], LINE_KINDS[text])
            found.append(LaneLine(LINE_KINDS[text], TEXT_NAMES[text], path, column, lane, [i for _, i in runs]))
    return found


def path_of(lanes: Sequence[int], kind: int) -> str:
    """Straight through each block, and between two columns to where the next block is."""
    heights = [TALL * lane + TOP + APART * kind for lane in lanes]
    path = f"M0 {heights[0]}"
    for column, (here, there) in enumerate(zip(heights, heights[1:], strict=False), start=1):
        edge = COLUMN_WIDTH * column
        if here != there:
            path += f"H{edge - EDGE}C{edge + EDGE} {here} {edge - EDGE} {there} {edge + EDGE} {there}"
    return path + f"H{COLUMN_WIDTH * len(lanes) - EDGE}"


def strip(i: int, events: Sequence[Event], words: Sequence[str]) -> Strip:
    event, first = events[i], events[0].ids
    comes = event.kind in COMES
    cells = []
    for at, token in enumerate(event.ids):
        alike = at < len(first) and token == first[at]
        if event.kind == "end":
            state = "gone"
        elif at < event.found:
            state = "found"
        elif not comes and at < len(event.ids) - event.run:
            state = "before"
        else:
            state = "again" if comes and i and alike else "run"
        cells.append(TokenCell(words[token], state, event.kind == "changed" and not alike))
    blocks = [cells[at : at + SIZE] for at in range(0, len(cells), SIZE)]
    name = "".join(words[token] for token in event.ids[1:])
    return Strip(i, LINE_KINDS[event.text], TEXT_NAMES[event.text], name, event.found, event.run, blocks)
