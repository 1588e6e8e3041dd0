"""Paints a figure on a canvas: what the SVG of microgpt.viz.figures is made of, and no more.

The canvas is anything with the methods of a browser's 2d context, so that this module can be tried without one.
Knows no browser and no widget.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from typing import Any

INHERITED = ("fill", "font-size", "font-family", "font-weight", "font-style", "text-decoration")
Style = Mapping[str, str]


def size(svg: str) -> tuple[int, int]:
    """Width and height in pixels."""
    root = ET.fromstring(svg)
    return int(root.attrib["width"]), int(root.attrib["height"])


def paint(svg: str, canvas: Any, scale: float) -> None:
    """Draw the figure, `scale` pixels of the canvas to one of its own."""
    canvas.scale(scale, scale)
    draw(ET.fromstring(svg), canvas, {})


def draw(element: ET.Element, canvas: Any, above: Style) -> None:
    """One element and all within; what is no shape is passed over."""
    style = {**above, **{name: element.attrib[name] for name in INHERITED if name in element.attrib}}
    name = element.tag.rpartition("}")[2]
    canvas.save()
    canvas.globalAlpha = canvas.globalAlpha * float(element.get("opacity", 1))
    if name in ("svg", "g", "a"):
        turn(element, canvas)
        for part in element:
            draw(part, canvas, style)
    elif name == "text":
        write(element, canvas, style)
    elif name in ("rect", "line", "path"):
        canvas.beginPath()
        outline(element, name, canvas)
        if name == "rect" and style.get("fill", "none") != "none":
            canvas.fillStyle = style["fill"]
            canvas.fill()
        if stroke := element.get("stroke"):
            canvas.strokeStyle, canvas.lineWidth = stroke, float(element.get("stroke-width", 1))
            canvas.setLineDash(
                [float(part) for part in re.split(r"[ ,]+", element.get("stroke-dasharray", "")) if part]
            )
            canvas.stroke()
    canvas.restore()


def turn(group: ET.Element, canvas: Any) -> None:
    """translate(x y) and rotate(degrees), in their order."""
    for name, values in re.findall(r"(translate|rotate)\(([^)]*)\)", group.get("transform", "")):
        numbers = [float(value) for value in re.split(r"[ ,]+", values.strip())]
        if name == "translate":
            canvas.translate(*numbers)
        else:
            canvas.rotate(numbers[0] * 3.141592653589793 / 180)


def outline(shape: ET.Element, name: str, canvas: Any) -> None:
    """The path of a box, a line, or of pieces of lines (M x y L x y)."""

    def number(key: str) -> float:
        return float(shape.get(key, 0))

    if name == "rect":
        canvas.roundRect(number("x"), number("y"), number("width"), number("height"), number("rx"))
    elif name == "line":
        canvas.moveTo(number("x1"), number("y1"))
        canvas.lineTo(number("x2"), number("y2"))
    else:
        for letter, x, y in re.findall(r"([ML])\s*(-?[\d.]+)[ ,](-?[\d.]+)", shape.attrib["d"]):
            (canvas.moveTo if letter == "M" else canvas.lineTo)(float(x), float(y))


def write(element: ET.Element, canvas: Any, style: Style) -> None:
    """A text, its runs one behind the other."""
    runs: list[tuple[str, Style]] = [(element.text or "", style)]
    for part in element:
        own = {**style, **{name: part.attrib[name] for name in INHERITED if name in part.attrib}}
        runs += [(part.text or "", own), (part.tail or "", style)]
    widths = []
    for text, look in runs:
        canvas.font = font(look)
        widths.append(canvas.measureText(text).width)
    x, y = float(element.get("x", 0)), float(element.get("y", 0))
    x -= {"start": 0.0, "middle": 0.5, "end": 1.0}[element.get("text-anchor", "start")] * sum(widths)
    for (text, look), width in zip(runs, widths, strict=True):
        canvas.font, canvas.fillStyle = font(look), look.get("fill", "#000000")
        if text:
            canvas.fillText(text, x, y)
        if "text-decoration" in look and text:
            canvas.fillRect(x, y - 0.32 * pixels(look), width, 1.2)
        x += width


def font(style: Style) -> str:
    family = style.get("font-family", "sans-serif")
    return f"{style.get('font-style', 'normal')} {style.get('font-weight', '400')} {pixels(style):g}px {family}"


def pixels(style: Style) -> float:
    return float(style.get("font-size", "14"))
