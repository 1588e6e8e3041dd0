"""A sheet of exercises is printed without its answers, or the answers without the sheet; no script is needed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page as Tab
from playwright.sync_api import Playwright

from microgpt.viz.course import PARTS
from tests.browser.conftest import Open
from tests.browser.pages.test_print import printed, texts
from tools.browsers import CHROMIUM_FLAGS, own, which

PIECES = ".task .solved > p, .task .solved > ol > li"
SET = ".task .set > p, .task .set > ol > li"


@pytest.fixture(scope="module")
def tab(playwright: Playwright) -> Iterator[Tab]:
    if not which("chromium") and not own(playwright, "chromium"):
        pytest.skip("chromium is not installed")
    browser = playwright.chromium.launch(executable_path=which("chromium"), args=CHROMIUM_FLAGS)
    page = browser.new_page(java_script_enabled=False)
    page.set_default_timeout(5000)
    yield page
    browser.close()


def whole(found: list[str]) -> list[str]:
    """Those that a sheet of paper has in one piece, to look for: a listing in them has a gap there."""
    return [one for one in found if len(one) > 15 and not re.search(r"def|\|", one)]


@pytest.mark.parametrize("folder", ["", "es/"])
@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.sheet)
def test_the_sheet_and_its_answers_are_printed_apart(tab: Tab, site: Path, part: object, folder: str) -> None:
    tab.goto((site / folder / f"{part.sheet}.html").as_uri())  # type: ignore[attr-defined]
    asked, answers = whole(texts(tab, SET)), whole(texts(tab, PIECES))
    titles = texts(tab, ".task h2")
    assert len(asked) > 10 and len(answers) > 10
    tab.locator(".look").first.click()  # what is looked at on the screen is not printed
    assert tab.locator(".solved").filter(visible=True).count() == 1
    sheet = "".join(printed(tab))
    assert [one for one in (*titles, *asked) if one not in sheet] == []
    assert [one for one in answers if one in sheet] == []
    tab.emulate_media(media="print")
    assert not tab.locator(".solved, .shown, .look").filter(visible=True).count()
    assert tab.locator(".room i").filter(visible=True).count() == tab.locator(".room i").count()
    tab.emulate_media(media="null")
    for shown, both in (("answers", False), ("both", True)):
        tab.locator(f".shown .c-{shown} + .face").click()
        sheet = "".join(printed(tab))
        assert [one for one in (*titles, *answers) if one not in sheet] == []
        assert [one for one in asked if (one in sheet) != both] == []
        tab.emulate_media(media="print")
        assert not tab.locator(".room, .named").filter(visible=True).count()
        assert tab.locator(".solution").is_visible() != both
        tab.emulate_media(media="null")


SEEN = "((all) => [...document.querySelectorAll(all)].filter((e) => e.checkVisibility()).length)"


def test_an_address_asks_for_the_answers(new_tab: Open, address: str) -> None:
    page = new_tab()
    page.open(f"{address}{PARTS[0].sheet}.html?sheet=answers")
    page.wait("document.querySelector('.c-answers').checked")
    assert page.run(f"[{SEEN}('.solved'), {SEEN}('.set')]") == [page.run(f"{SEEN}('.task')"), 0]
    assert not page.errors
