"""Every page is sound HTML, as it is built and after each answer of Python: nothing for a browser to mend, no id twice,
no reference to what is not there. tests/browser/pages/test_validator.py holds the pages to all other rules."""

import re
from typing import Any
from xml.etree.ElementTree import Element

import pytest

from microgpt.course import LESSONS, PAGES
from microgpt.viz import show, views
from microgpt.viz.rendering.render import HERE, render_baked, render_embed, render_page
from microgpt.viz.text.language import language
from tests.support.markup import PRESSED, amiss, pressed, strict

LANGUAGES = ("en", "es")
# a word that comes twice in a row: sentences are put together from pieces, and two may have brought the same article
TWICE = re.compile(r"\b(?!the\b)([^\W\d]{2,})\s+\1\b", re.I)  # but what a model writes
# one of what is many: "after 1 rows"; not in 2 × 1 rows, W − 1 rows, and not before these
VERBS = "guess|is|goes|changes|hands|plus|yes|es|más"
ONE = re.compile(rf"(?<![\d.,×−=+÷]\s)(?<![\d.,×−])\b1 (?!(?:{VERBS})\b)[a-záéíóúñü]+s\b")
AGAIN = re.compile(r"\b((?:[^\W\d]+ )?[^\W\d]{4,}), \1\b")  # in per cent, per cent
RUN_ON = re.compile(r"\d,\d+, [−\d]")  # 0,57, 0,21: a comma between decimals that have commas of their own


def said(element: Element) -> str:
    """The words of an element, with a mark in place of each token or piece of code."""
    marks = ("bdi", "code", "style", "textarea")
    inner = (("·" if one.tag in marks else said(one)) + (one.tail or "") for one in element)
    return (element.text or "") + "".join(inner)


def slips(tree: Element) -> list[str]:
    """Counts that do not agree with their nouns, and what is said twice."""
    text = said(tree)
    return [text[max(0, one.start() - 40) : one.end()] for kind in (ONE, AGAIN) for one in kind.finditer(text)]


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_page_is_sound(page: Any, lang: str) -> None:
    with language(lang):
        tree = strict(render_page(page, views.of(page)))
    assert list(amiss(tree)) == []
    assert slips(tree) == []
    paragraphs = [said(one) for one in tree.iter("p") if one.get("class") != "key"]  # a key is no sentence
    assert [twice for one in paragraphs if (twice := TWICE.search(one))] == []
    assert lang == "en" or [run_on for one in paragraphs if (run_on := RUN_ON.search(one))] == []


@pytest.mark.slow("renders every lesson twice more")
@pytest.mark.parametrize("page", LESSONS, ids=lambda page: page.name)
def test_every_lesson_is_sound_in_a_frame_and_baked(page: Any) -> None:
    """Baked it has its text here; without it, it is the frame."""
    view = views.of(page)
    for text in (render_embed(page, view), render_baked(page, view, HERE, False, "notices <&>")):
        assert list(amiss(strict(text))) == []


@pytest.mark.parametrize("model", ["names", "names-deep", "stories"])
def test_what_a_notebook_shows_is_sound(model: str) -> None:
    shown = show("The next day" if model == "stories" else "emma", model=model)
    output = strict(f"<!doctype html><html><head><title>A notebook</title></head><body>{shown._repr_html_()}")
    assert list(amiss(output)) == []
    (frame,) = output.iter("iframe")
    assert list(amiss(strict(frame.get("srcdoc", "")))) == []


@pytest.mark.slow("renders every answer")
@pytest.mark.parametrize(("name", "hooks"), PRESSED, ids=[f"{name}-{hooks[0]}" for name, hooks in PRESSED])
def test_every_page_stays_sound_when_python_answers(name: str, hooks: tuple[str, ...]) -> None:
    for hook, tree in zip(hooks, pressed(name, hooks), strict=True):
        assert list(amiss(tree)) == [], hook
        assert slips(tree) == [], hook
