"""A sheet of exercises is printed without its answers, or the answers without the sheet; no script is needed."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page as Tab

from microgpt.course import COURSE_PARTS
from tests.browser.conftest import Open
from tests.browser.paper import printed, texts
from tests.support.sampled import sampled

PIECES = ".task .solved > p, .task .solved > ol > li"
SET = ".task .set > p, .task .set > ol > li"


def whole(found: list[str]) -> list[str]:
    """Those that a sheet of paper has in one piece, to look for: a listing in them has a gap there."""
    return [one for one in found if len(one) > 15 and not re.search(r"def|\|", one)]


SHEETS = [part.sheet for part in COURSE_PARTS]


@pytest.mark.parametrize("name", sampled([f"es/{SHEETS[0]}", *SHEETS], {f"es/{SHEETS[0]}"}, "other tasks"))
def test_the_sheet_and_its_answers_are_printed_apart(paper: Tab, site: Path, name: str) -> None:
    paper.goto((site / f"{name}.html").as_uri())
    asked, answers = whole(texts(paper, SET)), whole(texts(paper, PIECES))
    titles = texts(paper, ".task h2")
    assert len(asked) > 10 and len(answers) > 10
    paper.locator(".look").first.click()  # what is looked at on the screen is not printed
    assert paper.locator(".solved").filter(visible=True).count() == 1
    sheet = "".join(printed(paper))
    assert [one for one in (*titles, *asked) if one not in sheet] == []
    assert [one for one in answers if one in sheet] == []
    paper.emulate_media(media="print")
    assert not paper.locator(".solved, .shown, .look").filter(visible=True).count()
    assert paper.locator(".room i").filter(visible=True).count() == paper.locator(".room i").count()
    paper.emulate_media(media="null")
    for shown, both in (("answers", False), ("both", True)):
        paper.locator(f".shown .c-{shown} + .face").click()
        sheet = "".join(printed(paper))
        assert [one for one in (*titles, *answers) if one not in sheet] == []
        assert [one for one in asked if (one in sheet) != both] == []
        paper.emulate_media(media="print")
        assert not paper.locator(".room, .named").filter(visible=True).count()
        assert paper.locator(".solution").is_visible() != both
        paper.emulate_media(media="null")


SEEN = "((all) => [...document.querySelectorAll(all)].filter((e) => e.checkVisibility()).length)"


def test_an_address_asks_for_the_answers(new_tab: Open, address: str) -> None:
    page = new_tab(f"{address}{COURSE_PARTS[0].sheet}.html?sheet=answers")
    page.wait("document.querySelector('.c-answers').checked")
    assert page.run(f"[{SEEN}('.solved'), {SEEN}('.set')]") == [page.run(f"{SEEN}('.task')"), 0]
    assert not page.errors
