"""A page carries the rules of its own lesson or app and no other's; what all share is small."""

import gzip
import re

import pytest

from microgpt.course import PAGES
from microgpt.viz import views
from microgpt.viz.page import Page
from microgpt.viz.rendering.assets import BESIDE
from microgpt.viz.rendering.render import render_page, where
from microgpt.viz.rendering.style import own_style, style
from tests.support.templates import templates

# bytes of a page and the shared style, each gzip; the last two show nine heads of a model with rows of 576 numbers
MOST = {"inside": 75_000, "kv-cache": 64_000, "kv-cache-words": 100_000, "own-model": 82_000, "workbench": 76_000, "many-at-once": 42_000}
MOST |= {"chat-turn": 150_000, "model-that-talks": 150_000}
MOST |= {"chat-turn-numbers": 70_000, "model-that-talks-numbers": 70_000}
ELSE = 40_000


def rules(text: str) -> list[str]:
    """The lines that are a whole rule."""
    return [line for line in re.sub(r"/\*.*?\*/\n?", "", text, flags=re.S).splitlines() if re.match(r"[.#].*\}$", line)]


STYLES = {path.parent: rules(path.read_text("utf-8")) for path in templates("css") if path.name == "style.css"}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_carries_its_own_rules_and_no_others_and_weighs_little(page: Page) -> None:
    own, shared = own_style(page), style()
    mine = {where(f"{folder}/style.css").parent for folder in (page.folder, *page.styles)}
    assert {where(f"{folder}/style.css").parent for folder in page.styles} <= STYLES.keys()
    for folder, of_folder in STYLES.items():
        assert [rule for rule in of_folder if (rule in own) != (folder in mine) or rule in shared] == []
    html = render_page(page, views.of(page), assets=BESIDE.with_rules(own_style(page)))
    assert own_style(page) in html
    assert sum(len(gzip.compress(text.encode(), 9)) for text in (html, style())) < MOST.get(page.name, ELSE)


def test_no_style_says_what_is_for_those_who_write_it() -> None:
    assert "/*" not in style() and not any("/*" in own_style(page) for page in PAGES)
