"""A page steps by keyboard and by itself, and shows at each stage what is known by then. Without JavaScript, from a
file, in a frame that may do nothing: tests/browser/lessons/test_lessons.py."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Playwright

from microgpt.course.kv_cache.states import SPANS
from microgpt.viz.drawing.phases import PHASES, code
from tests.browser.conftest import Open
from tests.browser.reading import SEEN, SETTLED, assert_steps_through, settle
from tools.browsers import ONE_COMPILER, Page, tab

SLOT = """parseFloat(getComputedStyle(document.querySelector(".stage")).getPropertyValue("--len"))"""  # of a step, s


def steps(page: Page) -> int:
    count: int = page.run('document.querySelectorAll("#tokens input").length')
    return count


def test_no_button_moves_between_steps(new_tab: Open, address: str) -> None:
    """From step 9 to step 10 too, whose number is a digit longer."""
    page = new_tab(f"{address}kv-cache-words.html")
    steps = page.run('document.querySelectorAll("#tokens input").length')
    assert steps >= 10
    seen = set()
    for i in range(1, steps - 1):
        page.click(f"#tokens .R{i} span")
        found = "[...document.querySelectorAll('.turn .button, .nav .face')].filter((e) => e.checkVisibility())"
        seen.add(tuple(page.run(f"{found}.map((e) => Math.round(e.getBoundingClientRect().x))")))
    assert len(seen) == 1 and len(seen.pop()) > 8


def test_opens_before_its_step_with_one_button_in_the_picture(new_tab: Open, address: str) -> None:
    """What is chosen then is shown as a whole; so is all where motion is not wanted."""
    seen = """[getComputedStyle(document.querySelector(".begin")).display !== "none",
      ...["c-pos", "c-k"].map((e) => document.querySelector(`.row.R3 .${e}`)).map((e) => getComputedStyle(e))
        .map((e) => Number(e.opacity) > 0.9 && !e.clipPath.startsWith("inset(100%"))]"""
    for reduced in (False, True):
        page = new_tab(address + "kv-cache.html", reduced=reduced)
        assert page.run(SEEN)["rows"] == 4 and page.run('document.querySelector(".T.R3 input").checked')
        assert page.run(seen) == ([False, True, True] if reduced else [True, False, False])
        page.run("""document.querySelector(".T.R4 input").click()""")
        page.run(SETTLED)
        assert page.run(seen) == [False, True, True]
    page = new_tab(address + "kv-cache.html")
    page.click(".begin")
    assert page.run("document.getAnimations().length") > 20 and not page.run(seen)[0]
    page.open(address + "kv-cache.html?phase=7&step=3")
    page.run(SETTLED)
    assert page.run(seen) == [False, True, True]


@pytest.fixture(scope="module")
def page(playwright: Playwright, engine: str, running: dict[str, Any], address: str) -> Iterator[Page]:
    """The stepper, loaded once in each engine."""
    with tab(playwright, engine, running=running, flags=[ONE_COMPILER]) as opened:
        opened.open(f"{address}kv-cache.html")
        yield opened
        assert not opened.errors


@pytest.mark.engines("where Tab and arrow keys lead is the engine's own", "webkit")
def test_keyboard_alone_steps_and_walks_the_stages(page: Page) -> None:
    for _ in range(24):
        page.press("Tab")
        if page.run('document.activeElement.name === "step"'):
            break
    before = int(page.run("document.activeElement.value"))
    page.press("ArrowRight")
    assert int(page.run('document.querySelector("[name=step]:checked").value')) == before + 1
    assert f"Step {before + 2}:" in str(settle(page.run)["narration"])
    page.press("ArrowLeft")
    page.press("ArrowLeft")
    assert f"Step {before}:" in str(settle(page.run)["narration"])
    for _ in range(24):
        page.press("Tab")
        if page.run('document.activeElement.name === "phase"'):
            break
    for key, value in (("ArrowRight", "1"), ("ArrowRight", "2"), ("ArrowLeft", "1")):  # no stop between stages
        page.press(key)
        assert page.run('document.querySelector("[name=phase]:checked").value') == value
    assert page.run("getComputedStyle(document.activeElement.nextElementSibling).outlineStyle") == "solid"  # is seen


@pytest.mark.engines("steps by `:has`, custom properties and transitions, which are the engine's own")
def test_steps_with_javascript_and_asks_only_its_own_server(page: Page, address: str) -> None:
    assert_steps_through(page.run)
    page.click("#tokens .R3 span")
    assert "Step 4:" in str(settle(page.run)["narration"])
    assert all(url.startswith(address) for url in page.requests)
    assert not [url for url in page.requests if "/runtime-" in url or "worker" in url]  # Python is not asked for


def test_each_stage_shows_its_line_of_the_model_and_no_later_result(new_tab: Open, address: str) -> None:
    page = new_tab()
    page.open(address + "embed/kv-cache.html")  # as wide as the window: a narrow machine lets scores fade
    page.run("document.querySelector('.checks').click()")  # the code of a stage waits with the costs
    opacity = 'Number(getComputedStyle(document.querySelector(".step.S3 {}")).opacity)'
    for number in range(1, len(PHASES) + 1):
        page.run(f"document.querySelector('[name=phase][value=\"{number}\"]').click()")
        seen = settle(page.run)
        assert seen["code"] == ["\n".join(code(number - 1))]
        assert (page.run(opacity.format(".score")) > 0.9) == (number >= 3)
        assert (page.run(opacity.format(".meets b")) > 0.9) == (number >= 4)
        assert (page.run(opacity.format(".mix")) > 0.9) == (number >= 5)
        assert (page.run(opacity.format(".ask-q")) < 0.1) == (number >= 6)
        assert (page.run(opacity.format(".guesses")) > 0.9) == (number >= 7)
        row = page.run('Number(getComputedStyle(document.querySelector(".row.R3 .c-pos")).opacity)')
        assert (row > 0.9) == (number >= 2)
        captions = [page.run(opacity.format(f".captions .P{i}")) for i in range(1, len(PHASES) + 1)]
        assert captions == [i == number for i in range(1, len(PHASES) + 1)]  # one sentence, that of the stage


def test_layer_and_head_change_what_is_shown(new_tab: Open, address: str) -> None:
    page = new_tab(address + "kv-cache-words.html")
    shown = """[...document.querySelectorAll(".row.R2 .c-k .strip")].filter((e) => e.getClientRects().length)
      .map((e) => e.className)"""
    for layer, head, group in ((0, 0, "of-H0 of-H1"), (1, 1, "of-H0 of-H1"), (1, 3, "of-H2 of-H3")):
        page.run(f"document.querySelector('[name=layer][value=\"{layer}\"]').click()")
        page.run(f"document.querySelector('[name=head][value=\"{head}\"]').click()")
        assert page.run(shown) == [f"strip k of-L of-L{layer} of-H {group}"]


@pytest.mark.engines("animations have the engine's own clock", "firefox")
def test_play_walks_all_steps_and_holds(page: Page) -> None:
    page.run('document.querySelector(".T.R0 input").click()')
    # an animation can be asked for its state at any time: no need to wait for it
    page.run('document.querySelector("[name=play]").click()')
    page.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    at = """((seconds) => { for (const a of document.getAnimations()) { a.pause(); a.currentTime = seconds * 1000; }
      const clock = (e) => Number(getComputedStyle(e).getPropertyValue("--t"));
      return [...document.querySelectorAll(".step .ask-q")].map(clock); })"""
    n, last, slot = steps(page), SPANS["ask-q"][1], page.run(SLOT)
    for seconds, playing in ((0.1, 0), (0.9 * slot, 0), (slot + 0.1, 1), ((n - 0.5) * slot, n - 1)):
        clocks = page.run(f"{at}({seconds})")
        assert clocks[:playing] == [last] * playing and clocks[playing + 1 :] == [0] * (n - 1 - playing)
        assert 0 < clocks[playing] <= last
        assert [told.split(":")[0] for told in page.run(SEEN)["narration"]] == [f"Step {playing + 1}"]
    assert page.run(f"{at}({n * slot + 1})") == [last] * n
    assert page.run(SEEN)["narration"][0].startswith(f"Step {n}:")


def test_reduced_motion_has_no_motion_and_no_play(new_tab: Open, engine: str, address: str) -> None:
    if engine == "webkit":
        pytest.skip("WebKitGTK takes the preference from the desktop")
    page = new_tab(address + "kv-cache.html", reduced=True)
    assert page.run('getComputedStyle(document.querySelector(".toggle.play")).display') == "none"
    page.run("document.querySelector(\"[name=phase][value='3']\").click()")
    assert page.run("document.getAnimations().length") == 0
