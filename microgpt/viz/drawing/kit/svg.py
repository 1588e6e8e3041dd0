"""Writes a drawing as SVG of text, rectangles and lines with attributes alone, which every program draws alike."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from markupsafe import escape

from microgpt.viz.drawing.kit.paint import FONTS, INK, SMALL, attributes, colour
from microgpt.viz.drawing.kit.pieces import Group, Lines, Piece, Rect, Text
from microgpt.viz.drawing.kit.words import TextRun


class Drawing(str):
    """An SVG that knows its size and the pieces it is made of."""

    width: int
    height: int
    pieces: list[Piece]


class Shot(NamedTuple):
    """A state of a film: its pieces, how long it stands, and whether what is new comes one after the other."""

    pieces: list[Piece]
    seconds: float
    slow: bool = False


class Film(Drawing):
    """A drawing that moves, and knows its states."""

    shots: list[Shot]


def drawing(
    width: int, height: int, pieces: list[Piece], lang: str, title: str, about: str = "", style: str = ""
) -> Drawing:
    """The whole file; `about` says in words what it shows."""
    said = f"<title>{escape(title)}</title>\n" + (f"<desc>{escape(about)}</desc>\n" if about else "")
    around = {
        "xmlns": "http://www.w3.org/2000/svg", "width": width, "height": height, "viewBox": f"0 0 {width} {height}",
        "role": "img", "lang": lang, "font-family": FONTS, "font-size": SMALL, "fill": INK["ink"], "stroke-width": 1,
    }  # fmt: skip
    found = Drawing(element("svg", around, f"\n{said}{style}{markup(pieces)}") + "\n")
    found.width, found.height, found.pieces = width, height, pieces
    return found


def markup(pieces: Iterable[Piece]) -> str:
    return "\n".join(svg(piece) for piece in pieces) + "\n"


def svg(piece: Piece) -> str:
    """The element of a piece."""
    match piece:
        case Rect(x, y, w, h, fill, stroke, rounding, dashes):
            ink = {"fill": colour(fill) if fill else "none", "stroke": stroke and colour(stroke)}
            where = {"x": x, "y": y, "width": w, "height": h, "rx": rounding}
            return element("rect", {**where, **ink, "stroke-dasharray": dashes})
        case Lines([[(x1, y1), (x2, y2)]], ink, width):
            ends = {"x1": x1, "y1": y1, "x2": x2, "y2": y2}
            return element("line", {**ends, "stroke": colour(ink), "stroke-width": width})
        case Lines(lines, ink, width):
            return element("path", {"d": path(lines), "stroke": colour(ink), "stroke-width": width, "fill": "none"})
        case Text(x, y, runs, kind):
            return element("text", {"x": x, "y": y, **attributes(kind)}, "".join(map(span, runs)))
        case Group(pieces):
            return group(piece, markup(pieces)) if pieces else ""
    raise TypeError(piece)


def group(of: Group, within: str) -> str:
    moves = [f"translate({of.x} {of.y})"] if of.x or of.y else []
    moves += [f"rotate({of.turn})"] if of.turn else []
    moves += [f"scale({of.scale})"] if of.scale != 1 else []
    found = {"class": of.name, "transform": " ".join(moves), "opacity": "" if of.opacity == 1 else of.opacity}
    within = element("a", {"href": of.href}, within) if of.href else within
    return element("g", found, f"\n{within}") if any(found.values()) else within


def span(run: TextRun) -> str:
    return element("tspan", attributes(run.kind), escape(run.text)) if run.kind else escape(run.text)


def path(lines: Iterable[Iterable[tuple[float, float]]]) -> str:
    """Lines through points: 'M0 5L10 5.5'."""
    return "".join("M" + "L".join(f"{round(x, 1):g} {round(y, 1):g}" for x, y in line) for line in lines)


def element(name: str, values: Mapping[str, object], within: str = "") -> str:
    """An element with those of the attributes that are not empty."""
    said = "".join(f' {key}="{escape(value)}"' for key, value in values.items() if value != "")
    return f"<{name}{said}>{within}</{name}>" if within else f"<{name}{said}/>"
