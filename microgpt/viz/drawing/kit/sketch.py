"""Writes a small drawing as paths for a page, whose style gives each kind its look."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from microgpt.viz.drawing.kit.pieces import Lines, Piece, Rect, Text
from microgpt.viz.drawing.kit.places import SMALL_HEIGHT
from microgpt.viz.drawing.kit.svg import path

CLASSES = {f"{owner}-{part}": f"{owner} {name}" for owner in "qkv" for part, name in (("wash", "f0"), ("fill", "f2"))}


class Shape(NamedTuple):
    """All boxes of one kind as one path, or an outline or a line by itself."""

    kind: str
    path: str


class Letter(NamedTuple):
    """A token, a number or a sign; x and y are its middle."""

    kind: str
    x: float
    y: float
    text: str


class Sketch(NamedTuple):
    """A small picture: the letters lie on the shapes."""

    width: float
    height: int
    shapes: list[Shape]
    letters: list[Letter]


def sketch(pieces: Iterable[Piece]) -> Sketch:
    """The picture of these pieces. Boxes lie below outlines and lines.

    A box is placed by the one before it: what is alike is written alike, and packs well.
    """
    filled: dict[str, str] = {}
    at: dict[str, tuple[float, float]] = {}
    end, own, letters = 0.0, list[Shape](), list[Letter]()
    for piece in pieces:
        match piece:
            case Rect(x, y, w, h, fill, stroke, rounding):
                end = max(end, x + w)
                if not fill:
                    own.append(Shape(stroke, ring(x, y, w) if rounding == w / 2 else f"M{x} {y}h{w}v{h}h{-w}z"))
                    continue
                kind = CLASSES.get(fill, fill)
                before = at.get(kind, (0, 0))
                filled[kind] = filled.get(kind, "") + f"m{x - before[0]} {y - before[1]}h{w}v{h}h{-w}z"
                at[kind] = x, y
            case Lines(lines, ink):
                own.append(Shape(ink, path(lines)))
            case Text(x, y, runs, kind):
                letters.append(Letter(kind, x, y, "".join(run.text for run in runs)))
    return Sketch(end, SMALL_HEIGHT, [*(Shape(kind, one) for kind, one in filled.items()), *own], letters)


def ring(x: float, y: float, w: float) -> str:
    r = w / 2
    return f"M{x:g} {y + r:g}a{r:g} {r:g} 0 1 1 {w:g} 0a{r:g} {r:g} 0 1 1 {-w:g} 0z"
