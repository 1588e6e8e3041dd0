"""The picture of a fault: rows of numbers as cells that are filled as far as the number is large, at their places.

What is below zero hangs from the top of its cell. Each row is drawn from the corner of its own first cell, so that the
same place is the same few letters in all pictures.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from microgpt.apps.bugs.evidence import LEAST_SAID, WEIGHTS, ComparedRow, ComparedRows
from microgpt.config import Array
from microgpt.viz.drawing.heat import round_up

CELL, WIDE = 28, 320  # a cell is that large, unless there are so many that they would be wider together
TOP, LETTER, NUMBER, BESIDE = 22, 9, 26, 5  # above the rows; of a token; of its number; left of it
MARK_ROOM = 22  # of the cells, for the mark
GAP = 1  # around a cell


class PanelRow(NamedTuple):
    """A row of a panel: paths of what is right in it, of what is not, and around the cells that are not."""

    token: str
    y: int
    good: str
    bad: str
    around: str


class Panel:
    """One half of the picture. Lengths are in its own units, from the corner of the first cell."""

    def __init__(self, shown: ComparedRows, numbers: Sequence[Array], tokens: Sequence[str], limit: float) -> None:
        """`numbers` are its rows, `limit` is what a full cell stands for."""
        wanted = [len(row.ours) for row in shown.rows]
        n = max([*map(len, numbers), *wanted])
        widest = max(len(one) for row in shown.rows for one in (row.yours, row.ours) if one is not None)
        self.cell = cell = min(CELL, WIDE // widest // 2 * 2)
        self.limit, self.first = limit, shown.first_wrong  # and the row to frame
        self.top, self.left = TOP, NUMBER + LETTER * max(map(len, tokens)) + 3 * GAP  # for the tokens
        self.width = self.left + n * cell + MARK_ROOM
        self.height = TOP + len(shown.rows) * cell + 2 * GAP
        self.side = cell - 2 * GAP  # of what can be filled of a cell
        self.frame_x, self.frame = GAP - self.left, self.width - 2 * GAP  # of a row: where it begins, how wide it is
        self.number_x, self.token_x = BESIDE - self.left, NUMBER - self.left
        self.mark_x = n * cell + MARK_ROOM // 2  # its middle
        self.line, self.head_line = cell // 2 + 5, -7  # on which letters of a row, and numbers of the columns, stand
        self.columns = [j * cell + cell // 2 for j in range(n)]  # the middle of each
        self.floor = floor_path(wanted, cell)  # of the cells that a row may fill
        self.rows = [
            panel_row(row, mine, token, at * cell, cell, limit)
            for at, (row, mine, token) in enumerate(zip(shown.rows, numbers, tokens, strict=True))
        ]


def panels_of(shown: ComparedRows, tokens: Sequence[str]) -> tuple[Panel, Panel]:
    """The rows as they are, and as they should be, on one scale."""
    each = [one for row in shown.rows for one in (row.yours, row.ours) if one is not None]
    limit = 1.0 if shown.name == WEIGHTS else round_up(max(float(abs(one).max()) for one in each))
    ours = [row.ours for row in shown.rows]
    yours = [row.ours if row.yours is None else row.yours for row in shown.rows]
    return Panel(shown, yours, tokens, limit), Panel(shown, ours, tokens, limit)


def floor_path(lengths: Sequence[int], cell: int) -> str:
    """The lines between the cells of rows that are so long: none is shorter than the one above."""
    across = [*lengths, lengths[-1]]
    lines = "".join(f"M0 {at * cell}h{n * cell}" for at, n in enumerate(across))
    for j in range(lengths[-1] + 1):
        first = next(at for at, n in enumerate(lengths) if n >= j)
        lines += f"M{j * cell} {first * cell}V{len(lengths) * cell}"
    return lines


def panel_row(row: ComparedRow, numbers: Array, token: str, y: int, cell: int, limit: float) -> PanelRow:
    good, bad, around = "", "", ""
    for j in range(max(len(numbers), len(row.ours))):
        value, want = number_at(numbers, j), number_at(row.ours, j)
        bar = bar_path(value / limit, j * cell + cell // 2, cell)
        if abs(value - want) < LEAST_SAID:
            good += bar
        else:
            bad += bar
            around += f"M{j * cell + 2 * GAP} {2 * GAP}h{cell - 4 * GAP}v{cell - 4 * GAP}h-{cell - 4 * GAP}z"
    return PanelRow(token, y, good, bad, around)


def number_at(row: Array, j: int) -> float:
    """A number of a row; where there is none, 0."""
    return float(row[j]) if j < len(row) else 0.0


def bar_path(share: float, x: int, cell: int) -> str:
    """A line through the middle of a cell, as long as a share of 1 says; nothing where that cannot be seen."""
    high = round(share * (cell - 2 * GAP))
    return f"M{x} {cell - GAP if share > 0 else GAP}v{-high}" if high else ""
