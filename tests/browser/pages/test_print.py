"""A printed page is a handout: every step and every case, empty boxes, the answers on a last sheet if asked for.

In Chromium alone: no other engine's driver hands out what it prints. The rules are plain CSS in site/css/9-print.css.
"""

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page as Tab

from microgpt.course import LESSONS
from tests.browser.paper import bare, printed, texts
from tools.browsers import UNFOLD

SAMPLE = {"memory"}  # the steps of kv-cache are printed above
AGAIN = pytest.mark.thorough("the same rules of print on other cases")


@pytest.mark.parametrize(
    ("name", "format"),
    [
        ("kv-cache", "A4"),
        pytest.param("kv-cache", "Letter", marks=AGAIN),
        pytest.param("kv-cache-words", "A4", marks=AGAIN),
    ],
)
def test_every_step_is_printed_whole_on_one_sheet(paper: Tab, site: Path, name: str, format: str) -> None:
    paper.goto((site / f"{name}.html").as_uri())
    for first in paper.locator(".choosers :is(.layer-0, .head-0)").all():
        first.dispatch_event("click")
    sheets = printed(paper, format=format)
    narrations = texts(paper, ".narration")
    guesses = texts(paper, ".captions .P7")
    meets = texts(paper, ".meets.L0.H0 tbody")
    assert len(narrations) == len(guesses) == len(meets) == paper.locator("#tokens input").count()
    asked = texts(paper, ".ask-q .L0.H0")
    for said, next_, rows, q in zip(narrations, guesses, meets, asked, strict=True):
        (sheet,) = [sheet for sheet in sheets if said in sheet]
        assert next_ in sheet, said
        assert rows in sheet, said  # q, k, v and what q met stand on the sheet of their step
        assert q in sheet, said
    cached = texts(paper, "#rows .c-k .of-L0.of-H0")
    assert cached and all(row in sheets[0] for row in cached)  # the cache, once


@pytest.mark.parametrize(
    "name", ["kv-cache", *(pytest.param(name, marks=AGAIN) for name in ("chat-turn", "kv-cache-words"))]
)
def test_the_line_of_a_weight_is_printed_beside_its_number(paper: Tab, site: Path, name: str) -> None:
    paper.goto((site / f"{name}.html").as_uri())
    paper.set_viewport_size({"width": 794, "height": 1123})  # A4
    paper.emulate_media(media="print")
    try:
        found = paper.eval_on_selector_all(
            ".meets .band",
            """(found) => found.filter((e) => e.checkVisibility()).map((e) => {
            const box = e.getBoundingClientRect(), cell = e.closest("td, .weight").getBoundingClientRect();
            return [cell.left <= box.left, box.right <= cell.right + 1]; })""",
        )
    finally:
        paper.emulate_media(media="null")
    assert found and all(left and right for left, right in found)


def test_the_chosen_layer_and_head_are_printed_and_what_plays_stands_still(paper: Tab, site: Path) -> None:
    paper.goto((site / "kv-cache-words.html").as_uri())
    paper.locator(".choosers .layer-1 + .face").click()
    paper.locator(".choosers .head-2 + .face").click()
    paper.locator(".toggle.play .face").click()
    sheets = "".join(printed(paper))
    assert "TheKVcachelayer1,head2" in sheets and "TheKVcachelayer0,head0" not in sheets
    assert all(sheets.count(said) == 1 for said in texts(paper, ".narration"))
    assert all(score in sheets for score in texts(paper, ".meets.L1.H2 .score"))


