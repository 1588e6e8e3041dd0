"""The kit of all drawings: text that fits, places, and three ways to write the same pieces."""

import xml.etree.ElementTree as ET
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from microgpt.course import LESSONS
from microgpt.viz.drawing.kit.canvas import paint
from microgpt.viz.drawing.kit.paint import SMALL
from microgpt.viz.drawing.kit.pieces import Sheet
from microgpt.viz.drawing.kit.places import Box, hatch
from microgpt.viz.drawing.kit.svg import drawing
from microgpt.viz.drawing.kit.words import TextRun, bold, extent, fit, lines, runs, strike, token
from microgpt.viz.page import Page
from microgpt.viz.settings import Settings
from microgpt.viz.text.formats import show, whole
from microgpt.viz.text.language import language
from tests.support.figures import SVG, svg


@given(st.text(max_size=40), st.integers(0, 300))
def test_what_is_fitted_fits(text: str, width: int) -> None:
    assert extent(fit(text, width), SMALL) <= max(width, extent("…", SMALL))


@given(st.lists(st.sampled_from(["one", bold("two"), token("<s>"), "three", "x" * 80]), max_size=20))
def test_a_sentence_is_broken_between_words(parts: list[str]) -> None:
    for line in lines(" ".join(parts), 300, 17):
        assert sum(extent(run.text, 17, run.kind) for run in line) <= 310
        assert line[0].text[:1] != " "


def test_no_line_ends_within_a_number() -> None:
    with language("es"):
        text = " ".join(whole(4_997_120) for _ in range(20))
    said = [word for line in lines(text, 300, 17) for run in line for word in run.text.split(" ") if word]
    assert set(said) == {"4\u202f997\u202f120"}


def test_runs_keep_tokens_and_what_is_bold_and_no_token_can_end_its_run() -> None:
    end = token("")[-1]
    assert end not in show(f"a{end}")
    sentence = f"a {token('<b>&lt;')} {bold('c')}."
    assert runs(sentence) == [
        TextRun("a ", ""),
        TextRun("<b>&lt;", "tok bold"),
        TextRun(" ", ""),
        TextRun("c", "bold"),
        TextRun(".", ""),
    ]


@given(st.integers(0, 50), st.integers(0, 50), st.integers(1, 300), st.integers(1, 60))
def test_hatching_stays_in_its_box(x: int, y: int, w: int, h: int) -> None:
    points = [point for line in hatch(Box(x, y, w, h)) for point in line]
    assert all(x <= a <= x + w and y <= b <= y + h for a, b in points)


def test_a_group_holds_what_is_drawn_within_and_the_ground_lies_below_what_came_before_it_was_drawn() -> None:
    sheet = Sheet()
    ground = sheet.ground()
    sheet.group(5, 6, turn=-45, caller=lambda: sheet.t(0, 0, "a<b", "tok"))
    ground.box(1, 2, 3, 4, "wash")
    tree = ET.fromstring(drawing(9, 9, sheet.pieces, "en", "title"))
    rect, group = list(tree)[1:]
    assert (rect.tag, group.tag, group.get("transform")) == (f"{SVG}rect", f"{SVG}g", "translate(5 6) rotate(-45)")
    assert "".join(group.itertext()).strip() == "a<b"


# ---- on a canvas ----------------------------------------------------------------------------------


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


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda p: p.name)
def test_everything_that_the_figure_shows_is_painted(lesson: Page) -> None:
    found, canvas = svg(lesson, Settings(lesson.model, lesson.prompt), (), "en"), Canvas()
    paint(found.pieces, canvas, 2)
    tree = ET.fromstring(found)
    shown = ["".join(e.itertext()) for e in tree.iter(SVG + "text")]
    assert "".join(text for text, *_ in canvas.of("fillText")) == "".join(shown)
    assert len(canvas.of("roundRect")) == len(list(tree.iter(SVG + "rect")))
    strokes = [e for e in tree.iter() if e.get("stroke") and e.tag != SVG + "svg"]
    assert len(canvas.of("stroke")) == len(strokes)
    assert len(canvas.of("save")) == len(canvas.of("restore"))
    assert canvas.of("scale")[0] == (2, 2)
    assert (found.width, found.height) == (int(tree.attrib["width"]), int(tree.attrib["height"]))


def test_a_text_stands_where_its_anchor_says_and_its_runs_follow_each_other() -> None:
    canvas, sheet = Canvas(), Sheet()
    sheet.line(100, 9, [TextRun("ab", ""), *strike("cd e")], "end")
    paint(sheet.pieces, canvas, 1)
    assert canvas.of("fillText") == [("ab", 40.0, 9), ("cd", 60.0, 9), (" e", 80.0, 9)]
    assert [values[0] for values in canvas.of("fillRect")] == [60.0]
