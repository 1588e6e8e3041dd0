"""Where things stand in a drawing: lines from top to bottom, boxes and cells from left to right.

All in whole units of the drawing: a figure is FIGURE_WIDTH of them across, a small picture SMALL_WIDTH by SMALL_HEIGHT.
Does arithmetic on places alone, never on a number that the model made.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

from microgpt.viz.drawing.heat import LEVELS, Strip
from microgpt.viz.drawing.kit.paint import HEAT, SMALL
from microgpt.viz.drawing.kit.words import extent, fit
from microgpt.viz.text.formats import heat, number

FIGURE_WIDTH = 960
SMALL_WIDTH, SMALL_HEIGHT = 200, 100  # of a small picture, on the front page or in the glossary
SHADES = 3  # of a hue in it, above none
EDGE, PAD, INSET = 24, 16, 8  # around the card, inside of it, and inside of a box in it
LEFT, RIGHT = EDGE + PAD, FIGURE_WIDTH - EDGE - PAD  # of what stands in the card


class TextLine(NamedTuple):
    """One line of a figure; text of the usual size stands on `text`."""

    top: int
    text: int
    middle: int
    bottom: int

    def part(self, height: int, below: int = 0, size: int = SMALL) -> TextLine:
        """A line within this one, so far below its top."""
        return Pen(self.top + below).down(height, size)

    def inside(self, height: int) -> TextLine:
        """A lower line in its middle."""
        return Pen(self.middle - height // 2).down(height)


def baseline(middle: int, size: int = SMALL) -> int:
    """Where text stands that is to look centred on `middle`."""
    return middle + round(0.36 * size)


class Pen:
    """Goes down the page. A figure is drawn line by line, and is as high as the pen has come."""

    def __init__(self, y: int = 0) -> None:
        self.y = y

    def down(self, height: int, size: int = SMALL) -> TextLine:
        """The next line, for text of that size."""
        top, self.y = self.y, self.y + height
        middle = top + height // 2
        return TextLine(top, baseline(middle, size), middle, self.y)

    def branch(self) -> Pen:
        """Another pen at the same height, for a column."""
        return Pen(self.y)

    def since(self, y: int) -> int:
        """How far it has come from y."""
        return self.y - y

    def join(self, *pens: Pen) -> None:
        """Go on below the longest of these columns."""
        self.y = max(pen.y for pen in pens)


class Box(NamedTuple):
    """A place for something: x, y, width, height. Text in it stands on `base`, from `start`, to `end`, around `mid`."""

    x: int
    y: int
    w: int
    h: int

    @property
    def mid(self) -> int:
        return self.x + self.w // 2

    @property
    def start(self) -> int:
        return self.x + INSET

    @property
    def end(self) -> int:
        return self.x + self.w - INSET

    @property
    def line(self) -> TextLine:
        return Pen(self.y).down(self.h)

    @property
    def before(self) -> int:
        return self.x - INSET

    @property
    def after(self) -> int:
        return self.x + self.w + INSET

    def grow(self, by: int) -> Box:
        """With so much around it; of less than none, without so much of its edge."""
        return Box(self.x - by, self.y - by, self.w + 2 * by, self.h + 2 * by)

    def next(self, gap: int) -> int:
        """The x behind it."""
        return self.x + self.w + gap

    def center(self, width: int) -> Box:
        """A narrower and lower box in its middle."""
        return Box(self.mid - width // 2, self.y + 4, width, self.h - 8)

    @property
    def room(self) -> int:
        """For text, between `start` and `end`."""
        return self.w - 2 * INSET


class Heat(NamedTuple):
    """A cell with its place and colours; where it has an owner, `full` is how far it is full."""

    box: Box
    full: Box
    fill: str
    ink: str
    text: str


def boxes(n: int, x: int, y: int, width: int, height: int, gap: int = 1, columns: int = 0) -> list[Box]:
    """n boxes side by side in `width`, in rows of `columns` (0: all in one)."""
    columns = columns or max(n, 1)
    edges = [x + round(i * (width + gap) / columns) for i in range(columns + 1)]
    found = []
    for i in range(n):
        row, at = divmod(i, columns)
        w = edges[at + 1] - edges[at] - gap
        found.append(Box(edges[at], y + row * (height + gap), w, height))
    return found


def grid(
    rows: int, columns: int, x: int = 0, y: int = 0, width: int = SMALL_WIDTH, height: int = SMALL_HEIGHT, gap: int = 2
) -> list[list[Box]]:
    """Rows of boxes that fill a place; a small picture, if no other is named."""
    tops = [y + round(i * (height + gap) / rows) for i in range(rows + 1)]
    return [boxes(columns, x, top, width, below - top - gap, gap) for top, below in pairwise(tops)]


def shade(share: float) -> int:
    """A share of the most there is, as one of SHADES; 0 for next to none."""
    return min(SHADES, max(0, round(SHADES * share)))


def cells(strip: Strip, x: int, y: int, width: int, height: int = 24, columns: int = 0, gap: int = 1) -> list[Heat]:
    """The cells of a strip; where its numbers have no room, they are left to their colours."""
    places = boxes(len(strip.cells), x, y, width, height, gap, columns)
    colours = [HEAT[heat(cell.level)] for cell in strip.cells]
    texts = ["" if strip.digits is None else number(cell.value, strip.digits) for cell in strip.cells]
    roomy = all(extent(text) <= box.w + 1 for text, box in zip(texts, places, strict=True))
    fulls = [part_full(box, cell.level) for box, cell in zip(places, strip.cells, strict=True)]
    found = zip(places, fulls, colours, texts, strict=True)
    return [Heat(box, full, *inks, text if roomy else "") for box, full, inks, text in found]


def part_full(box: Box, level: int) -> Box:
    """How far a cell is full: from below if it is positive, from above if negative."""
    high = round(box.h * abs(level) / LEVELS)
    return Box(box.x, box.y + box.h - high if level > 0 else box.y, box.w, high)


def full_cells(
    groups: Sequence[Sequence[int]], x: int, y: int, width: int, height: int, columns: int = 0
) -> list[Heat]:
    """Cells without numbers, by their levels, in groups of which `columns` (0: all of them) are as wide as `width`."""
    found = spread(groups, x, y, width, height, columns)
    return [Heat(box, part_full(box, level), "", "", "") for box, level in found]


def standing(groups: Sequence[Sequence[int]], x: int, y: int, width: int, height: int) -> list[Box]:
    """A bar for each level that is not zero: it stands on the middle, or hangs from it if the level is negative."""
    half, found = height // 2, []
    for box, level in spread(groups, x, y, width, height):
        high = round(half * abs(level) / LEVELS)
        if high:
            found.append(Box(box.x, y + half - high if level > 0 else y + half, max(box.w, 1), high))
    return found


def spread(
    groups: Sequence[Sequence[int]], x: int, y: int, width: int, height: int, columns: int = 0
) -> list[tuple[Box, int]]:
    """A box for each level; groups stand apart, and what is many has no gaps."""
    found: list[tuple[Box, int]] = []
    for place, levels in zip(boxes(len(groups), x, y, width, height, 6, columns), groups, strict=True):
        gap = 1 if place.w >= 4 * len(levels) else 0
        found += zip(boxes(len(levels), place.x, y, place.w, height, gap), levels, strict=True)
    return found


def length(percent: int, full: int) -> int:
    """How long a bar is whose full length is `full`; what is not nothing can be seen."""
    return max(1, round(percent * full / 100)) if percent else 0


def pile(percents: Sequence[int], x: int, full: int) -> list[tuple[int, int]]:
    """Bars end to end: where each begins, and how long it is."""
    found = []
    for percent in percents:
        found.append((x, length(percent, full)))
        x += found[-1][1]
    return found


def hatch(place: Box, gap: int = 6) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Slanted lines that fill a box: patterns are not drawn everywhere."""
    x, y, width, height = place
    found = []
    for start in range(gap, width + height, gap):
        x1, y1 = (x + start, y) if start <= width else (x + width, y + start - width)
        x2, y2 = (x, y + start) if start <= height else (x + start - height, y + height)
        found.append(((x1, y1), (x2, y2)))
    return found


def side_by_side(texts: Iterable[str], x: int, y: int, height: int, gap: int = 8) -> list[Box]:
    """Boxes that are as wide as what they say."""
    found = []
    for text in texts:
        found.append(Box(x, y, round(extent(text, kind="bold")) + 2 * INSET, height))
        x += found[-1].w + gap
    return found


class Chip(NamedTuple):
    """A token in its box."""

    i: int
    text: str
    box: Box


def chips(
    tokens: Sequence[str], x: int, y: int, width: int = RIGHT - LEFT, height: int = 28, gap: int = 4, size: int = 15
) -> list[list[Chip]]:
    """Tokens in boxes, in as many rows as they need."""
    found: list[list[Chip]] = [[]]
    at = x
    for i, token in enumerate(tokens):
        text = fit(token, width - 20, size, "tok")
        w = round(max(32, extent(text, size, "tok") + 2 * INSET))
        if found[-1] and at + w > x + width:
            found.append([])
            at, y = x, y + height + gap
        found[-1].append(Chip(i, text, Box(at, y, w, height)))
        at += w + gap
    return found
