"""The picture of texts that begin alike: their blocks, and a line a text along those that it holds.

It is one drawing for all events; each piece of it says in which of them it is there. A block has the same index in
every text that holds it, so an index is a column. A lane has the blocks that a text does not share with those above.
"""

from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

from microgpt.course.shared_prefixes.events import AGAIN, FIRST, FORK, OTHER, SECOND, SIZE, Event

TEXT_NAMES = {FIRST: "A", SECOND: "B", FORK: "C", AGAIN: "A", OTHER: "D"}
LANES = {FIRST: 0, AGAIN: 0, SECOND: 1, FORK: 2, OTHER: 3}  # and kinds of lines: the same for one text and its copy
COMES = ("run", "again", "changed")  # events in which a text is looked up, and run from where it is not found
KEY_DIGITS = 4  # hexadecimal digits that are shown of a key
COLUMN_WIDTH, TALL = 100, 100  # a column and a lane, in the units of the lines
EDGE, TOP, APART = (
    8,
    74,
    7,
)  # from a column to its block; from a lane to its first line, below its blocks; between lines


class BlockRow(NamedTuple):
    """A row in a block: its token, the events in which it is there, the one that has put it there, and how; and those
    from that one on."""

    token: str
    cases: list[int]
    written: int
    copied: bool
    stored: list[int]


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
    found: list[int]  # by its key
    missed: list[int]  # a text comes that has another block here
    holders: list[str]  # the texts that hold it, after each event
    source: int | None  # the lane of the block that it is a copy of

    @property
    def cases_of_sharing(self) -> list[int]:
        return [case for n, cases in self.refs if n > 1 for case in cases]

    @property
    def free(self) -> list[int]:
        return [case for n, cases in self.refs if n == 0 for case in cases]


class Segment(NamedTuple):
    """A piece of a line: up to a block, so many lanes down or up, and along it."""

    column: int
    drop: int
    path: str
    cases: list[int]


class LaneLine(NamedTuple):
    """A text's way along its blocks, the events in which it is there, and the column and lane of its end in each."""

    kind: int
    letter: str
    segments: list[Segment]
    cases: list[int]
    ends: list[tuple[int, int]]


class TokenCell(NamedTuple):
    """A token of the text that an event is about: found, again (run, though as in A), run, before or gone."""

    token: str
    state: str
    changed: bool


class Strip(NamedTuple):
    """The text that an event is about, block by block."""

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
    shown: list[int]  # lanes that have blocks, after each event


def drawing(events: Sequence[Event], words: Sequence[str]) -> Drawing:
    """All events, with the tokens as `words` writes them."""
    columns = max(len(table) for event in events for table in event.tables)
    lanes = max(LANES.values()) + 1
    places = places_of(events)
    blocks = [block(number, *place, events, words) for number, place in sorted(places.items())]
    lines = [line_of(events, kind, places) for kind in dict.fromkeys(LANES.values())]
    strips = [strip(i, events, words) for i in range(len(events))]
    shown = [1 + max(one.lane for one in blocks if i in one.cases) for i in range(len(events))]
    return Drawing(columns, lanes, COLUMN_WIDTH * columns, TALL * lanes, blocks, lines, strips, shown)


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
                found.append(i)
            elif lane == LANES[FIRST] and number in event.keys:
                missed.append(i)
    key = events[keyed[0]].keys[number].hex()[:KEY_DIGITS] if keyed else ""
    holders = [" ".join(TEXT_NAMES[t] for t, table in enumerate(one.tables) if number in table) for one in events]
    rows = [row(number, column * SIZE + at, cases, events, words) for at in range(SIZE)]
    copied = (event.copied for event in events if event.copied)
    source = next((places_of(events)[old][1] for old, new in copied if new == number), None)
    return Block(number, column, lane, cases, rows, key, keyed, refs, found, missed, holders, source)


def row(number: int, at: int, cases: list[int], events: Sequence[Event], words: Sequence[str]) -> BlockRow | None:
    """What lies in this block for position `at`, from the first event on that has put a token there."""
    for i, event in enumerate(events):
        if number in event.tables[event.text] and at < len(event.ids):
            copied = event.copied is not None and number == event.copied[1] and at < len(event.ids) - 1
            return BlockRow(
                words[event.ids[at]], [case for case in cases if case >= i], i, copied, list(range(i, len(events)))
            )
    return None


def line_of(events: Sequence[Event], kind: int, places: dict[int, tuple[int, int]]) -> LaneLine:
    """Of a text, and of its copy. A piece that is the same after several events is one."""
    texts = [text for text, one in LANES.items() if one == kind]
    tables = [next((event.tables[text] for text in texts if event.tables[text]), []) for event in events]
    pieces: dict[tuple[int, int, str], list[int]] = {}
    for i, table in enumerate(tables):
        lanes = [places[number][1] for number in table]
        for column, (here, there) in enumerate(zip([*lanes[:1], *lanes], lanes, strict=False)):
            piece = (column, abs(there - here), path_of(column, here, there, kind))
            pieces.setdefault(piece, []).append(i)
    cases = [i for i, table in enumerate(tables) if table]
    ends = [places[tables[i][-1]] for i in cases]
    # where a text is not there, its end is that of the time after
    at = [sum(case < i for case in cases) for i in range(len(events))]
    return LaneLine(
        kind,
        TEXT_NAMES[texts[0]],
        [Segment(*piece, shown) for piece, shown in pieces.items()],
        cases,
        [ends[min(n, len(ends) - 1)] for n in at],
    )


def path_of(column: int, here: int, there: int, kind: int) -> str:
    """From lane to lane between two columns, then along the block."""
    edge, (start, end) = COLUMN_WIDTH * column, (TALL * lane + TOP + APART * kind for lane in (here, there))
    turn = f"C{edge + EDGE} {start} {edge - EDGE} {end} {edge + EDGE} {end}" if here != there else ""
    return f"M{max(0, edge - EDGE - 1)} {start}{turn}H{edge + COLUMN_WIDTH - EDGE}"


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
    return Strip(LANES[event.text], TEXT_NAMES[event.text], name, event.found, event.run, blocks)
