"""The glossary: its words in the order of the alphabet, letters that lead to them, pictures that are the trace's."""

import re
from functools import cache

import numpy as np
import pytest

from microgpt.course import page
from microgpt.trace import Trace
from microgpt.viz.drawing.heat import LEVELS
from microgpt.viz.drawing.picture import Picture
from microgpt.viz.rendering.render import LANGUAGES, language
from microgpt.viz.settings import Settings
from microgpt.viz.text import glossary
from microgpt.viz.text.glossary import GLOSSARY, initials, ordered, places
from microgpt.viz.text.language import translated
from microgpt.weights import shipped
from tests.support.pages import find, text, tree_of, view_of

PAGE = page("glossary")
SPANISH = "abcdefghijklmnñopqrstuvwxyz"


@cache
def trace() -> Trace:
    return Settings(PAGE.model, PAGE.prompt).trace()


def rows(slug: str, *kinds: str) -> list[tuple[int, int, int, int]]:
    """The boxes of these kinds in a picture: x, y, width, height; from top to bottom."""
    found = []
    for shape in view_of(PAGE).pictures[slug].shapes:
        if shape.kind in kinds:
            x = y = 0
            for dx, dy, width, height in re.findall(r"m(-?\d+) (-?\d+)h(\d+)v(\d+)", shape.path):
                x, y = x + int(dx), y + int(dy)
                found.append((x, y, int(width), int(height)))
    return sorted(found, key=lambda box: (box[1], box[0]))


def test_every_word_has_a_picture() -> None:
    assert set(view_of(PAGE).pictures) == set(GLOSSARY)
    assert all(picture.shapes for picture in view_of(PAGE).pictures.values())


@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_letter_leads_to_its_first_word_and_no_letter_is_left_out(lang: str) -> None:
    slugs = [e.get("id") for e in find(tree_of(PAGE, lang), "glossary")[0] if e.tag == "div"]
    (letters,) = find(tree_of(PAGE, lang), "letters")
    found = {text(e): (e[0].get("href") or "").removeprefix("#") for e in letters.iter("li")}
    with language(lang):
        assert list(found) == list(translated([glossary.ALPHABET])[0])
        shown = [translated([GLOSSARY[slug].word])[0] for slug in slugs if slug]
    assert len(shown) == len(GLOSSARY)
    for letter, slug in found.items():
        begun = [one for one, word in zip(slugs, shown, strict=True) if word.lower()[0] == letter]
        assert slug == (begun[0] if begun else "")
    off = [e for e in letters.iter("li") if e[0].tag == "span"]
    assert 0 < len(off) < len(found)


def test_words_stand_as_in_a_dictionary_of_their_language() -> None:
    words = ["ñu", "nube", "ola", "árbol", "azul", "arco", "caché KV", "cache", "oración"]
    right = ["árbol", "arco", "azul", "cache", "caché KV", "nube", "ñu", "ola", "oración"]
    assert sorted(words, key=lambda word: places(word, SPANISH)) == right
    with language("es"):
        assert [one.letter for one in initials()] == list(SPANISH)
        assert [translated([term.word])[0] for term in ordered()][0] == "atención"


def test_weights_are_as_thick_as_they_are() -> None:
    picture = Picture(trace())
    layer, head = picture.clearest
    n = picture.about["n_prompt"]
    weights = trace()["attn_weights", n - 1, layer][head, 0][::-1]  # the newest on top
    bands = [box[3] for box in rows("attention", "q f3")]
    whole = rows("weight", "v f0")[0][3]
    assert np.abs(np.array(bands) / whole - weights).max() <= 0.51 / whole + 1e-9
    said = [float(one.text) for one in sorted(view_of(PAGE).pictures["weight"].letters, key=lambda one: one.y)]
    assert np.abs(np.array(said) - weights).max() <= 0.005
    assert [box[3] for box in rows("weight", "v f3")] == bands


def test_a_cell_is_filled_as_far_as_its_number() -> None:
    picture = Picture(trace())
    layer, head = picture.clearest
    for owner, slug in (("k", "key"), ("v", "value")):
        shelves = rows(slug, f"{owner} f0")
        values = [trace()[owner, i, layer][0, head] for i in range(len(shelves))][::-1]
        for (x, y, width, height), row in zip(shelves, values, strict=True):
            each = width // len(row)
            cells = {(box[0] - x) // each: box for box in rows(slug, f"{owner} f2") if y <= box[1] < y + height}
            for at, value in enumerate(row.tolist()):
                level = picture.scale.cell(value).level
                high = round(height * abs(level) / LEVELS)
                assert cells.get(at, (0, 0, 0, 0))[3] == high
                assert not high or (cells[at][1] == y) == (value < 0 or high == height)


def test_a_cache_grows_and_a_mask_hides_what_comes_later() -> None:
    assert len(rows("recompute", "new")) == len({y for _, y, _, _ in rows("recompute", "new")})
    for _, y, _, _ in rows("recompute", "new"):
        newest = next(box for box in rows("recompute", "new") if box[1] == y)
        assert all(box[0] < newest[0] for box in rows("recompute", "again") if box[1] == y)
    seen, hidden = rows("mask", "q f1", "q f2", "q f3"), rows("mask", "none")
    for y in {box[1] for box in seen}:
        after = [box[0] for box in hidden if box[1] == y]
        assert all(box[0] < x for box in seen if box[1] == y for x in after)
    assert len(hidden) == len(seen) - len({box[1] for box in seen})


def test_shared_heads_are_as_many_as_in_the_model() -> None:
    config = shipped("stories").config
    for slug, n in (("gqa", config.n_kv_head), ("mqa", 1)):
        assert len(rows(slug, "q f3")) == config.n_head
        assert len(rows(slug, "k f3")) == len(rows(slug, "v f3")) == n


def test_the_blocks_of_a_table_are_those_that_the_text_holds() -> None:
    """Two texts in turns, a row a block: every second block is that of the first."""
    every = rows("block-table", "new", "kept")
    assert [box in rows("block-table", "new") for box in every] == [True, False] * 4
    assert [one.text for one in view_of(PAGE).pictures["block-table"].letters] == ["0", "2", "4", "6"]


def test_a_prefix_cache_finds_all_but_the_last() -> None:
    new, kept = rows("prefix-cache", "new"), rows("prefix-cache", "kept")
    first = min(box[1] for box in new)
    assert [len([box for box in new if box[1] == first]), len(new), len(kept)] == [4, 5, 3]
    assert all(box[1] > first for box in kept) and max(box[0] for box in kept) < max(box[0] for box in new)
