"""Every lesson: its choices work without JavaScript, from a file, by keyboard; live it says what was built."""

from __future__ import annotations

from pathlib import Path

import pytest

from microgpt.viz import views
from microgpt.viz.pages import LESSONS
from microgpt.viz.pages import Page as SitePage
from microgpt.viz.render import prose, widget
from microgpt.viz.settings import Settings
from tests.browser.conftest import Open
from tests.browser.engines import Page
from tests.browser.live import html, open_live, press

CHOOSING = [page for page in LESSONS if page.widget != "stepper"]
LIVE = [page for page in LESSONS if page.live == "text"]
NAMES = {"ids": lambda page: page.name}

# for each choice on the page: how many panels are on show, and whether it is the chosen one
SHOWN = """[...document.querySelectorAll(".cases")].map((cases) => {
  const chosen = cases.querySelector(":scope > .pick :checked").value;
  const panels = [...cases.querySelectorAll(":scope > .panels > .C")].filter((e) => e.getClientRects().length);
  return panels.length === 1 && panels[0].classList.contains("C" + chosen); })"""
# the choices of the page in the order in which they stand: for each, how many cases it has
CHOICES = """[...document.querySelectorAll(".cases > .pick")].map((e) => e.querySelectorAll("input").length)"""


def assert_choices_work(page: Page) -> None:
    """Each choice shows the chosen case alone, back and forth."""
    for which, n in enumerate(page.run(CHOICES)):
        if not page.run(f'document.querySelectorAll(".cases")[{which}].getClientRects().length'):
            continue  # inside of a case that is not on show
        for i in (n - 1, 0):
            page.run(f'document.querySelectorAll(".cases")[{which}].querySelector(".pick .c-{i}").click()')
            visible = page.run('[...document.querySelectorAll(".cases")].map((e) => e.getClientRects().length > 0)')
            assert all(fits for fits, seen in zip(page.run(SHOWN), visible, strict=True) if seen)


@pytest.mark.parametrize("lesson", CHOOSING, **NAMES)
def test_choices_work_without_javascript(new_tab: Open, engine: str, address: str, lesson: SitePage) -> None:
    if engine != "chromium":
        pytest.skip("only Chromium's driver looks into a page whose scripts are off")
    page = new_tab(javascript=False)
    page.open(f"{address}{lesson.name}.html")
    assert_choices_work(page)


@pytest.mark.parametrize("lesson", CHOOSING, **NAMES)
def test_choices_work_from_a_file(new_tab: Open, site: Path, lesson: SitePage) -> None:
    page = new_tab()
    page.open((site / f"{lesson.name}.html").as_uri())
    assert_choices_work(page)


@pytest.mark.parametrize("lesson", LESSONS, **NAMES)
def test_a_question_reveals_its_answer_when_one_is_chosen(new_tab: Open, address: str, lesson: SitePage) -> None:
    page = new_tab()
    page.open(f"{address}{lesson.name}.html")
    assert page.run('document.querySelectorAll(".ask").length') >= 2
    shown = """[...document.querySelectorAll(".ask")].map((ask) =>
      [ask.querySelector(".reveal"), ...ask.querySelectorAll(".verdict")].filter((e) => e.getClientRects().length)
        .map((e) => e.className + (e.closest(".right") ? " right" : e.closest(".wrong") ? " wrong" : "")))"""
    assert not any(page.run(shown))
    for kind in ("wrong", "right"):
        page.run(f'document.querySelectorAll(".ask").forEach((e) => e.querySelector(".{kind} input").click())')
        assert all(found == ["reveal", f"verdict {kind}"] for found in page.run(shown))


@pytest.mark.parametrize("lesson", CHOOSING, **NAMES)
def test_arrow_keys_choose(new_tab: Open, engine: str, address: str, lesson: SitePage) -> None:
    if engine == "webkit":
        pytest.skip("WebKitGTK's driver sends keys to an element, not to the page")
    page = new_tab()
    page.open(f"{address}{lesson.name}.html")
    first = 'document.querySelector(".pick :checked, .ask input")'
    page.run(f"{first}.focus()")
    name, before = page.run(f"[{first}.name, {first}.value]")
    page.press("ArrowRight")
    assert page.run(f"document.querySelector('[name=\"{name}\"]:checked').value") != before or "ask" in name
    assert page.run("document.activeElement.matches(':focus-visible')")


@pytest.mark.parametrize("lesson", LIVE, **NAMES)
def test_the_live_lesson_is_the_built_one_byte_for_byte(new_tab: Open, address: str, lesson: SitePage) -> None:
    page = new_tab()
    open_live(page, f"{address}{lesson.name}.html")
    answer = press(page, "run")
    view = views.view(lesson.widget, Settings(lesson.model, lesson.prompt))
    assert html(answer, "#widget") == widget(lesson.widget, view, page=lesson)
    assert html(answer, "#prose") == prose(lesson.widget, view, page=lesson, live=True)
    assert not page.errors
    assert all(url.startswith((address, "blob:")) for url in page.requests)
    assert_choices_work(page)
