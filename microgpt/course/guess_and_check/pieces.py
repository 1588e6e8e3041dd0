"""The picture of guesses: what stands at each position in each case, and the pieces that it is drawn with.

A round has three stages, each of which is a case: the draft guesses, the target checks in one pass, and what has fallen
is cropped. Tokens and rows come, stay and fall, each one piece from its first case to its last, so that what is kept is
the same piece before and after.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from microgpt.course.guess_and_check.rounds import GuessCase, RoundShown
from microgpt.errors import N_
from microgpt.serving.speculate import Round
from microgpt.viz.drawing.heat import RowPair

STAGES = (N_("draft"), N_("check"), N_("keep"))
NEVER = 100  # more than any text has cases


class Column(NamedTuple):
    """A position: the cases of what stands there, and those in which the target has a row for it."""

    boxes: dict[tuple[str, str], list[int]]  # by token and state: text, guess, kept, fallen, unread or chosen
    rows: list[int]


class Span(NamedTuple):
    """When a piece is there, and its place among what its round has guessed."""

    first: int
    last: int
    order: int


class Tile(NamedTuple):
    """A token in its place; its states, each with its cases."""

    token: str
    at: Span
    states: list[tuple[str, list[int]]]


class ColumnPieces(NamedTuple):
    """What comes to stand at a position."""

    first: int  # the case in which the round begins that comes so far
    tiles: list[Tile]
    rows: list[tuple[Span, RowPair]]
    guessed: list[tuple[int, int, int, GuessCase]]  # the cases that draft and check it, its place among the guesses
    waits: list[int]  # cases in which a guess waits here
    shut: list[int]  # cases in which there is a floor for what stays
    door: list[int]  # cases in which the door hangs here: one for all that falls, at the first of it


def columns(words: Sequence[Sequence[str]], rounds: Sequence[Round], vocabulary: Sequence[str]) -> list[Column]:
    """`words` is the text before each round, and after the last."""
    ends = [len(before) + len(one.drafted) for before, one in zip(words[:-1], rounds, strict=True)]
    found = [Column({}, []) for _ in range(max([*ends, len(words[-1])]))]
    for i, one in enumerate(rounds):
        before, after = words[i], words[i + 1]
        for stage, held in enumerate((len(before) - 1, ends[i], len(after) - 1)):
            case = len(STAGES) * i + stage
            for column, what in zip(found, standing(before, after, one, stage, vocabulary), strict=False):
                column.boxes.setdefault(what, []).append(case)
            for column in found[:held]:
                column.rows.append(case)
    return found


def standing(
    before: Sequence[str], after: Sequence[str], one: Round, stage: int, vocabulary: Sequence[str]
) -> list[tuple[str, str]]:
    """Tokens and their states at a stage."""
    text = [(token, "text") for token in before]
    if stage == 0:
        return text + [(vocabulary[i], "guess") for i in one.drafted]
    if stage == 1:
        states = ["kept"] * one.accepted + ["fallen"] + ["unread"] * len(one.drafted)
        return text + [(vocabulary[i], state) for i, state in zip(one.drafted, states, strict=False)]
    new = [(token, "kept") for token in after[len(before) :]]
    if one.chosen >= 0:
        new[-1] = (new[-1][0], "chosen")
    return text + new


def pieces(
    columns: Sequence[Column], rounds: Sequence[RoundShown], rows: Sequence[Sequence[RowPair]]
) -> list[ColumnPieces]:
    """A list a column. `rows` are, by round, those of all tokens and guesses so far."""
    found, per, end = list[ColumnPieces](), len(STAGES), len(STAGES) * len(rounds) - 1
    hung = set[int]()
    for at, column in enumerate(columns):

        def span(first: int, last: int, at: int = at) -> Span:
            return Span(first, last if last < end else NEVER, max(0, at - rounds[first // per].first))

        tiles = [
            Tile(token, span(first, last), states_in(column, token, first, last, end))
            for token in dict.fromkeys(token for token, _ in column.boxes)
            for first, last in runs_of([c for (one, _), cases in column.boxes.items() if one == token for c in cases])
        ]
        held = [(span(*run), rows[run[0] // per][at]) for run in runs_of(column.rows)]
        guessed = [
            (per * i, per * i + 1, at - one.first, one.guesses[at - one.first])
            for i, one in enumerate(rounds)
            if 0 <= at - one.first < len(one.guesses)
        ]
        gone = {piece.last + 1 for piece in (*(tile.at for tile in tiles), *(span for span, _ in held))}
        opens = {case for case in gone if case <= end}
        first = tiles[0].at.first
        waits = [case for draft, check, *_ in guessed for case in (draft, check)]
        shut = [case for case in range(first, end + 1) if case not in opens and case not in waits]
        found.append(ColumnPieces(first // per * per, tiles, held, guessed, waits, shut, sorted(opens - hung)))
        hung |= opens
    return found


def states_in(column: Column, token: str, first: int, last: int, end: int) -> list[tuple[str, list[int]]]:
    """The states of a token from its first case to its last; what falls keeps its state as it falls."""
    of_token = [(state, cases) for (one, state), cases in column.boxes.items() if one == token]
    found = [(state, [case for case in cases if first <= case <= last]) for state, cases in of_token]
    return [(state, [*cases, last + 1] if last in cases and last < end else cases) for state, cases in found if cases]


def runs_of(cases: Sequence[int]) -> list[tuple[int, int]]:
    """The first and the last of each run of cases that follow one another."""
    firsts = [case for case in sorted(cases) if case - 1 not in cases]
    return list(zip(firsts, [case for case in sorted(cases) if case + 1 not in cases], strict=True))
