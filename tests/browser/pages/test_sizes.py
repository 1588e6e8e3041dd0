"""Any width, letters twice as large, and the spacing of text that WCAG 2.2 lets a reader ask for (1.4.4, 1.4.10,
1.4.12): no page scrolls sideways, and no text is beside the page, cut off, or over what stands next to it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page as Tab
from playwright.sync_api import Playwright

from microgpt.viz.course import LESSONS
from microgpt.viz.course import Page as Lesson
from tests.browser.conftest import Open
from tests.browser.pages.test_access import EVERYWHERE
from tools.browsers import CHROMIUM_FLAGS, PlaywrightPage, own, which

WIDTHS = (320, 344, 360, 390, 480, 640, 690, 768, 800, 960, 970, 1024, 1100, 1152, 1280, 1440, 1600)
# as a reader's own style sheet would; the pages' policy lets no style element in
SPACED = """(() => { const style = new CSSStyleSheet(); style.replaceSync(`* { line-height: 1.5 !important;
  letter-spacing: .12em !important; word-spacing: .16em !important; } p { margin-bottom: 2em !important; }`);
  document.adoptedStyleSheets = [style]; })()"""
# the words in the heads of tables that are broken, and no hyphen says so
TORN = """[...document.querySelectorAll("thead th")].flatMap((th) => {
  const found = [], walk = document.createTreeWalker(th, NodeFilter.SHOW_TEXT);
  for (let n; (n = walk.nextNode());)
    for (const word of n.data.matchAll(/[^\\s-]+/g)) {
      const range = document.createRange();
      range.setStart(n, word.index); range.setEnd(n, word.index + word[0].length);
      if (new Set([...range.getClientRects()].map((box) => Math.round(box.top))).size > 1) found.push(word[0]);
    }
  return found; })"""
# What is wrong, as text. What can be scrolled within its own box is not lost; what is for the ear alone is not seen.
WRONG = """(() => {
  const all = (selector) => [...document.querySelectorAll(selector)];
  const style = (e, name) => getComputedStyle(e)[name];
  const above = (e, found) => {
    for (let p = e; p && p !== document.body; p = p.parentElement) if (found(p)) return p; };
  const scrolls = (e) => above(e, (p) => /auto|scroll/.test(style(p, "overflowX")));
  const tell = (what, e) => `${what}: ${e.parentElement.className} > ${e.outerHTML.slice(0, 70)}`;
  const root = document.scrollingElement, wide = root.scrollWidth > root.clientWidth, wrong = [];
  const right = (e) => e.getBoundingClientRect().right;
  const seen = all("body *").filter((e) => e.checkVisibility({ visibilityProperty: true, opacityProperty: true }));
  if (wide) {
    const [widest] = seen.filter((e) => !scrolls(e)).sort((a, b) => right(b) - right(a));
    wrong.push(tell(`the page is ${root.scrollWidth} wide`, widest));
  }
  for (const e of seen) {
    const words = [...e.childNodes].filter((n) => n.nodeType === Node.TEXT_NODE && n.textContent.trim());
    if (!words.length || style(e, "fontSize") === "0px" || e.closest(".probe, svg, pre, option, textarea")) continue;
    if (above(e, (p) => style(p, "clipPath") !== "none") || scrolls(e)) continue;
    const range = document.createRange(), box = e.getBoundingClientRect();
    const boxes = words.map((n) => (range.selectNodeContents(n), range.getBoundingClientRect()));
    const beyond = (r) => boxes.some((b) => b.left < r.left - 1 || b.right > r.right + 1);
    const cutter = above(e, (p) => /hidden|clip/.test(style(p, "overflowX")));
    if (beyond({ left: 0, right: innerWidth })) wrong.push(tell("beside the page", e));
    const cut = cutter?.getBoundingClientRect();
    if (cut && (beyond(cut) || boxes.some((b) => b.bottom > cut.bottom + 3))) wrong.push(tell("cut off", e));
    if (style(e, "display") !== "inline" && boxes.some((b) => b.right > box.right + 2)) wrong.push(tell("over", e));
  }
  return wrong.slice(0, 5);
})()"""
# a number in a cell of the pictures that takes a second line
BROKEN = """[...document.querySelectorAll(".strip i")].filter((e) => {
  const range = document.createRange(); range.selectNodeContents(e);
  return getComputedStyle(e).fontSize !== "0px" && range.getClientRects().length > 1; }).length"""


@pytest.fixture(scope="module", params=["as they are", "twice as large", "spaced"])
def letters(playwright: Playwright, request: pytest.FixtureRequest) -> Iterator[tuple[str, Tab]]:
    """A tab with the reader's own letters."""
    if not which("chromium") and not own(playwright, "chromium"):
        pytest.skip("chromium is not installed")
    flags = [*CHROMIUM_FLAGS, *(["--blink-settings=defaultFontSize=32"] if request.param == "twice as large" else [])]
    browser = playwright.chromium.launch(executable_path=which("chromium"), args=flags)
    yield request.param, browser.new_page(reduced_motion="reduce")
    browser.close()


