"""A number is printed whole or not at all: no text is wider than its box or its cell, no number takes a second line,
and none in a cell is too small to read.

Every page and every frame, in each language, from 320 to 1600 pixels wide; then each widget in a column of a wide page,
from 280 to 960. Answers and details are open, and of each choice the case at rest and the last; at a few widths all
cases are, and the first, the last and one between them of what cannot be open at once, as the steps of a stepper or the
cases of a drawing. In Chromium alone, and in a frame, whose width changes in no time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest
from playwright.sync_api import Page as Tab
from playwright.sync_api import Playwright

from microgpt.viz.course import LESSONS
from microgpt.viz.text.language import LANGUAGES
from tests.browser.pages.test_access import EVERYWHERE
from tools.browsers import CHROMIUM_FLAGS, own, which

WIDTHS = range(320, 1601, 20)
COLUMNS = range(280, 961, 20)
FEW = (320, 700, 1020, 1240)  # for every choice
FEW_COLUMNS = (320, 700, 940)
LEAST = 11  # pixels: the smallest number in a cell
FOLDERS = ["" if lang == "en" else f"{lang}/" for lang in LANGUAGES]

HOST = "<!doctype html><title>host</title><iframe width=1600 height=1000></iframe>"
# in every page, before it is there; wrong() tells what is wrong, each kind of place once
FUNCTIONS = r"""
const open = new CSSStyleSheet();
window.show = (cases) => open.replaceSync(`${cases}, .ask .why { display: block !important; }`);
addEventListener("DOMContentLoaded", () => {
  show(".C:last-child");
  document.adoptedStyleSheets = [open];
  for (const e of document.querySelectorAll("details")) e.open = true;
});
window.wrong = (least) => {
  const root = document.scrollingElement, range = document.createRange(), told = new Map(), known = new Map();
  const far = { left: -Infinity, top: -Infinity, right: Infinity, bottom: Infinity };
  const bare = (e) => `${e?.localName} ${(e?.className ?? "").replace(/\b([LHO]\d?|[znp]\d*)(?= |$)/g, "").trim()}`;
  const say = (what, e, text) => {
    const place = `${what}: ${bare(e.parentElement)} > ${bare(e)}`;
    told.set(place, [...(told.get(place) ?? []), text]);
  };
  // the box that cuts an element's text off (none, where it can be scrolled to), and the cell that the text is in;
  // null for what is not seen, or for the ear alone
  const bounds = (e) => {
    if (!known.has(e)) known.set(e, measure(e));
    return known.get(e);
  };
  const measure = (e) => {
    const style = getComputedStyle(e), box = e.getBoundingClientRect(), { overflowX: x, overflowY: y } = style;
    const page = { clip: { ...far, left: 0, right: root.clientWidth } };
    const above = e === document.body ? page : bounds(e.parentElement);
    if (!above || style.clipPath !== "none" || style.opacity === "0") return null;
    const cell = /^(inline|contents)$/.test(style.display) ? above.cell : { e, box };
    if (x === "auto" || x === "scroll" || y === "auto" || y === "scroll") return { style, cell, clip: far };
    if (x === "visible" && y === "visible") return { style, cell, clip: above.clip };
    const own = x === "visible" ? { ...far, top: box.top, bottom: box.bottom }
      : y === "visible" ? { ...far, left: box.left, right: box.right } : box;
    return { style, cell, clip: {
      left: Math.max(above.clip.left, own.left), top: Math.max(above.clip.top, own.top),
      right: Math.min(above.clip.right, own.right), bottom: Math.min(above.clip.bottom, own.bottom) } };
  };
  if (root.scrollWidth > root.clientWidth) say("the page scrolls sideways", root, root.scrollWidth);
  window.texts ??= [...document.querySelectorAll("body *")].filter((e) => !e.closest("svg, option, textarea, script"))
    .flatMap((e) => [...e.childNodes].filter((n) => n.nodeType === Node.TEXT_NODE && n.data.trim()));
  for (const node of texts) {
    const e = node.parentElement;
    if (!e?.checkVisibility()) continue;
    const found = bounds(e);
    if (found?.style.visibility !== "visible") continue;
    range.selectNodeContents(node);
    const lines = [...range.getClientRects()].filter((line) => line.width);
    if (!lines.length) continue;
    const { clip, cell } = found, text = node.data.trim().slice(0, 40), code = e.closest("pre");
    const beyond = (box) => lines.some((line) => line.left < box.left - 0.5 || line.right > box.right + 0.5);
    const below = lines.some((line) => line.top < clip.top - 3 || line.bottom > clip.bottom + 3);
    if (beyond(clip) || below) say("cut off", e, text);
    else if (!code && beyond(cell.box)) say("wider than its cell", e, text);
    const figure = /(?<![\p{L}\d.-])[−-]?\d[\d.,\u202f]*(e[−-]?\d+)?/gu;
    const numbers = lines.length > 1 && !code ? node.data.matchAll(figure) : [];
    for (const { index, 0: number } of numbers) {
      range.setStart(node, index);
      range.setEnd(node, index + number.length);
      if (range.getClientRects().length > 1) say("in two lines", e, number);
    }
    const small = parseFloat(found.style.fontSize) < least;
    if (small && cell.e.matches("i, td") && /\d/.test(text)) say("too small", e, text);
  }
  return [...told].map(([place, texts]) => `${place} (${texts.length}, ${texts[0]})`);
};
// of the frame; `column` is the width of the widget in it
window.walk = (widths, least, column = false) => {
  const frame = document.querySelector("iframe"), inside = frame.contentDocument, found = [];
  const place = column ? inside.querySelector(".widget") : frame;
  if (column) frame.style.width = "1600px";
  for (const width of widths) {
    place.style.width = `${width}px`;
    const wrong = frame.contentWindow.wrong(least);
    if (wrong.length) found.push([width, ...wrong]);
  }
  place.style.width = "";
  return found;
};
// the names of radio buttons that show one state at a time, and how many each has
window.groups = () => Object.entries(Object.groupBy(document.querySelectorAll(
  "main [type=radio]:not(.cases:not(:has(> .drawn)) > .pick *, .ask *):enabled"), (e) => e.name))
  .map(([name, all]) => [name, all.length]);
