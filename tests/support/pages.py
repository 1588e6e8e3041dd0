"""Pages as they are built, parsed: what is found in them by class, what they say, and the numbers in it."""

import re
from collections.abc import Sequence
from copy import deepcopy
from functools import cache, lru_cache
from typing import Any
from xml.etree.ElementTree import Element

import html5lib
import numpy as np
import pytest

from microgpt.course import page as page_named
from microgpt.record import Recording
from microgpt.viz import views
from microgpt.viz.page import Page
from microgpt.viz.rendering.render import prose, render_page, widget
from microgpt.viz.settings import Settings
from microgpt.viz.text.language import language
from microgpt.weights import shipped
from tests.support.given.quick import quick

Run = tuple[Any, Element]  # a view, and the widget that it makes


def parse(text: str) -> Element:
    """The page; of a piece of one, as if it were all that its page holds."""
    tree = quick(text)
    if tree is None and re.match(r"\s*<(article|aside|div|fieldset|figure|form|nav|ol|p|section|table|ul)\b", text):
        tree = quick(text.lstrip(), "body")
        if tree is not None:
            tree.tag, inside = "body", tree
            tree = Element("html")
            tree.extend([Element("head"), inside])
    return html5lib.parse(text, namespaceHTMLElements=False) if tree is None else tree


def by_name(one: Any) -> str | None:
    """The name of a page, as the id of a case."""
    return getattr(one, "name", None)


def classes(element: Element) -> set[str]:
    return set(element.get("class", "").split())


def find(tree: Element, *wanted: str) -> list[Element]:
    return [e for e in tree.iter() if set(wanted) <= classes(e)]


def text(element: Element) -> str:
    return "".join(element.itertext())


def folded(element: Element) -> str:
    """Its text, with one space for each run of white space."""
    return " ".join(text(element).split())


def numbers(element: Element) -> list[float]:
    """All numbers in an element's text; a true minus and thousands separators are understood."""
    found = re.findall(r"[−]?\d[\d,]*(?:\.\d+)?", text(element))
    return [float(x.replace("−", "-").replace(",", "")) for x in found]


def cells(table: Element) -> list[list[str]]:
    """What stands in the cells of a table, row by row."""
    return [[text(e).strip() for e in row if e.tag in ("th", "td")] for row in table.iter("tr")]


def numbers_of(strip: Element) -> list[float]:
    """The number of each cell."""
    return [numbers(cell)[0] for cell in strip]


def shown_as(shown: list[float], values: np.ndarray, digits: int) -> None:
    """`shown` are `values`, rounded to `digits` decimals."""
    assert len(shown) == values.size
    assert np.abs(np.array(shown) - values.ravel()).max() <= 0.5 * 10**-digits + 1e-9


def view_of(page: Page | str) -> Any:
    """The view that a page is built from, made once."""
    return views.of(page_named(page) if isinstance(page, str) else page)


@cache
def tree_of(page: Page | str, lang: str = "en") -> Element:
    """A page of the site as it is built, for all to read and none to change."""
    with language(lang):
        return parse(render_page(page_named(page) if isinstance(page, str) else page, view_of(page)))


@cache
def by_id(page: Page | str, lang: str = "en") -> dict[str, Element]:
    return {name: element for element in tree_of(page, lang).iter() if (name := element.get("id"))}


@cache
def said_on(page: Page | str, lang: str = "en") -> dict[str, str]:
    """What each element with an id says."""
    return {name: folded(element) for name, element in by_id(page, lang).items()}


def prose_without(page: Page | str, *kinds: str, lang: str = "en") -> Element:
    """What stands below the picture of a lesson, without elements of these classes."""
    prose = deepcopy(by_id(page, lang)["prose"])
    for above in [*prose.iter()]:
        for one in [child for child in above if classes(child) & {*kinds}]:
            above.remove(one)
    return prose


@lru_cache(maxsize=8)
def drawn(lesson: str, model: str, prompt: str) -> Run:
    """The view of a lesson for a text of that model, and its figures: the widget, and those that stand in its text."""
    one = page_named(lesson)
    view = views.view(one.widget, Settings(model, prompt))
    tree = parse(widget(one.widget, view, page=one))
    below = prose(one.widget, view, page=one)
    tree.extend(find(parse(below), "figure") if 'class="figure' in below else [])
    return view, tree


@lru_cache(maxsize=8)
def recorded(model: str, prompt: str) -> Recording:
    """A run of its own, to its end."""
    made = Recording(shipped(model), prompt)
    made.run()
    return made


def recording_of(view: Any) -> Recording:
    """The same run once more, apart from the view."""
    return recorded(view.trace.about["model"], view.trace.about["prompt"])


def prose_of(lesson: str, model: str, prompt: str) -> str:
    """The HTML below that widget, with one space for each run of white space."""
    one = page_named(lesson)
    return " ".join(prose(one.widget, drawn(lesson, model, prompt)[0], page=one).split())


def runs(lesson: str, texts: Sequence[tuple[str, str]]) -> Any:
    """A fixture: what `drawn` gives for each model and text; by day for the first and the last."""
    later = pytest.mark.thorough("the same of other texts")
    some = [pytest.param(one, marks=() if one in (texts[0], texts[-1]) else later) for one in texts]

    @pytest.fixture(scope="module", params=some, ids=lambda one: f"{one[0]}-{one[1][:7]}")
    def run(request: pytest.FixtureRequest) -> Run:
        return drawn(lesson, *request.param)

    return run
