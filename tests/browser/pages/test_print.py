"""A printed page is a handout: every step and every case, empty boxes, the answers on a last sheet if asked for.

In Chromium alone: no other engine's driver hands out what it prints. The rules are plain CSS in site/css/9-print.css.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any
from unicodedata import normalize

import pytest
from playwright.sync_api import Page as Tab
from playwright.sync_api import Playwright
from pypdf import PdfReader

from microgpt.viz.course import LESSONS
from tools.browsers import CHROMIUM_FLAGS, UNFOLD, own, which

STEPPERS = [page.name for page in LESSONS if page.widget == "stepper"]
TEXTS = "(found) => found.map((e) => e.textContent)"


@pytest.fixture(scope="module")
def tab(playwright: Playwright) -> Iterator[Tab]:
    """Chromium without JavaScript: paper has none."""
    if not which("chromium") and not own(playwright, "chromium"):
        pytest.skip("chromium is not installed")
    browser = playwright.chromium.launch(executable_path=which("chromium"), args=CHROMIUM_FLAGS)
    page = browser.new_page(java_script_enabled=False)
    page.set_default_timeout(5000)
    yield page
    browser.close()


def printed(tab: Tab, **options: Any) -> list[str]:
    """The text of each sheet, without white space: where lines break is not the point."""
    reader = PdfReader(BytesIO(tab.pdf(prefer_css_page_size=True, **options)))
    return [bare(sheet.extract_text()) for sheet in reader.pages]


def bare(text: str) -> str:
    return re.sub(r"\s+", "", normalize("NFKC", text))  # the font has ligatures


def texts(tab: Tab, selector: str) -> list[str]:
    found: list[str] = tab.eval_on_selector_all(selector, TEXTS)
    return [bare(text) for text in found]


@pytest.mark.parametrize("name", STEPPERS)
@pytest.mark.parametrize("paper", ["A4", "Letter"])
def test_every_step_is_printed_whole_on_one_sheet(tab: Tab, site: Path, name: str, paper: str) -> None:
    tab.goto((site / f"{name}.html").as_uri())
    for first in tab.locator(".choosers :is(.layer-0, .head-0) + .face").all():
        first.click()
    sheets = printed(tab, format=paper)
    narrations = texts(tab, ".narration")
    guesses = texts(tab, ".captions .P7")
    meets = texts(tab, ".meets.L0.H0 tbody")
    assert len(narrations) == len(guesses) == len(meets) == tab.locator("#tokens input").count()
    asked = texts(tab, ".ask-q .L0.H0")
    for said, next_, rows, q in zip(narrations, guesses, meets, asked, strict=True):
        (sheet,) = [sheet for sheet in sheets if said in sheet]
        assert next_ in sheet, said
        assert rows in sheet, said  # q, k, v and what q met stand on the sheet of their step
        assert q in sheet, said
    cached = texts(tab, "#rows .c-k .of-L0.of-H0")
    assert cached and all(row in sheets[0] for row in cached)  # the cache, once


@pytest.mark.parametrize("name", [*STEPPERS, "chat-turn"])
def test_the_line_of_a_weight_is_printed_beside_its_number(tab: Tab, site: Path, name: str) -> None:
    tab.goto((site / f"{name}.html").as_uri())
    tab.set_viewport_size({"width": 794, "height": 1123})  # A4
    tab.emulate_media(media="print")
    try:
        found = tab.eval_on_selector_all(
            ".meets .band",
            """(found) => found.filter((e) => e.checkVisibility()).map((e) => {
            const box = e.getBoundingClientRect(), cell = e.closest("td, .weight").getBoundingClientRect();
            return [cell.left <= box.left, box.right <= cell.right + 1]; })""",
        )
    finally:
        tab.emulate_media(media="null")
    assert found and all(left and right for left, right in found)


def test_the_chosen_layer_and_head_are_printed_and_what_plays_stands_still(tab: Tab, site: Path) -> None:
    tab.goto((site / "kv-cache-words.html").as_uri())
    tab.locator(".choosers .layer-1 + .face").click()
    tab.locator(".choosers .head-2 + .face").click()
    tab.locator(".toggle.play .face").click()
    sheets = "".join(printed(tab))
    assert "TheKVcachelayer1,head2" in sheets and "TheKVcachelayer0,head0" not in sheets
    assert all(sheets.count(said) == 1 for said in texts(tab, ".narration"))
    assert all(score in sheets for score in texts(tab, ".meets.L1.H2 .score"))


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_cases_questions_and_answers(tab: Tab, site: Path, lesson: Any) -> None:
    tab.goto((site / f"{lesson.name}.html").as_uri())
    labels = tab.eval_on_selector_all(".C", "(found) => found.map((e) => e.ariaLabel)")
    answers, questions = texts(tab, ".answers .right + *"), texts(tab, ".ask legend")
    options = texts(tab, ".ask .face")
    assert len(questions) == len(answers) >= 2
    assert texts(tab, ".answers .question") == questions
    assert texts(tab, ".answers .right") == texts(tab, ".ask .right .face")
    assert texts(tab, ".why.true") == answers
    tab.locator(".ask .wrong .face").first.click()  # what was chosen on the screen is not printed
    without = printed(tab)
    assert [label for label in labels if bare(label) not in "".join(without)] == []
    assert [text for text in (*questions, *options) if text not in "".join(without)] == []
    assert [answer for answer in answers if answer in "".join(without)] == []
    assert "✓" not in "".join(without) and "✗" not in "".join(without)
    tab.evaluate("document.documentElement.classList.add('js')")  # what only scripts can do is not printed either
    tab.emulate_media(media="print")
    assert tab.locator(".C").filter(visible=True).count() == len(labels)
    heading = "(found) => found.map((e) => JSON.parse(getComputedStyle(e, '::before').content))"
    assert tab.eval_on_selector_all(".C", heading) == labels
    pressed = "button, select, .pick label:not(:has(:checked)), .button, .toggle, .print, .share"
    assert not tab.locator(pressed).filter(visible=True).count()
    tab.emulate_media(media="null")
    tab.evaluate(UNFOLD)
    tab.locator(".print input").check()
    sheets = printed(tab)
    assert len(sheets) == len(without) + 1
    assert sheets[:-1] == without
    assert [text for text in (*questions, *answers) if text not in sheets[-1]] == []


@pytest.mark.parametrize("name", ["memory", "fewer-heads", "prefill-and-decode", "why-q", "old-rows"])
def test_a_drawing_stands_under_the_name_of_its_case(tab: Tab, site: Path, name: str) -> None:
    tab.goto((site / f"{name}.html").as_uri())
    drawn = tab.locator(".cases:has(> .drawn)").first
    for label in (drawn.locator("> .pick label").first, drawn.locator("> .pick label").last):
        label.click()
        tab.emulate_media(media="print")
        assert [one.inner_text() for one in drawn.locator("> .pick label").filter(visible=True).all()] == [
            label.text_content()
        ]
        tab.emulate_media(media="null")


def test_two_runs_are_drawn_as_far_as_their_last_step(tab: Tab, site: Path) -> None:
    tab.goto((site / "with-and-without.html").as_uri())
    tab.locator(".pick label").first.click()
    tab.emulate_media(media="print")
    assert not tab.locator(".compare .pick label").filter(visible=True).count()
    steps = tab.locator(".compare .drawn > .C").count()
    for fall in tab.locator(".compare .fall").all():
        box = fall.bounding_box()
        row = fall.locator(".rows span").last.bounding_box()
        cell = fall.locator(".cells i").last.bounding_box()
        assert box and row and cell and box["height"] > 1.3 * 10 * steps
        assert row["y"] + row["height"] <= box["y"] + box["height"] + 0.5
        assert abs(cell["y"] - row["y"]) < row["height"]  # the last token has its cell in the last row
    assert [said.inner_text()[0] for said in tab.locator(".compare .drawing .said").filter(visible=True).all()] == [
        f"{steps}", f"{steps * (steps + 1) // 2}"[0],
    ]  # fmt: skip
    tab.emulate_media(media="null")


@pytest.mark.parametrize("name", ["index", "glossary", "embed/kv-cache", "es/with-and-without"])
def test_other_pages_print_too(tab: Tab, site: Path, name: str) -> None:
    tab.goto((site / f"{name}.html").as_uri())
    sheets = "".join(printed(tab))
    assert texts(tab, "h1")[0] in sheets
    assert all(said in sheets for said in texts(tab, ".narration"))
