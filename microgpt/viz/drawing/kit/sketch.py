"""Writes a small drawing as paths for a page, whose style gives each kind its look."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from microgpt.viz.drawing.kit.pieces import Lines, Piece, Rect, Text
from microgpt.viz.drawing.kit.places import SMALL_HEIGHT
from microgpt.viz.drawing.kit.svg import path

OWNERS, FILLS = ("q", "k", "v", "any"), (("wash", "f0"), ("fill", "f2"))
CLASSES = {f"{owner}-{part}": f"{owner} {name}" for owner in OWNERS for part, name in FILLS}


class Sketch(NamedTuple):
    """A small picture: the letters lie on the shapes, which are their kinds with paths: all boxes of one kind as one,
    or an outline or a line by itself."""

    width: float
    height: int
    shapes: list[tuple[str, str]]
    letters: list[Text]


def sketch(pieces: Iterable[Piece]) -> Sketch:
    """The picture of these pieces. Boxes lie below outlines and lines; a row that is kept is half of K, half of V.

    A box is placed by the one before it: what is alike is written alike, and packs well.
    """
    filled: dict[str, list[Rect]] = {}
    end, own, letters = 0.0, list[tuple[str, str]](), list[Text]()
    for piece in pieces:
        match piece:
            case Rect(x, _, w, _, fill, stroke):
                end = max(end, x + w)
                if fill == "kept":
                    for half, owner in enumerate("kv"):
                        filled.setdefault(f"{owner} kept", []).append(piece._replace(x=x + half * w / 2, w=w / 2))
                elif fill:
                    filled.setdefault(CLASSES.get(fill, fill), []).append(piece)
                else:
                    own.append((stroke, ring(piece) if piece.round == w / 2 else outline([piece])))
            case Lines(lines, ink):
                end = max(end, *(x for line in lines for x, _ in line))
                own.append((ink, path(lines)))
            case Text():
                letters.append(piece)
    return Sketch(end, SMALL_HEIGHT, [*((kind, outline(some)) for kind, some in filled.items()), *own], letters)


def outline(boxes: Iterable[Rect]) -> str:
    """Boxes as a path, in tenths."""
    found, at = "", (0, 0)
    for box in boxes:
        left, top, wide, high = (round(10 * x) for x in (box.x, box.y, box.w, box.h))
        moves = left - at[0], top - at[1], wide, high, -wide
        found += "m{:g} {:g}h{:g}v{:g}h{:g}z".format(*(x / 10 for x in moves))
        at = left, top
    return found


def ring(box: Rect) -> str:
    r = box.w / 2
    return f"M{box.x:g} {box.y + r:g}a{r:g} {r:g} 0 1 1 {2 * r:g} 0a{r:g} {r:g} 0 1 1 {-2 * r:g} 0z"
