"""The pieces that columns are drawn with: tokens and rows that come, stay and fall, each one piece from its first case
to its last, so that what is kept is the same piece before and after.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from microgpt.course.guess_and_check.columns import STAGES, PositionColumn
from microgpt.viz.drawing.heat import RowPair
from microgpt.viz.drawing.lens import as_printed, fewest, near

CHANCE = 2  # decimals of the chance to be kept
NEVER = 100  # more than any text has cases


class Span(NamedTuple):
    """When a piece is there, and its place among what its round has guessed."""

    first: int
    last: int
    order: int


class Tile(NamedTuple):
    """A token in its place; its states as a Box has them, each with its cases."""

    token: str
    at: Span
    states: list[tuple[str, list[int]]]


class GuessCase(NamedTuple):
    """A guessed token, and what becomes of it."""

    token: str
    p_target: float
    p_draft: float
    chance: float  # min(1, p_target / p_draft)
    kept: bool
    judged: bool  # those after the first that fell are not

    @property
    def digits(self) -> int:
        """Decimals of both with which the chance comes true as it is printed."""
        return fewest(self.true)

    def true(self, digits: int) -> bool:
        target, draft = as_printed(self.p_target, digits), as_printed(self.p_draft, digits)
        return draft > 0 and near(min(1.0, target / draft), self.chance, CHANCE)


class ColumnPieces(NamedTuple):
    """What comes to stand at a position."""

    tiles: list[Tile]
    rows: list[tuple[Span, RowPair]]
    guessed: list[tuple[int, int, int, GuessCase]]  # the cases that draft and check it, its place among the guesses
    opens: list[int]  # cases in which something falls through the floor here


class Guesses(NamedTuple):
    """Those of a round, and the position of the first."""

    first: int
    guesses: list[GuessCase]


def pieces(
    columns: Sequence[PositionColumn], rounds: Sequence[Guesses], rows: Sequence[Sequence[RowPair]]
) -> list[ColumnPieces]:
    """A list a column. `rows` are, by round, those of all tokens and guesses so far."""
    found, per, end = [], len(STAGES), len(STAGES) * len(rounds) - 1
    for at, column in enumerate(columns):

        def span(first: int, last: int, at: int = at) -> Span:
            return Span(first, last if last < end else NEVER, max(0, at - rounds[first // per].first))

        tiles = [
            Tile(token, span(first, last), states_in(column, token, first, last, end))
            for token in dict.fromkeys(box.token for box in column.boxes)
            for first, last in runs_of([c for box in column.boxes if box.token == token for c in box.cases])
        ]
        held = [(span(*run), rows[run[0] // per][at]) for run in runs_of(column.rows)]
        guessed = [
            (per * i, per * i + 1, at - one.first, one.guesses[at - one.first])
            for i, one in enumerate(rounds)
            if 0 <= at - one.first < len(one.guesses)
        ]
        gone = {piece.last + 1 for piece in (*(tile.at for tile in tiles), *(span for span, _ in held))}
        found.append(ColumnPieces(tiles, held, guessed, sorted(case for case in gone if case <= end)))
    return found


def states_in(column: PositionColumn, token: str, first: int, last: int, end: int) -> list[tuple[str, list[int]]]:
    """The states of a token from its first case to its last; what falls keeps its state as it falls."""
    found = [
        (box.state, [case for case in box.cases if first <= case <= last]) for box in column.boxes if box.token == token
    ]
    return [(state, [*cases, last + 1] if last in cases and last < end else cases) for state, cases in found if cases]


def runs_of(cases: Sequence[int]) -> list[tuple[int, int]]:
    """The first and the last of each run of cases that follow one another."""
    firsts = [case for case in sorted(cases) if case - 1 not in cases]
    return list(zip(firsts, [case for case in sorted(cases) if case + 1 not in cases], strict=True))