@pytest.mark.parametrize("folder", ["", "es/"], ids=["en", "es"])
@pytest.mark.parametrize("name", EVERYWHERE)
def test_nothing_is_lost_at_any_width(letters: tuple[str, Tab], site: Path, folder: str, name: str) -> None:
    kind, tab = letters
    tab.goto(f"{(site / folder / name).as_uri()}.html")
    if kind == "spaced":
        tab.evaluate(SPACED)
    if kind == "twice as large":
        assert tab.evaluate("getComputedStyle(document.documentElement).fontSize") == "32px"
    for width in WIDTHS:
        tab.set_viewport_size({"width": width, "height": 1000})
        assert tab.evaluate(WRONG) == [], width
        assert kind != "as they are" or tab.evaluate(BROKEN) == 0, width


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_the_words_in_the_heads_of_tables_stay_whole(letters: tuple[str, Tab], site: Path, lesson: Lesson) -> None:
    kind, tab = letters
    if kind != "as they are":
        pytest.skip("larger letters need more room")
    tab.goto(f"{(site / lesson.name).as_uri()}.html")
    tab.evaluate("document.querySelectorAll('details').forEach((e) => { e.open = true; })")
    for width in (390, 1280):
        tab.set_viewport_size({"width": width, "height": 1000})
        assert tab.evaluate(TORN) == [], width


SAMPLE = ["prefill-and-decode", "kv-cache", "with-and-without", "embed/inside", "es/training", "es/embed/fewer-heads"]


@pytest.mark.parametrize("name", SAMPLE)
def test_nothing_is_lost_in_other_engines(new_tab: Open, engine: str, address: str, name: str) -> None:
    if engine == "chromium":
        pytest.skip("see above")
    page = new_tab(width=390, reduced=True)
    page.open(f"{address}{name}.html")
    for spaced in (False, True):
        if spaced:
            page.run(SPACED)
        for width in (390, 1024) if isinstance(page, PlaywrightPage) else (390,):
            if isinstance(page, PlaywrightPage):
                page.tab.set_viewport_size({"width": width, "height": 1000})
            assert page.run(WRONG) == [], (width, spaced)


@pytest.mark.parametrize("name", ["kv-cache", "kv-cache-words"])
@pytest.mark.parametrize("motion", ["reduce", "no-preference"])
def test_a_low_frame_holds_the_whole_machine(letters: tuple[str, Tab], site: Path, name: str, motion: Any) -> None:
    kind, tab = letters
    if kind != "as they are":
        pytest.skip("larger letters need more room: the page scrolls")
    tab.set_viewport_size({"width": 750, "height": 450})
    tab.emulate_media(reduced_motion=motion)
    tab.goto((site / "embed" / f"{name}.html").as_uri())
    for part in (".tokens", ".stage", ".phases", ".nav", ".heads"):
        box = tab.locator(part).bounding_box()
        assert box and box["y"] >= 0 and box["y"] + box["height"] <= 450, part
    tab.emulate_media(reduced_motion="reduce")
