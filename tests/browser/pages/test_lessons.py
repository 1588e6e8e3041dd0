"""Every lesson: its choices work without JavaScript, from a file, by keyboard; live it says what was built."""

from __future__ import annotations

from pathlib import Path

import pytest

from microgpt.viz import views
from microgpt.viz.course import LESSONS
from microgpt.viz.course import Page as SitePage
from microgpt.viz.rendering.render import prose, widget
from microgpt.viz.settings import Settings
from tests.browser.conftest import Open
from tests.browser.live import html, open_live, press
from tools.browsers import UNFOLD, Page
from tools.server import serving

CHOOSING = [page for page in LESSONS if page.widget != "stepper"]
LIVE = [page for page in LESSONS if page.live == "text"]

# for each choice on the page: how many panels are on show, and whether it is the chosen one
SHOWN = """[...document.querySelectorAll(".cases")].map((cases) => {
  const chosen = cases.querySelector(":scope > .pick :checked").value;
  const panels = [...cases.querySelectorAll(":scope > .panels > .C")].filter((e) => e.getClientRects().length);
  return panels.length === 1 && panels[0].classList.contains("C" + chosen); })"""
# the choices of the page in the order in which they stand: for each, how many cases it has
CHOICES = """[...document.querySelectorAll(".cases > .pick")].map((e) => e.querySelectorAll("input").length)"""


def name_of(page: SitePage) -> str:
    return page.name


def assert_choices_work(page: Page) -> None:
    """Each choice shows the chosen case alone, back and forth."""
    for which, n in enumerate(page.run(CHOICES)):
        if not page.run(f'document.querySelectorAll(".cases")[{which}].getClientRects().length'):
            continue  # inside of a case that is not on show
        for i in (n - 1, 0):
            page.run(f'document.querySelectorAll(".cases")[{which}].querySelector(".pick .c-{i}").click()')
            visible = page.run('[...document.querySelectorAll(".cases")].map((e) => e.getClientRects().length > 0)')
            assert all(fits for fits, seen in zip(page.run(SHOWN), visible, strict=True) if seen)


@pytest.mark.in_turns
@pytest.mark.parametrize("lesson", CHOOSING, ids=name_of)
def test_choices_work_without_javascript(new_tab: Open, engine: str, address: str, lesson: SitePage) -> None:
    if engine != "chromium":
        pytest.skip("only Chromium's driver looks into a page whose scripts are off")
    page = new_tab(javascript=False)
    page.open(f"{address}{lesson.name}.html")
    assert_choices_work(page)


@pytest.mark.in_turns
@pytest.mark.parametrize("lesson", CHOOSING, ids=name_of)
def test_choices_work_from_a_file(new_tab: Open, site: Path, lesson: SitePage) -> None:
    page = new_tab()
    page.open((site / f"{lesson.name}.html").as_uri())
    assert_choices_work(page)


@pytest.mark.in_turns
@pytest.mark.parametrize("lesson", LESSONS, ids=name_of)
def test_a_question_reveals_its_answer_when_one_is_chosen(new_tab: Open, address: str, lesson: SitePage) -> None:
    page = new_tab()
    page.open(f"{address}{lesson.name}.html")
    assert page.run('document.querySelectorAll(".ask").length') >= 2
    shown = """[...document.querySelectorAll(".ask")].map((ask) =>
      [...ask.querySelectorAll(".why, .verdict")].filter((e) => e.getClientRects().length)
        .map((e) => e.className + (e.closest(".right") ? " right" : e.closest(".wrong") ? " wrong" : "")))"""
    told = """[...document.querySelectorAll(".ask")].map((ask) =>
      [...ask.querySelectorAll(".why")].findIndex((e) => e.getClientRects().length))"""
    assert not any(page.run(shown))
    for kind, why in (("wrong", "why"), ("right", "why true")):
        page.run(f'document.querySelectorAll(".ask").forEach((e) => e.querySelector(".{kind} input").click())')
        assert all(found == [f"verdict {kind}", why] for found in page.run(shown))
    for i in range(4):  # the reason is that of the option, by its place
        page.run(f'document.querySelectorAll(".ask").forEach((e) => e.querySelectorAll("input")[{i}]?.click())')
        counts = page.run('[...document.querySelectorAll(".ask")].map((e) => e.querySelectorAll("input").length)')
        assert all(found == i for found, n in zip(page.run(told), counts, strict=True) if i < n)