window.choose = (name, at) => document.querySelectorAll(`main [type=radio][name="${name}"]`)[at].click();
"""


@pytest.fixture(scope="module")
def tab(playwright: Playwright) -> Iterator[Tab]:
    if not which("chromium") and not own(playwright, "chromium"):
        pytest.skip("chromium is not installed")
    browser = playwright.chromium.launch(executable_path=which("chromium"), args=CHROMIUM_FLAGS)
    page = browser.new_page(reduced_motion="reduce", viewport={"width": 1700, "height": 1000})
    page.add_init_script(FUNCTIONS)
    page.route("**/host.html", lambda route: route.fulfill(body=HOST, content_type="text/html"))
    yield page
    browser.close()


def wrong(tab: Tab, widths: Sequence[int], column: bool = False) -> dict[int, list[str]]:
    """What is wrong, by width."""
    found = tab.evaluate("([widths, least, column]) => walk(widths, least, column)", [list(widths), LEAST, column])
    return {width: texts for width, *texts in found}


def frame(tab: Tab, address: str, path: str) -> None:
    """The page of that path in a frame."""
    tab.goto(f"{address}host.html")
    tab.evaluate(
        "(url) => new Promise((done) => Object.assign(document.querySelector('iframe'), { onload: done, src: url }))",
        f"{address}{path}.html",
    )


@pytest.mark.parametrize("folder", FOLDERS, ids=list(LANGUAGES))
@pytest.mark.parametrize("name", EVERYWHERE)
def test_every_number_is_printed_whole(tab: Tab, address: str, folder: str, name: str) -> None:
    frame(tab, address, folder + name)
    assert wrong(tab, WIDTHS) == {}
    if folder or "/" in name:
        return  # the same numbers in the same places
    tab.frames[1].evaluate("show('.C')")
    assert wrong(tab, FEW) == {}
    for group, n in tab.frames[1].evaluate("groups()"):
        for at in {0, n // 2, n - 1}:
            tab.frames[1].evaluate(f"choose({group!r}, {at})")
            assert wrong(tab, FEW) == {}, (group, at)


# the stepper's layout follows the width of the page
@pytest.mark.parametrize("folder", FOLDERS, ids=list(LANGUAGES))
@pytest.mark.parametrize("name", [page.name for page in LESSONS if page.widget != "stepper"])
def test_every_number_is_printed_whole_in_a_column(tab: Tab, address: str, folder: str, name: str) -> None:
    frame(tab, address, folder + name)
    assert wrong(tab, COLUMNS, column=True) == {}
    tab.frames[1].evaluate("show('.C')")
    assert wrong(tab, FEW_COLUMNS, column=True) == {}
