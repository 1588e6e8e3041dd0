"""Paints a drawing on a canvas: anything with the methods of a browser's 2d context, so that this module can be tried
without one. Knows no browser and no widget.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from microgpt.viz.drawing.kit.paint import ANCHORS, FONTS, INK, SMALL, attributes, colour
from microgpt.viz.drawing.kit.pieces import Group, Lines, Piece, Rect, Text

Style = Mapping[str, str]


def paint(pieces: Iterable[Piece], canvas: Any, scale: float) -> None:
    """Draw them, `scale` pixels of the canvas to one unit."""
    canvas.scale(scale, scale)
    draw(pieces, canvas)


def draw(pieces: Iterable[Piece], canvas: Any) -> None:
    for piece in pieces:
        canvas.save()
        match piece:
            case Group(within, x, y, turn, scale, opacity):
                canvas.globalAlpha = canvas.globalAlpha * opacity
                canvas.translate(x, y)
                canvas.rotate(math.radians(turn))
                canvas.scale(scale, scale)
                draw(within, canvas)
            case Rect():
                rectangle(piece, canvas)
            case Lines(lines, ink, width):
                canvas.beginPath()
                for start, *points in lines:
                    canvas.moveTo(*start)
                    for point in points:
                        canvas.lineTo(*point)
                canvas.strokeStyle, canvas.lineWidth = colour(ink), width
                canvas.stroke()
            case Text():
                write_runs(piece, canvas)
        canvas.restore()


def rectangle(box: Rect, canvas: Any) -> None:
    canvas.beginPath()
    canvas.roundRect(box.x, box.y, box.w, box.h, box.round)
    if box.fill:
        canvas.fillStyle = colour(box.fill)
        canvas.fill()
    if box.stroke:
        canvas.strokeStyle, canvas.lineWidth = colour(box.stroke), 1
        canvas.setLineDash([float(dash) for dash in box.dashes.split()])
        canvas.stroke()


def write_runs(text: Text, canvas: Any) -> None:
    """A text, its runs one behind the other."""
    style = attributes(text.kind)
    runs = [(run.text, {**style, **attributes(run.kind)}) for run in text.runs]
    widths = []
    for said, look in runs:
        canvas.font = font(look)
        widths.append(canvas.measureText(said).width)
    x, y = text.x - ANCHORS.get(style.get("text-anchor", ""), 0.0) * sum(widths), text.y
    for (said, look), width in zip(runs, widths, strict=True):
        canvas.font, canvas.fillStyle = font(look), look.get("fill", INK["ink"])
        canvas.fillText(said, x, y)
        if "text-decoration" in look:
            canvas.fillRect(x, y - 0.32 * pixels(look), width, 1.2)
        x += width


def font(style: Style) -> str:
    family = style.get("font-family", FONTS)
    return f"{style.get('font-style', 'normal')} {style.get('font-weight', '400')} {pixels(style):g}px {family}"


def pixels(style: Style) -> float:
    return float(style.get("font-size", SMALL))
