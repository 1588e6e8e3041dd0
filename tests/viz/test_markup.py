"""Every page is sound HTML, as it is built and after each answer of Python: nothing for a browser to mend, no id twice,
no reference to what is not there. tests/browser/pages/test_validator.py holds the pages to all other rules."""

import re
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

import html5lib
import pytest
from html5lib.html5parser import ParseError

from microgpt.course import LESSONS, PAGES
from microgpt.viz import show, views
from microgpt.viz.rendering.render import HERE, render_baked, render_embed, render_page
from microgpt.viz.text.language import folder
from microgpt.weights import SHIPPED
from tests.support.given.quick import quick
from tests.support.markup import PRESSED, amiss, pressed, strict
from tests.support.pages import by_name
from tests.support.sampled import sampled

LANGUAGES = ("en", "es")
# a word that comes twice in a row: sentences are put together from pieces, and two may have brought the same article
TWICE = re.compile(r"\b(?!(?:the|alto)\b)([^\W\d]{2,})\s+\1\b", re.I)  # but what our models write
OFTEN = re.compile(r"\b([^\W\d]{2,})(?:\s+\1\b){2,}", re.I)  # so writes a model that has lost its way
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


EACH, LATER = [(page, lang) for lang in LANGUAGES for page in PAGES], "in the other language"


@pytest.mark.parametrize(
    ("page", "lang"), sampled(EACH, EACH[: len(PAGES)] + EACH[len(PAGES) + 1 :: 3], LATER), ids=by_name
)
def test_every_page_is_sound(page: Any, lang: str, site: Path) -> None:
    html = (site / folder(lang) / f"{page.name}.html").read_text("utf-8")
    assert re.findall(r"\w+[.!?]<a [^>]*>[^<]*", html) == []  # a link after a sentence, and no space between them
    tree = strict(html)
    assert list(amiss(tree)) == []
    assert slips(tree) == []
    sentences = [one for one in tree.iter("p") if one.get("class") != "key"]  # a key is none
    paragraphs = [OFTEN.sub("·", said(one)) for one in sentences]
    assert [twice for one in paragraphs if (twice := TWICE.search(one))] == []
    assert lang == "en" or [run_on for one in paragraphs if (run_on := RUN_ON.search(one))] == []


@pytest.mark.slow("renders every lesson twice more")
@pytest.mark.parametrize(
    "page", sampled(LESSONS, LESSONS[1::4], "the same around another lesson"), ids=lambda p: p.name
)
def test_every_lesson_is_sound_in_a_frame_and_baked(page: Any) -> None:
    """Baked it has its text here; without it, it is the frame."""
    view = views.of(page)
    for text in (render_embed(page, view), render_baked(page, view, HERE, False, "notices <&>")):
        assert list(amiss(strict(text))) == []


@pytest.mark.parametrize("model", sampled(SHIPPED, ["stories"], "the same with fewer heads"))
def test_what_a_notebook_shows_is_sound(model: str) -> None:
    shown = show("The next day" if model == "stories" else "emma", model=model)
    output = strict(f"<!doctype html><html><head><title>A notebook</title></head><body>{shown._repr_html_()}")
    assert list(amiss(output)) == []
    (frame,) = output.iter("iframe")
    assert list(amiss(strict(frame.get("srcdoc", "")))) == []


@pytest.mark.slow("renders every answer")
@pytest.mark.parametrize(("name", "hooks"), sampled(PRESSED, PRESSED[::4], "answers of other lessons"), ids=by_name)
def test_every_page_stays_sound_when_python_answers(name: str, hooks: tuple[str, ...]) -> None:
    for hook, tree in zip(hooks, pressed(name, hooks), strict=True):
        assert list(amiss(tree)) == [], hook
        assert slips(tree) == [], hook


# ---- the parser ------------------------------------------------------------------------------------

MENDED = """
<p>a<div>b</div></p>|<div>a|a</div>|<ul><li>a<li>b</ul></div>|<b><i>a</b></i>|<a href="x"><b><a href="y">a</a></b></a>
<table>a</table>|<table><tr><td>a</td></tr>b</table>|<table><div>a</div></table>|<form><div><form></form></div></form>
<h2><h3>a</h3></h2>|<button><span><button>a</button></span></button>|<select><div>a</div></select>|<div/>|&nbsp
<input a="1" a="2">|a & &b|&#0;|\x01|<br></br>|</p>|<svg><div>a</div></svg>|<svg><g></svg>|<td>a</td>
<svg><p>a</p></svg>|<div a=">|<p a=b"c>d</p>|<style>|<textarea>|</body>a|<body>|<html><p>|<head>|<!x>|<nav></nav
"""
SHELL = "<!doctype html>\n<html lang='en'>\n<head>\n<title>a</title>\n</head>\n<body>{}</body>\n</html>\n".replace(
    "'", '"'
)


def same(one: Element, other: Element) -> bool:
    said = [(e.tag, e.attrib, e.text or "", e.tail or "") for e in (one, other)]
    return said[0] == said[1] and len(one) == len(other) and all(map(same, one, other))


def test_of_what_a_browser_would_mend_nothing_is_said_quickly() -> None:
    """html5lib is asked, in its strict form."""
    assert quick(SHELL.format("<p>a</p>")) is not None and quick("<tr><td>a</td></tr>", "tbody") is not None
    texts = [SHELL.format(wrong) for wrong in MENDED.strip().replace("\n", "|").split("|")]
    assert [text for text in (*texts, SHELL.format("") + "a", "<p>a</p>") if quick(text) is not None] == []
    assert quick("<p>a</p>", "tbody") is quick("a", "tr") is None
    with pytest.raises(ParseError):
        strict(texts[0])


BOTH = [page for page in PAGES if page.name in ("inside", "memory")]


@pytest.mark.parametrize(
    "page", sampled(PAGES, BOTH, "by day two show that both parsers see the same"), ids=lambda p: p.name
)
def test_a_page_that_is_parsed_quickly_is_what_html5lib_makes_of_it(page: Any) -> None:
    text = render_page(page, views.of(page))
    assert (found := quick(text)) is None or same(found, html5lib.parse(text, namespaceHTMLElements=False))
