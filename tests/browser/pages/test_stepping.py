"""A page works first: it steps without JavaScript, from a file, in a frame that may do nothing, by keyboard."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from microgpt.viz.course import PAGES
from microgpt.viz.drawing.phases import PHASES, code
from microgpt.viz.rendering.style import SPANS
from tests.browser.conftest import Open
from tools.browsers import Page
from tools.server import serving

STEPPERS = [page.name for page in PAGES if page.widget == "stepper"]

# what the reader sees, read from the computed styles: the step, the rows, the newest row
SEEN = """(() => {
  const root = document.querySelector(".stepper");
  const shows = (e) => getComputedStyle(e).visibility === "visible" && e.getClientRects().length > 0;
  const row_opacity = (e) => Number(getComputedStyle(e.querySelector(".c-pos")).opacity);
  const rows = [...root.querySelectorAll(".row")].filter(shows);
  return {
    narration: [...root.querySelectorAll(".narration, .narration-played")].filter(shows).map((e) => e.textContent),
    rows: rows.length,
    fresh: rows.flatMap((e, i) => (shows(e.querySelector(".new")) ? [i] : [])),
    visible: rows.every((e) => row_opacity(e) > 0.9),
    meets: [...root.querySelectorAll(".meets")].filter((e) => shows(e.querySelector("b")))
      .map((e) => e.tBodies[0].rows.length),
    code: [...root.querySelectorAll(".phase")].filter(shows).map((e) => e.querySelector("code").textContent),
  };
})()"""


SLOT = """parseFloat(getComputedStyle(document.querySelector(".stage")).getPropertyValue("--len"))"""  # of a step, s
RESTS = "document.getAnimations().every((one) => one.playState !== 'running')"


def settle(page: Page) -> dict[str, Any]:
    """What is seen once transitions are over."""
    page.pause(0.7)
    page.wait(RESTS)
    seen: dict[str, Any] = page.run(SEEN)
    return seen


def steps(page: Page) -> int:
    count: int = page.run('document.querySelectorAll("#tokens input").length')
    return count


def assert_steps_through(page: Page) -> None:
    """Every token, clicked in an order that goes back and forth, shows its own step."""
    n = steps(page)
    assert n >= 5
    for i in (n - 1, 0, n // 2):
        page.click(f"#tokens .R{i} span")
        seen = settle(page)
        assert seen["rows"] == i + 1
        assert seen["fresh"] == [i]
        assert seen["visible"]
        assert seen["meets"] == [i + 1]
        assert len(seen["narration"]) == 1
        assert f"Step {i + 1}:" in str(seen["narration"][0])


@pytest.mark.parametrize("name", STEPPERS)
def test_steps_without_javascript(new_tab: Open, engine: str, address: str, name: str) -> None:
    if engine != "chromium":
        pytest.skip(
            "only Chromium lets a driver look into a page whose scripts are off; the frames below cover the others"
        )
    page = new_tab(javascript=False)
    page.open(f"{address}{name}.html")
    assert_steps_through(page)
    assert page.run('getComputedStyle(document.querySelector(".no-js")).display') == "block"
    assert not page.errors


@pytest.mark.parametrize("name", STEPPERS)
def test_steps_with_javascript_and_asks_only_its_own_server(new_tab: Open, address: str, name: str) -> None:
    page = new_tab()
    page.open(f"{address}{name}.html")
    assert_steps_through(page)
    assert not page.errors
    assert all(url.startswith(address) for url in page.requests)
    assert not [url for url in page.requests if "/runtime-" in url or "worker" in url]  # Python is not asked for


def test_no_button_moves_between_steps(new_tab: Open, address: str) -> None:
    """From step 9 to step 10 too, whose number is a digit longer."""
    page = new_tab()
    page.open(f"{address}kv-cache-words.html")
    steps = page.run('document.querySelectorAll("#tokens input").length')
    assert steps >= 10
    seen = set()
    for i in range(1, steps - 1):
        page.click(f"#tokens .R{i} span")
        found = "[...document.querySelectorAll('.turn .button, .play')].filter((e) => e.checkVisibility())"
        seen.add(tuple(page.run(f"{found}.map((e) => Math.round(e.getBoundingClientRect().x))")))
    assert len(seen) == 1 and len(seen.pop()) == 3


@pytest.mark.parametrize("javascript", [True, False])
def test_steps_from_a_file(new_tab: Open, engine: str, site: Path, javascript: bool) -> None:
    if engine != "chromium" and not javascript:
        pytest.skip("see test_steps_without_javascript")
    page = new_tab(javascript=javascript)
    page.open((site / "kv-cache.html").as_uri())
    assert_steps_through(page)
    assert not page.errors


@pytest.mark.parametrize("sandbox", ["", "allow-scripts", "allow-scripts allow-same-origin"])
def test_steps_in_a_sandboxed_frame(new_tab: Open, engine: str, address: str, tmp_path: Path, sandbox: str) -> None:
    """The frame stands on another origin. What it shows is told apart by its height-independent text: one narration."""
    frame = f'<iframe id="f" sandbox="{sandbox}" width="1300" height="900" src="{address}kv-cache.html"></iframe>'
    (tmp_path / "host.html").write_text(f"<!doctype html><title>host</title>{frame}")
    with serving(tmp_path) as host:
        page = new_tab()
        page.open(host + "host.html")
        if engine == "webkit":
            pytest.skip("WebKit's driver does not enter a frame of opaque origin")
        frames = page.tab.frames  # type: ignore[attr-defined]
        inner = next(f for f in frames if f.url.startswith(address))
        inner.wait_for_load_state()
        for i in (4, 1):
            inner.locator(f"#tokens .R{i} span").first.click()
            narration = inner.locator(f".step.S{i} .narration")
            narration.wait_for(state="visible")
            assert f"Step {i + 1}:" in narration.inner_text()
            assert inner.locator(f".step.S{4 if i == 1 else 0} .narration").is_hidden()


def test_keyboard_alone_steps_and_walks_the_stages(new_tab: Open, address: str) -> None:
    page = new_tab()
    page.open(address + "kv-cache.html")
    for _ in range(12):
        page.press("Tab")
        if page.run('document.activeElement.name === "step"'):
            break
    before = int(page.run("document.activeElement.value"))
    page.press("ArrowRight")
    assert int(page.run('document.querySelector("[name=step]:checked").value')) == before + 1
    assert f"Step {before + 2}:" in str(settle(page)["narration"])
    page.press("ArrowLeft")
    page.press("ArrowLeft")
    assert f"Step {before}:" in str(settle(page)["narration"])
    for _ in range(12):
        page.press("Tab")
        if page.run('document.activeElement.name === "phase"'):
            break
    page.press("ArrowLeft")
    assert page.run('document.querySelector("[name=phase]:checked").value') == "6"
    assert page.run("getComputedStyle(document.activeElement.nextElementSibling).outlineStyle") == "solid"  # is seen


def test_each_stage_shows_its_line_of_the_model_and_no_later_result(new_tab: Open, address: str) -> None:
    page = new_tab()
    page.open(address + "embed/kv-cache.html")  # as wide as the window: a narrow machine lets scores fade
    opacity = 'Number(getComputedStyle(document.querySelector(".step.S3 {}")).opacity)'
    for number in range(1, len(PHASES) + 1):
        page.run(f"document.querySelector('[name=phase][value=\"{number}\"]').click()")
        seen = settle(page)
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
    page = new_tab()
    page.open(address + "kv-cache-words.html")
    shown = """[...document.querySelectorAll(".row.R2 .c-k .strip")].filter((e) => e.getClientRects().length)
      .map((e) => e.className)"""
    for layer, head, group in ((0, 0, "of-H0 of-H1"), (1, 1, "of-H0 of-H1"), (1, 3, "of-H2 of-H3")):
        page.run(f"document.querySelector('[name=layer][value=\"{layer}\"]').click()")
        page.run(f"document.querySelector('[name=head][value=\"{head}\"]').click()")
        assert page.run(shown) == [f"strip k of-L of-L{layer} of-H {group}"]


def test_play_walks_all_steps_and_holds(new_tab: Open, address: str) -> None:
    page = new_tab()
    page.open(address + "kv-cache.html")
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
    page = new_tab(reduced=True)
    page.open(address + "kv-cache.html")
    assert page.run('getComputedStyle(document.querySelector(".toggle.play")).display') == "none"
    page.run("document.querySelector(\"[name=phase][value='3']\").click()")
    assert page.run("document.getAnimations().length") == 0


@pytest.mark.parametrize("width", [320, 390, 1024, 1440])
def test_nothing_scrolls_sideways(new_tab: Open, address: str, width: int) -> None:
    page = new_tab(width=width)
    for page_ in PAGES:
        page.open(f"{address}{page_.name}.html")
        assert page.run("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0
