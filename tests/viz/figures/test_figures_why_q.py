"""The figure of why-q: a cell is coloured where a row was read; it says the view's numbers and no others."""

from __future__ import annotations

import re
from collections import Counter
from xml.etree.ElementTree import Element

import pytest

from microgpt.errors import UserError
from microgpt.viz.course import page
from microgpt.viz.figures import figure
from microgpt.viz.figures.paint import INK
from microgpt.viz.lessons import why_q
from microgpt.viz.settings import Settings
from microgpt.viz.text.formats import bound, number
from microgpt.viz.text.language import LANGUAGES, language
from microgpt.weights import shipped
from tests.support.figures import SVG, drawn, placed, printed, texts, view_of

ONE = page("why-q")
VIEW = view_of(ONE)
EDGE = 936  # of the card; nothing stands right of it
NUMBER = r"−?\d+(?:\.\d+)?(?:e-\d+)?"


def longest() -> Settings:
    """The longest words of the stories, as many as there is room for."""
    model = shipped("stories")
    words = sorted((t for t in model.tokenizer.vocabulary if t != "<s>"), key=len)[-12:]
    return Settings("stories", " ".join((words * 3)[: model.config.n_ctx - 1]))


def tracks(tree: Element) -> list[str | None]:
    """The colours of the cells of all tracks, from the first row's q to the last row's v."""
    return [rect.get("fill") for rect in tree.iter(f"{SVG}rect") if rect.get("height") == "12"]


@pytest.mark.parametrize("i", range(VIEW.n))
def test_a_cell_is_coloured_where_its_row_was_read(i: int) -> None:
    fills = iter(tracks(drawn(ONE, {"old": i})))
    for life in VIEW.lives:
        for kind, read, count in life.tracks:
            cells = [next(fills) for _ in read]
            assert [fill == INK[kind] for fill in cells] == read
            assert cells.count(INK[kind]) == count
    assert list(fills) == []


@pytest.mark.parametrize("i", range(VIEW.n))
def test_it_says_the_numbers_of_the_view_and_no_others(i: int) -> None:
    old = VIEW.olds[i]
    wanted = [str(j + 1) for j in range(VIEW.n)]
    wanted += [x for life in VIEW.lives for x in (str(life.i), *(str(count) for _, _, count in life.tracks))]
    wanted += [str(i), *printed(old.q[0]), bound(old.difference)]
    wanted += [number(weight) for _, weight in old.asked]
    wanted += [str(i), str(old.later), str(old.later_reads)]  # of the caption
    said = re.findall(NUMBER, " ".join(texts(drawn(ONE, {"old": i}))[:-1]))  # without the source
    assert Counter(said) == Counter(wanted)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_longest_text_is_neither_cut_nor_beyond_the_card(lang: str) -> None:
    n = len(why_q.view(longest()).lives)
    assert n == shipped("stories").config.n_ctx
    with language(lang):
        tree = drawn(ONE, {"old": n - 1}, longest())
    assert max(right for _, _, right, _ in placed(tree)) <= EDGE
    assert not [text for text in texts(tree)[:-1] if "…" in text]


def test_a_row_that_is_not_there_gets_a_sentence() -> None:
    with pytest.raises(UserError, match=f"old is {VIEW.n}; this page has 0 to {VIEW.n - 1}"):
        figure(ONE, Settings(ONE.model, ONE.prompt), {"old": VIEW.n})
