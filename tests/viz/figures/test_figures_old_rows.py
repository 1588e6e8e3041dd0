"""The figure of old-rows: what is stale is hatched, what is new is lit; it says the view's numbers and no more."""

from __future__ import annotations

import re
from collections import Counter
from xml.etree.ElementTree import Element

import pytest

from microgpt.errors import UserError
from microgpt.viz.course import page
from microgpt.viz.figures import figure
from microgpt.viz.figures.layout import length
from microgpt.viz.figures.paint import INK
from microgpt.viz.settings import Settings
from microgpt.viz.text.formats import difference, percent
from microgpt.viz.text.language import LANGUAGES, language
from tests.support.figures import SVG, drawn, placed, texts, view_of

ONE = page("old-rows")
VIEW = view_of(ONE)
CASES = range(len(VIEW.experiments))
EDGE = 936  # of the card; nothing stands right of it
NUMBER = r"−?\d+(?:\.\d+)?(?:e-\d+)?"


def hatched(tree: Element) -> list[int]:
    """How long each hatched bar is."""
    rects = [r for r in tree.iter(f"{SVG}rect") if r.get("fill") == "none" and r.get("height") == "10"]
    assert len(rects) == len(list(tree.iter(f"{SVG}path")))
    return [int(rect.get("width", 0)) for rect in rects]


@pytest.mark.parametrize("i", CASES)
def test_a_stale_row_is_hatched_as_far_as_it_is_off(i: int) -> None:
    one = VIEW.experiments[i]
    found = hatched(drawn(ONE, {"experiment": i}))
    percents = [percent(share) for row in one.rows for off, share in row.off if off]
    assert len(found) == one.n_stale == len(percents)
    assert found == [length(percent, max(found)) for percent in percents]


@pytest.mark.parametrize("i", CASES)
def test_what_stands_there_now_is_lit_if_it_is_new(i: int) -> None:
    tree = drawn(ONE, {"experiment": i})
    lit = [rect for rect in tree.iter(f"{SVG}rect") if rect.get("fill") == INK["new"]]
    assert len(lit) == sum(row.changed for row in VIEW.experiments[i].rows)


@pytest.mark.parametrize("i", CASES)
def test_it_says_the_numbers_of_the_view_and_no_others(i: int) -> None:
    one, layers = VIEW.experiments[i], [str(layer) for layer in range(VIEW.n_layer)]
    wanted = [*layers, *layers, *map(str, one.stale_by_layer), *(str(row.i) for row in one.rows)]
    wanted += [found for row in one.rows for off, _ in row.off if off for found in re.findall(NUMBER, difference(off))]
    wanted += [str(one.at)] if one.kind in ("append", "unmasked", "change") else []
    wanted += [str(one.at)] if one.kind in ("change", "move") else []  # in what is on the button
    wanted += [str(one.n_stale), str(one.n_rows)]
    said = re.findall(NUMBER, " ".join(texts(drawn(ONE, {"experiment": i}))[:-1]))  # without the source
    assert Counter(said) == Counter(wanted)


@pytest.mark.parametrize("i", CASES)
def test_nothing_stands_right_of_the_card(i: int) -> None:
    assert max(right for _, _, right, _ in placed(drawn(ONE, {"experiment": i}))) <= EDGE


def test_an_experiment_that_is_not_there_gets_a_sentence() -> None:
    with pytest.raises(UserError, match=f"experiment is {len(CASES)}; this page has 0 to {len(CASES) - 1}"):
        figure(ONE, Settings(ONE.model, ONE.prompt), {"experiment": len(CASES)})


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize(("prompt", "case"), [(ONE.prompt, VIEW.first_change), ("opqrstuvwxyzopq", 1)])
def test_no_count_is_cut(lang: str, prompt: str, case: int) -> None:
    with language(lang):
        tree = drawn(ONE, {"experiment": case}, Settings(ONE.model, prompt))
    assert not [text for text in texts(tree)[:-1] if "…" in text]
