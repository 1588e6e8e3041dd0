"""Small pictures of lessons: boxes as wide and high as numbers say, HEIGHT high in all, as paths. Knows no page.

What is recomputed, new, kept, q, k and v look as they do on the pages; the kind of a box says which it is.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from microgpt.viz.drawing.heat import LEVELS, Strip

WIDTH, HEIGHT = 200, 100  # the first is about how wide they are
SHADES = 3  # of a hue, above none
KINDS = ("q", "k", "v")

Cell = tuple[str, int, int, int, int]  # kind, x, y, width, height


class Shape(NamedTuple):
    """All boxes of one kind, as one path."""

    kind: str
    path: str


class Thumb(NamedTuple):
    """A small picture."""

    width: int
    height: int
    shapes: list[Shape]


def thumb(cells: Iterable[Cell]) -> Thumb:
    """The picture of these boxes.

    Places are whole, and a box is placed by the one before it: what is alike is written alike, and packs well.
    """
    paths: dict[str, str] = {}
    at: dict[str, tuple[int, int]] = {}
    end = 0
    for kind, x, y, width, height in cells:
        before = at.get(kind, (0, 0))
        paths[kind] = paths.get(kind, "") + f"m{x - before[0]} {y - before[1]}h{width}v{height}h{-width}z"
        at[kind], end = (x, y), max(end, x + width)
    return Thumb(end, HEIGHT, [Shape(kind, path) for kind, path in paths.items()])


def boxes(kinds: Iterable[str], x: int, y: int, width: int, height: int, gap: int = 1) -> Iterable[Cell]:
    """A box a kind, side by side; "" leaves its place empty."""
    for i, kind in enumerate(kinds):
        if kind:
            yield kind, x + i * width, y, width - gap, height


def shade(share: float) -> int:
    """A share of the most there is, as one of SHADES; 0 for next to none."""
    return min(SHADES, max(0, round(SHADES * share)))


def heat_row(owner: str, strip: Strip, x: int, y: int, width: int, height: int) -> Iterable[Cell]:
    """A strip of heat in the hue of its owner, on its lightest shade."""
    n = len(strip.cells)
    each = width // n
    shades = [shade(abs(cell.level) / LEVELS) for cell in strip.cells]
    yield f"{owner} f0", x, y, n * each, height
    yield from boxes([f"{owner} f{one}" if one else "" for one in shades], x, y, each, height, 0)
