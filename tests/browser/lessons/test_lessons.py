"""Every lesson: its choices and questions work in the strictest host, by keyboard; live it says what was built."""

import os
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page as Tab

from microgpt.course import LESSONS
from microgpt.course import page as page_named
from microgpt.viz import views
from microgpt.viz.page import Page as SitePage
from microgpt.viz.rendering.render import prose, widget
from microgpt.viz.settings import Settings
from tests.browser.conftest import Open
from tests.browser.live import html, open_live, press, turn
from tests.browser.reading import Run, assert_choices_work, assert_questions_answer, assert_steps_through, strictest
from tests.support.sampled import sampled
from tools.browsers import UNFOLD

STEPPER = page_named("kv-cache")
LIVE = [page for page in LESSONS if page.live == "text"]


CASES = sampled(
    LESSONS,
    [STEPPER, page_named("old-rows"), *LESSONS[::3]],
    "the same rule shows the case of each choice, and the sweep opens all",
)


@pytest.mark.parametrize("lesson", CASES, ids=lambda lesson: lesson.name)
def test_a_lesson_works_in_the_strictest_host(paper: Tab, address: str, tmp_path: Path, lesson: SitePage) -> None:
    assert_reads(strictest(paper, f"{address}{lesson.name}.html", tmp_path).evaluate, lesson)


def test_a_lesson_works_from_a_file(paper: Tab, site: Path, tmp_path: Path) -> None:
    """Without scripts too. A frame that may do nothing gets no style from a file."""
    assert_reads(strictest(paper, (site / f"{STEPPER.name}.html").as_uri(), tmp_path, "").evaluate, STEPPER)


def assert_reads(run: Run, lesson: SitePage) -> None:
    assert_choices_work(run)
    assert_questions_answer(run)
    if lesson.widget == "kv_cache":
        assert_steps_through(run)
        assert run('getComputedStyle(document.querySelector(".no-js")).display') == "block"


OWN = pytest.mark.engines("`:has` and what keys do in a form are the engine's own", "firefox")
AGAIN = pytest.mark.thorough("the same on another page")


@pytest.mark.parametrize("name", [pytest.param("old-rows", marks=OWN), pytest.param("kv-cache", marks=AGAIN)])
def test_arrow_keys_choose_and_enter_sends_no_choice_away(new_tab: Open, address: str, name: str) -> None:
    page = new_tab(f"{address}{name}.html")
    page.run(UNFOLD)
    assert_choices_work(page.run)
    assert_questions_answer(page.run)
    for control in (".pick input", ".ask input", ".print input", ".settings input"):
        page.run(f"document.querySelector('{control}')?.focus()")
        page.press("Enter")
    first = 'document.querySelector(".pick :checked, .ask input")'
    page.run(f"{first}.focus()")
    group, before = page.run(f"[{first}.name, {first}.value]")
    last = page.run(f"[...document.querySelectorAll('[name=\"{group}\"]')].at(-1).value")
    page.press("ArrowLeft" if before == last else "ArrowRight")  # WebKit does not begin again behind the last
    assert page.run(f"document.querySelector('[name=\"{group}\"]:checked').value") != before or "ask" in group
    assert page.run("getComputedStyle(document.activeElement.nextElementSibling).outlineStyle") == "solid"
    page.pause(0.2)  # for what must not be
    assert page.run("location.search") == "" and not page.errors


@pytest.mark.engines("Firefox would keep the choices of before, which the texts beside them do not speak of", "firefox")
def test_a_page_loaded_anew_shows_its_own_choices(new_tab: Open, address: str) -> None:
    page = new_tab()
    for name in ("embed-builder", *(["old-rows", "embed/inside"] if os.environ.get("EVERYTHING") else [])):
        page.open(f"{address}{name}.html")
        chosen = '[...document.querySelectorAll(":checked:not(option)")].map((e) => e.name + e.value).join()'
        before = page.run(chosen)
        page.run('document.querySelectorAll("[type=radio]:not([name=lang])").forEach((e) => { e.checked = true; })')
        assert page.run(chosen) != before
        page.reload()
        assert page.run(chosen) == before


@pytest.mark.timeout(600)
def test_the_live_lessons_are_the_built_ones_byte_for_byte(new_tab: Open, address: str) -> None:
    """All in one Python, which is started once: a page takes the place of another, and its button is pressed."""
    page = open_live(new_tab(), f"{address}{LIVE[0].name}.html")
    for lesson in LIVE:
        turn(page, f"{lesson.name}.html")
        answer = press(page, "run")
        view: Any = views.view(lesson.widget, Settings(lesson.model, lesson.prompt))
        assert html(answer, "#widget") == widget(lesson.widget, view, page=lesson), lesson.name
        assert html(answer, "#prose") == prose(lesson.widget, view, page=lesson, live=True), lesson.name
    told = [error for error in page.errors if "inline style" not in error]  # of the others, which this policy forbids
    assert not told
    assert all(url.startswith((address, "blob:")) for url in page.requests)