@pytest.mark.in_turns
@pytest.mark.parametrize("lesson", CHOOSING, ids=name_of)
def test_arrow_keys_choose(new_tab: Open, address: str, lesson: SitePage) -> None:
    page = new_tab()
    page.open(f"{address}{lesson.name}.html")
    first = 'document.querySelector(".pick :checked, .ask input")'
    page.run(f"{first}.focus()")
    name, before = page.run(f"[{first}.name, {first}.value]")
    last = page.run(f"[...document.querySelectorAll('[name=\"{name}\"]')].at(-1).value")
    page.press("ArrowLeft" if before == last else "ArrowRight")  # WebKit does not begin again behind the last
    assert page.run(f"document.querySelector('[name=\"{name}\"]:checked').value") != before or "ask" in name
    assert page.run("getComputedStyle(document.activeElement.nextElementSibling).outlineStyle") == "solid"


@pytest.mark.parametrize("name", ["old-rows", "kv-cache", "embed/inside", "embed-builder", "look-inside"])
def test_a_page_loaded_anew_shows_its_own_choices(new_tab: Open, address: str, name: str) -> None:
    """Firefox would keep those of before, which the texts beside them do not speak of."""
    page = new_tab()
    page.open(f"{address}{name}.html")
    chosen = '[...document.querySelectorAll(":checked:not(option)")].map((e) => e.name + e.value).join()'
    before = page.run(chosen)
    page.run('document.querySelectorAll("[type=radio]:not([name=lang])").forEach((e) => e.click())')
    assert page.run(chosen) != before
    page.reload()
    assert page.run(chosen) == before


def test_the_enter_key_sends_no_choice_away(new_tab: Open, address: str) -> None:
    page = new_tab()
    page.open(f"{address}old-rows.html")
    page.run(UNFOLD)
    for control in (".pick input", ".ask input", ".print input", ".settings input"):
        page.run(f"document.querySelector('{control}').focus()")
        page.press("Enter")
    page.pause(0.2)
    assert page.run("location.search") == "" and not page.errors


@pytest.mark.in_turns
@pytest.mark.parametrize("lesson", LIVE, ids=name_of)
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


@pytest.mark.in_turns
@pytest.mark.parametrize("sandbox", ["", "allow-scripts"])
@pytest.mark.parametrize("lesson", CHOOSING, ids=name_of)
def test_choices_work_in_a_sandboxed_frame(
    new_tab: Open, engine: str, address: str, tmp_path: Path, sandbox: str, lesson: SitePage
) -> None:
    if engine == "webkit":
        pytest.skip("WebKit's driver does not enter a frame of opaque origin")
    frame = f'<iframe sandbox="{sandbox}" width="800" height="700" src="{address}{lesson.name}.html"></iframe>'
    (tmp_path / "host.html").write_text(f"<!doctype html><title>host</title>{frame}")
    with serving(tmp_path) as host:
        page = new_tab()
        page.open(host + "host.html")
        inner = next(f for f in page.tab.frames if f.url.startswith(address))  # type: ignore[attr-defined]
        inner.wait_for_load_state()
        if not inner.locator(".cases").count():
            pytest.skip("nothing to choose on this page")
        cases = inner.locator(".cases").first
        for i in (1, 0):
            cases.locator(f".pick .c-{i} + .face").first.click()
            assert cases.locator(f"> .panels > .C{i}").is_visible()
            assert cases.locator(f"> .panels > .C{1 - i}").is_hidden()


@pytest.mark.parametrize("name", ["latent-row", "with-and-without", "prefill-and-decode", "guess-and-check"])
@pytest.mark.parametrize("folder", ["", "es/"])
def test_the_names_of_lines_lie_in_their_chart(new_tab: Open, address: str, name: str, folder: str) -> None:
    page = new_tab(width=390)
    page.open(f"{address}{folder}{name}.html")
    beyond = page.run(
        """[...document.querySelectorAll(".chart .name")].filter((e) => e.getClientRects().length)
        .map((e) => e.getBoundingClientRect().right - e.closest("svg").getBoundingClientRect().right)"""
    )
    assert beyond and max(beyond) <= 0
