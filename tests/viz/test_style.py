"""A page carries the rules of its own lesson or app and no other's; what all share is small."""

import gzip
import re
from functools import cache
from pathlib import Path

import pytest

from microgpt.course import PAGES
from microgpt.viz import views
from microgpt.viz.page import Page
from microgpt.viz.rendering.render import where
from microgpt.viz.rendering.style import minify, own_style, style
from microgpt.viz.text.language import LANGUAGES
from microgpt.viz.text.language import folder as folder_of
from tests.support.templates import templates

# bytes of a page and the shared style, each gzip: no page has 100,000, in any language
MOST = {"inside": 75_000, "kv-cache": 67_000, "kv-cache-words": 100_000, "own-model": 82_000, "many-at-once": 44_000}
MOST |= {"chat-turn": 98_000, "model-that-talks": 99_900}  # heads of a model with rows of 576 numbers
MOST |= {"chat-turn-numbers": 50_000, "model-that-talks-numbers": 95_000, "workbench": 76_000}
MOST |= {"bugs": 50_000}  # with 29 pictures
MOST |= {"train-your-own": 44_000}  # the machine is drawn there when asked for
ELSE = 40_000


def rules(text: str) -> list[str]:
    """The lines that are a whole rule."""
    return [line for line in minify(text).splitlines() if re.match(r"[.#].*\}$", line)]


@cache
def packed(text: str) -> int:
    return len(gzip.compress(text.encode(), 9))


STYLES = {path.parent: rules(path.read_text("utf-8")) for path in templates("css") if path.name == "style.css"}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_carries_its_own_rules_and_no_others_and_weighs_little(page: Page, site: Path) -> None:
    own, shared = own_style(page), style()
    mine = {where(f"{folder}/style.css").parent for folder in (page.folder, *page.styles)}
    assert {where(f"{folder}/style.css").parent for folder in page.styles} <= STYLES.keys()
    for folder, of_folder in STYLES.items():
        assert [rule for rule in of_folder if (rule in own) != (folder in mine) or rule in shared] == []
    for lang in LANGUAGES:
        html = (site / folder_of(lang) / f"{page.name}.html").read_text("utf-8")
        assert own_style(page) in html
        assert packed(html) + packed(style()) < MOST.get(page.name, ELSE), lang


def test_no_page_may_weigh_more_than_100_kb() -> None:
    assert max(*MOST.values(), ELSE) <= 100_000


def test_the_style_of_a_page_that_stays_as_it_is_has_rules_for_what_it_draws() -> None:
    drawn = {page.name: (views.of(page), page.drawn) for page in PAGES if page.drawn}
    assert {*drawn} == {"chat-turn", "model-that-talks"}
    for view, numbers in drawn.values():
        assert numbers == (view.picture.n, len(view.picture.open_heads))  # type: ignore[attr-defined]


def test_no_style_says_what_is_for_those_who_write_it() -> None:
    assert "/*" not in style() and not any("/*" in own_style(page) for page in PAGES)
