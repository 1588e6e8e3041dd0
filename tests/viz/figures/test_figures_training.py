"""The figure of training: a weight is a heat cell, the mask is dashed; it says the view's numbers and no more."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from microgpt.errors import UserError
from microgpt.viz.course import page
from microgpt.viz.figures import figure
from microgpt.viz.figures.paint import HEAT
from microgpt.viz.settings import Settings
from microgpt.viz.text.formats import bound, heat, number
from tests.support.figures import SVG, drawn, placed, printed, texts, view_of

ONE = page("training")
VIEW = view_of(ONE)
HEADS = range(len(VIEW.heads))
EDGE = 936  # of the card; nothing stands right of it
NUMBER = r"−?\d+(?:\.\d+)?(?:e-\d+)?"


@pytest.mark.parametrize("i", HEADS)
def test_what_is_masked_is_dashed_and_every_weight_has_its_heat(i: int) -> None:
    drawing = drawn(ONE, {"pass-head": i})
    cells = [rect for rect in drawing.iter(f"{SVG}rect") if rect.get("height") == "35"]
    wanted = []
    for row in VIEW.heads[i]:
        wanted += [HEAT[heat(cell.level)][0] for cell in row.weights.cells]
        wanted += ["none"] * (VIEW.n - len(row.weights.cells))
    assert [cell.get("fill") for cell in cells] == wanted
    assert [bool(cell.get("stroke-dasharray")) for cell in cells] == [fill == "none" for fill in wanted]
    assert texts(drawing).count("−∞") == VIEW.masked


@pytest.mark.parametrize("i", HEADS)
def test_it_says_the_numbers_of_the_view_and_no_others(i: int) -> None:
    rows = VIEW.heads[i]
    wanted = [
        str(VIEW.first_layer),
        str(i),
        str(VIEW.masked),
        bound(VIEW.apart),
    ]  # of the line below the title, and of the caption
    wanted += [text for row in rows for text in printed(row.weights)]
    wanted += [number(x) for row in rows for x in (row.loss, row.cached)]
    said = re.findall(NUMBER, " ".join(texts(drawn(ONE, {"pass-head": i}))[:-1]))  # without the source
    assert Counter(said) == Counter(wanted)


@pytest.mark.parametrize("i", HEADS)
def test_nothing_stands_right_of_the_card(i: int) -> None:
    assert max(right for _, _, right, _ in placed(drawn(ONE, {"pass-head": i}))) <= EDGE


def test_a_head_that_is_not_there_gets_a_sentence() -> None:
    with pytest.raises(UserError, match=f"pass-head is {len(HEADS)}; this page has 0 to {len(HEADS) - 1}"):
        figure(ONE, Settings(ONE.model, ONE.prompt), {"pass-head": len(HEADS)})


def test_the_words_of_a_long_text_are_not_cut() -> None:
    tree = drawn(ONE, None, Settings("stories", " ".join(["umbrella"] * 22)))
    assert not [text for text in texts(tree)[:-1] if "…" in text]
    assert texts(tree).count("umbrella") > 3 * 22 - 1  # above its column, before its row, and as what should come