@pytest.mark.parametrize(
    "lesson", [pytest.param(lesson, id=lesson.name, marks=() if lesson.name in SAMPLE else AGAIN) for lesson in LESSONS]
)
def test_cases_questions_and_answers(paper: Tab, site: Path, lesson: Any) -> None:
    paper.goto((site / f"{lesson.name}.html").as_uri())
    labels = paper.eval_on_selector_all(".C", "(found) => found.map((e) => e.ariaLabel)")
    answers, questions = texts(paper, ".answers .right + *"), texts(paper, ".ask legend")
    options = texts(paper, ".ask .face")
    assert len(questions) == len(answers) >= 2
    assert texts(paper, ".answers .question") == questions
    assert texts(paper, ".answers .right") == texts(paper, ".ask .right .face")
    assert texts(paper, ".why.true") == answers
    paper.locator(".ask .wrong .face").first.click()  # what was chosen on the screen is not printed
    without = printed(paper)
    assert [label for label in labels if bare(label) not in "".join(without)] == []
    assert [text for text in (*questions, *options) if text not in "".join(without)] == []
    assert [answer for answer in answers if answer in "".join(without)] == []
    assert "✓" not in "".join(without) and "✗" not in "".join(without)
    paper.evaluate("document.documentElement.classList.add('js')")  # what only scripts can do is not printed either
    paper.emulate_media(media="print")
    assert paper.locator(".C").filter(visible=True).count() == len(labels)
    heading = "(found) => found.map((e) => JSON.parse(getComputedStyle(e, '::before').content))"
    assert paper.eval_on_selector_all(".C", heading) == labels
    pressed = "button, select, .pick label:not(:has(:checked)), .button, .toggle, .print, .share"
    assert not paper.locator(pressed).filter(visible=True).count()
    paper.emulate_media(media="null")
    paper.evaluate(UNFOLD)
    paper.locator(".print input").check()
    sheets = printed(paper)
    assert len(sheets) == len(without) + 1
    assert sheets[:-1] == without
    assert [text for text in (*questions, *answers) if text not in sheets[-1]] == []


@pytest.mark.parametrize(
    "name",
    [
        "old-rows",
        *(pytest.param(name, marks=AGAIN) for name in ("fewer-heads", "memory", "prefill-and-decode", "why-q")),
    ],
)
def test_a_drawing_stands_under_the_name_of_its_case(paper: Tab, site: Path, name: str) -> None:
    paper.goto((site / f"{name}.html").as_uri())
    drawn = paper.locator(".cases:has(> .drawn)").first
    named = drawn.locator("> .pick label:has([type=radio])")
    for label in (named.first, named.last):
        label.click()
        paper.emulate_media(media="print")
        assert [one.inner_text() for one in drawn.locator("> .pick label").filter(visible=True).all()] == [
            label.text_content()
        ]
        paper.emulate_media(media="null")


def test_two_runs_are_drawn_as_far_as_their_last_step(paper: Tab, site: Path) -> None:
    paper.goto((site / "with-and-without.html").as_uri())
    paper.locator(".pick label").first.click()
    paper.emulate_media(media="print")
    assert not paper.locator(".with-and-without .pick label").filter(visible=True).count()
    steps = paper.locator(".with-and-without .drawn > .C").count()
    for side in paper.locator(".with-and-without .side").all():
        rows = side.locator(".cells").bounding_box()
        row, cell = (side.locator(which).last.bounding_box() for which in (".rows-of > .line[class*=R]", ".cells i"))
        assert rows and row and cell and rows["height"] > 1.3 * 10 * steps
        assert abs(row["y"] - rows["y"]) < 1  # the newest on top
        assert abs(cell["y"] - row["y"]) < row["height"] / 2  # which has its cell in its own line
    said = paper.locator(".with-and-without .drawing .said").filter(visible=True).all()
    assert [one.inner_text()[0] for one in said] == ["O", f"{steps}", f"{steps}", f"{steps * (steps + 1) // 2}"[0]]
    hatched = paper.locator(".with-and-without .run").filter(visible=True)  # over all rows but the newest
    row = paper.locator(".with-and-without .side.over .line.R0").bounding_box()
    box = hatched.bounding_box()
    assert box and row and abs(box["height"] - (steps - 1) * row["height"]) < 1
    paper.emulate_media(media="null")


@pytest.mark.parametrize(
    "name",
    ["embed/kv-cache", *(pytest.param(name, marks=AGAIN) for name in ("index", "glossary", "es/with-and-without"))],
)
def test_other_pages_print_too(paper: Tab, site: Path, name: str) -> None:
    paper.goto((site / f"{name}.html").as_uri())
    sheets = "".join(printed(paper))
    assert texts(paper, "h1")[0] in sheets
    assert all(said in sheets for said in texts(paper, ".narration"))
