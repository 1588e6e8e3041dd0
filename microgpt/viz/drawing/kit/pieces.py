"""The pieces of a drawing, and the sheet that they are put on, one over the other.

A colour is a name of paint.py, or of the page's style in a small picture; the kind of a text is as `paint.attributes`
has it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, TypeAlias

from microgpt.viz.drawing.heat import LEVELS, Strip
from microgpt.viz.drawing.kit.paint import RAMP
from microgpt.viz.drawing.kit.places import LEFT, Box, Chip, Heat, Pen, TextLine, boxes, hatch, shade, side_by_side
from microgpt.viz.drawing.kit.words import TextRun, lines, strike

STATES = {"new": ("new", "new-line"), "old": ("wash", "")}  # of a box: its colour, and that of its outline
Point = tuple[float, float]


class Rect(NamedTuple):
    """A box, and with half its width as `round` a circle; without a `fill` its outline alone."""

    x: float
    y: float
    w: float
    h: float
    fill: str
    stroke: str = ""
    round: float = 3
    dashes: str = ""


class Lines(NamedTuple):
    """Lines of one ink, each through its points."""

    lines: Sequence[Sequence[Point]]
    ink: str
    width: float = 1


class Text(NamedTuple):
    """One line of text, its runs one behind the other."""

    x: float
    y: float
    runs: Sequence[TextRun]
    kind: str = ""


class Group(NamedTuple):
    """Pieces that move, turn (degrees), grow, pale, come and go, or lead somewhere together.

    In a film (film.py) what has a new `key` comes: a picture of each group that `came` names travels from there to
    here, or where `way` names two keys, from the first of them to the second.
    """

    pieces: list[Piece]
    x: float = 0
    y: float = 0
    turn: float = 0
    scale: float = 1
    opacity: float = 1
    name: str = ""
    href: str = ""
    key: str = ""
    came: str = ""
    way: str = ""


Piece: TypeAlias = Rect | Lines | Text | Group


class Sheet:
    """Pieces in the order in which they are drawn. A template calls its methods; they say nothing, and draw."""

    def __init__(self, pieces: list[Piece] | None = None) -> None:
        self.pieces: list[Piece] = [] if pieces is None else pieces

    def add(self, *pieces: Piece) -> str:
        self.pieces += pieces
        return ""

    def group(
        self,
        x: float = 0,
        y: float = 0,
        turn: float = 0,
        opacity: float = 1,
        key: str = "",
        came: str = "",
        way: str = "",
        caller: Callable[[], object] = lambda: "",
    ) -> str:
        """What a template draws between call and endcall, as one."""
        first = len(self.pieces)
        caller()
        self.pieces[first:] = [Group(self.pieces[first:], x, y, turn, opacity=opacity, key=key, came=came, way=way)]
        return ""

    def ground(self) -> Sheet:
        """A sheet that lies here, below all that comes, and may be drawn on later."""
        below: list[Piece] = []
        self.add(Group(below))
        return Sheet(below)

    # ---- text -------------------------------------------------------------------------------------

    def t(self, x: float, y: float, text: object, kind: str = "") -> str:
        return self.add(Text(x, y, [TextRun(str(text), "")], kind))

    def line(self, x: float, y: float, runs: Sequence[TextRun], kind: str = "") -> str:
        return self.add(Text(x, y, runs, kind))

    def say(self, pen: Pen, x: float, sentence: str, width: int, kind: str = "", leading: int = 19) -> str:
        """A sentence in as many lines as it needs; the pen is below it afterwards."""
        return self.add(*[Text(x, pen.down(leading).text, runs, kind) for runs in lines(sentence, width)])

    # ---- boxes and lines --------------------------------------------------------------------------

    def box(self, x: float, y: float, w: float, h: float, fill: str, stroke: str = "", round: float = 3) -> str:
        return self.add(Rect(x, y, w, h, fill, stroke, round))

    def fill(self, place: Box, fill: str, stroke: str = "", round: float = 3) -> str:
        return self.box(*place, fill, stroke, round)

    def dash(self, place: Box, stroke: str = "line") -> str:
        return self.add(Rect(*place, "", stroke, 3, "3 3"))

    def rule(self, x1: float, y1: float, x2: float, y2: float, ink: str = "line", width: float = 1) -> str:
        return self.trace((x1, y1), (x2, y2), ink=ink, width=width)

    def trace(self, *points: Point, ink: str = "line", width: float = 1) -> str:
        """A line through these points."""
        return self.add(Lines([points], ink, width))

    def hatch(self, x: int, y: int, w: int, h: int, ink: str = "soft", gap: int = 5) -> str:
        return self.add(Rect(x, y, w, h, "", ink, 2), Lines(hatch(Box(x, y, w, h), gap), ink))

    def row(self, kinds: Iterable[str], place: Box, gap: int = 1) -> str:
        """A box a kind, side by side; "" leaves its place empty."""
        each = list(kinds)
        places = boxes(len(each), *place, gap)
        return self.add(*[Rect(*at, kind) for kind, at in zip(each, places, strict=True) if kind])

    def strip(self, cells: Iterable[Heat], owner: str = "") -> str:
        """Cells of heat; those that have an owner, q, k or v, are as full as their numbers are large."""
        for c in cells:
            self.fill(c.box, f"{owner}-wash" if owner else c.fill, round=2)
            if owner and c.full.h:
                self.fill(c.full, f"{owner}-fill", round=0)
            if c.text:
                self.add(Text(c.box.mid, c.box.line.text, [TextRun(c.text, "")], f"{'ink' if owner else c.ink} mid"))
        return ""

    def shades(self, strip: Strip, place: Box, owner: str = "any") -> str:
        """Numbers of either sign in few shades of the owner's hue, on the lightest."""
        found = [shade(abs(cell.level) / LEVELS) for cell in strip.cells]
        self.fill(place, f"{owner} f0")
        return self.row([f"{owner} f{one}" if one else "" for one in found], place, 0)

    def bars(self, values: Sequence[float], place: Box, kinds: Sequence[str], most: float = 0, gap: int = 4) -> str:
        """A bar a number, up from the line of zero or down; `most` is what has the full height, if not the largest."""
        up, down = max(most, 0.0, *values), max(0.0, *(-x for x in values))
        unit = place.h / (up + down)
        zero = place.y + up * unit
        for value, kind, at in zip(values, kinds, boxes(len(values), *place, gap), strict=True):
            high = max(1.0, abs(value) * unit)
            self.box(at.x, zero - high if value > 0 else zero, at.w, high, kind)
        return self.rule(place.x, zero, place.x + place.w, zero)

    def bar(self, x: int, line: TextLine, w: int, kind: str) -> str:
        """A bar on a line; what is computed again is hatched; K and V together have both colours."""
        at = line.inside(10)
        if not w:
            return ""
        if kind == "again":
            return self.hatch(x, at.top, w, 10)
        if kind == "kv":
            return self.box(x, at.top, w, 5, "k", round=0) + self.box(x, at.middle, w, 5, "v", round=0)
        return self.box(x, at.top, w, 10, kind, round=2)

    # ---- tokens and words -------------------------------------------------------------------------

    def token(self, chip: Chip, fill: str = "wash", kind: str = "", stroke: str = "", dashed: bool = False) -> str:
        self.add(Rect(*chip.box, fill, stroke, 5, "4 3" if dashed else ""))
        return self.t(chip.box.mid, chip.box.line.text, chip.text, f"15 tok mid {kind}")

    def state(self, place: Box, state: str) -> str:
        """The states that are the same on every page: new is lit, old calm, again hatched."""
        if state == "again":
            return self.hatch(*place, "line", 6)
        return self.fill(place, *STATES[state]) if state in STATES else ""

    def word(self, place: Box, text: str, state: str) -> str:
        """A word in its state; what is gone is struck through."""
        self.state(place, state)
        if state == "gone":
            return self.line(place.start, place.line.text, strike(text))
        if state == "again":
            self.fill(place.grow(-3), "card", round=2)
        return self.t(place.mid, place.line.text, text, {"new": "mid bold", "old": "mid soft"}.get(state, "mid"))

    def key(self, line: TextLine, words: Sequence[tuple[str, str]]) -> str:
        """Words in their states, side by side."""
        places = side_by_side([text for text, _ in words], LEFT, line.inside(22).top, 22)
        return "".join(self.word(place, *one) for place, one in zip(places, words, strict=True))

    def ramp(self, places: Sequence[Box], line: TextLine, low: str, high: str) -> str:
        """The heat scale between its ends."""
        for place, ink in zip(places, RAMP, strict=True):
            self.fill(place, ink, round=0)
        return self.t(places[0].before, line.text, low, "end") + self.t(places[-1].after, line.text, high)
