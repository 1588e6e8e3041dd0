"""What is painted on a canvas is what the SVG holds."""

import xml.etree.ElementTree as ET
from typing import Any

import pytest

from microgpt.course import LESSONS
from microgpt.viz.figures import figure
from microgpt.viz.figures.canvas import paint, size
from microgpt.viz.page import Page
from microgpt.viz.settings import Settings

SVG = "{http://www.w3.org/2000/svg}"


class Canvas:
    """Writes down what it is told; measures every letter as ten wide."""

    def __init__(self) -> None:
        self.said: list[tuple[str, tuple[Any, ...]]] = []
        self.globalAlpha = 1.0

    def __getattr__(self, name: str) -> Any:
        return lambda *values: self.said.append((name, values))

    def measureText(self, text: str) -> Any:
        return type("Metrics", (), {"width": 10 * len(text)})

    def of(self, name: str) -> list[tuple[Any, ...]]:
        return [values for said, values in self.said if said == name]


def painted(lesson: Page) -> tuple[ET.Element, Canvas, str]:
    svg, canvas = figure(lesson, Settings(lesson.model, lesson.prompt)), Canvas()
    paint(svg, canvas, 2)
    return ET.fromstring(svg), canvas, svg


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda p: p.name)
def test_everything_that_the_figure_shows_is_painted(lesson: Page) -> None:
    tree, canvas, svg = painted(lesson)
    shown = ["".join(e.itertext()) for e in tree.iter(SVG + "text")]
    assert "".join(text for text, *_ in canvas.of("fillText")) == "".join(shown)
    assert len(canvas.of("roundRect")) == len(list(tree.iter(SVG + "rect")))
    strokes = [e for e in tree.iter() if e.get("stroke") and e.tag != SVG + "svg"]
    assert len(canvas.of("stroke")) == len(strokes)
    assert len(canvas.of("save")) == len(canvas.of("restore"))
    assert canvas.of("scale") == [(2, 2)]
    assert size(svg) == (int(tree.attrib["width"]), int(tree.attrib["height"]))


def test_a_text_stands_where_its_anchor_says_and_its_runs_follow_each_other() -> None:
    canvas = Canvas()
    text = '<text x="100" y="9" text-anchor="end">ab<tspan text-decoration="line-through">cd</tspan>e</text>'
    paint(f'<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9">{text}</svg>', canvas, 1)
    assert canvas.of("fillText") == [("ab", 50.0, 9.0), ("cd", 70.0, 9.0), ("e", 90.0, 9.0)]
    assert [values[0] for values in canvas.of("fillRect")] == [70.0]
