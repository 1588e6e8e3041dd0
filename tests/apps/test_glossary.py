"""The glossary: its words in the order of the alphabet, letters that lead to them, pictures that are the trace's."""

import numpy as np
import pytest

from microgpt.course import page
from microgpt.viz.drawing.heat import LEVELS
from microgpt.viz.drawing.picture import Picture
from microgpt.viz.text import glossary
from microgpt.viz.text.glossary import GLOSSARY, initials, places, sort_terms
from microgpt.viz.text.language import LANGUAGES, language, translate
from tests.support.figures import boxes_of
from tests.support.pages import find, recorded, text, tree_of, view_of

PAGE = page("glossary")
SPANISH = "abcdefghijklmnñopqrstuvwxyz"


TRACE = recorded(PAGE.model, PAGE.prompt).trace
MACHINE = Picture(TRACE)
LAYER, HEAD = MACHINE.clearest


def rows(slug: str, *kinds: str) -> list[tuple[float, float, float, float]]:
    """The boxes of these kinds in a picture: x, y, width, height; from top to bottom."""
    found = [box for kind, boxes in boxes_of(view_of(PAGE).picture(slug)).items() if kind in kinds for box in boxes]
    return sorted(found, key=lambda box: (box[1], box[0]))


def test_every_word_has_a_picture_within_its_frame_which_speaks_the_language_of_the_page() -> None:
    for slug in GLOSSARY:
        picture = view_of(PAGE).picture(slug)
        boxes = [box for found in boxes_of(picture).values() for box in found]
        assert picture.shapes and all(
            x >= -1 and y >= -1 and x + w <= picture.width + 2 and y + h <= picture.height + 1 for x, y, w, h in boxes
        ), slug
    with language("es"):
        assert {one.runs[0].text for one in view_of(PAGE).picture("score").letters} == {"0,15"}


@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_letter_leads_to_its_first_word_and_no_letter_is_left_out(lang: str) -> None:
    slugs = [e.get("id") for e in find(tree_of(PAGE, lang), "glossary")[0] if e.tag == "div"]
    (letters,) = find(tree_of(PAGE, lang), "letters")
    found = {text(e): (e[0].get("href") or "").removeprefix("#") for e in letters.iter("li")}
    with language(lang):
        assert list(found) == list(translate([glossary.ALPHABET])[0])
        shown = [translate([GLOSSARY[slug].word])[0] for slug in slugs if slug]
    assert len(shown) == len(GLOSSARY)
    for letter, slug in found.items():
        begun = [one for one, word in zip(slugs, shown, strict=True) if word.lower()[0] == letter]
        assert slug == (begun[0] if begun else "")
    found_in = [(e.get("value"), text(e)) for e in next(letters.iter("select")) if e.get("value")]
    assert found_in == list(zip(slugs, shown, strict=True))
    off = [e for e in letters.iter("li") if e[0].tag == "span"]
    assert 0 < len(off) < len(found)


def test_words_stand_as_in_a_dictionary_of_their_language() -> None:
    words = ["ñu", "nube", "ola", "árbol", "azul", "arco", "caché KV", "cache", "oración"]
    right = ["árbol", "arco", "azul", "cache", "caché KV", "nube", "ñu", "ola", "oración"]
    assert sorted(words, key=lambda word: places(word, SPANISH)) == right
    with language("es"):
        assert [letter for letter, _ in initials()] == list(SPANISH)
        assert [translate([term.word])[0] for term in sort_terms()][0] == "absorción"


def test_weights_are_as_thick_as_they_are() -> None:
    weights = TRACE["attn_weights", MACHINE.about["n_prompt"] - 1, LAYER][HEAD, 0][::-1]  # the newest on top
    bands = [box[3] for box in rows("attention", "q f3")]
    whole = rows("weight", "v f0")[0][3]
    assert np.abs(np.array(bands) / whole - weights).max() <= 0.1 / whole + 1e-9
    said = [float(one.runs[0].text) for one in sorted(view_of(PAGE).picture("weight").letters, key=lambda one: one.y)]
    assert np.abs(np.array(said) - weights).max() <= 0.005
    assert [box[3] for box in rows("weight", "v f3")] == bands


def test_a_cell_is_filled_as_far_as_its_number() -> None:
    for owner, slug in (("k", "key"), ("v", "value")):
        cells = iter(rows(slug, f"{owner} f0"))
        filled = rows(slug, f"{owner} f2")
        assert filled
        for i in reversed(range(MACHINE.about["n_prompt"])):
            for value in TRACE[owner, i, LAYER][0, HEAD].tolist():
                x, y, width, height = next(cells)
                level = MACHINE.scale.cell(value).level
                high = round(height * abs(level) / LEVELS)
                inside = [box for box in filled if box[0] == x and y <= box[1] < y + height]
                assert [(box[2], box[3]) for box in inside] == ([(width, high)] if high else [])
                assert not high or (inside[0][1] == y) == (value < 0 or high == height)
        assert list(cells) == []
