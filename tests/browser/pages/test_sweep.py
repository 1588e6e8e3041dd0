"""Every page and every frame, English and Spanish, opened once, and all that a page must hold tried on that one load:
no text beside the page, cut off or wider than its cell, numbers and headings whole, bars as long as their numbers say,
nothing missing on a larger screen, targets large enough, the field for one's own text on the first screen, the rules of
axe in the light or in the dark (by night in both), letters spaced or twice as large (WCAG 2.2, 1.4.12 and 1.4.4),
nothing on the console.

In Chromium, in a frame, whose width changes in no time; what others frame in the language with the longer words.
Answers and details are open, and of each choice the last case; then all cases are, and the first and the last of what
cannot be open at once, as the steps of a stepper or the cases of a drawing; then each lesson's widget in a column of a
wide page. The other engines look at pages once, as wide as a phone.

To lay a page out is what takes long. By day it is done at some widths, at others on the next page, which has the same
styles; every fourth page is tried in Spanish too, or its frame, and axe looks at every fourth lesson. By night all is
tried.
"""

import json
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar
from urllib.parse import urljoin

import pytest
from axe_playwright_python.base import AXE_FILE_PATH
from playwright.sync_api import Browser, Frame
from playwright.sync_api import Page as Tab

from microgpt.course import COURSE_PARTS, LESSONS, PAGES
from microgpt.viz.text.language import LANGUAGES
from tests.browser.conftest import Open
from tests.support.proved import Proof

EVERYTHING = bool(os.environ.get("EVERYTHING"))
# Phones, a tablet, a desk, and where a layout has just become a wider one, which has the least room then.
WIDTHS: Sequence[int] = (320, 390, 480, 690, 768, 960, 1024, 1100, 1440, 1920)
FEW: Sequence[int] = (320, 1020)  # for every choice
COLUMNS: Sequence[int] = (280, 390, 570, 750, 960)
FEW_COLUMNS = (320, 940)
if EVERYTHING:
    WIDTHS = (*range(320, 1601, 20), 1920, 2560)
    COLUMNS = range(280, 961, 20)
    FEW = (320, 700, 1020, 1240)
# what is tried at some widths
ALSO = {"small": {320, 1440}, "uneven": {320, 690, 1024, 1440}, "torn": {390, 480, 1100, 1440}}
LEAST = 11  # pixels: the smallest number in a cell


Of = TypeVar("Of")


def some(of: Sequence[Of], at: int, step: int = 2, *always: Of) -> list[Of]:
    """By day every `step`-th of them, another on the next page; and these."""
    return [one for i, one in enumerate(of) if EVERYTHING or one in always or (at + i) % step == 0]


def asked(widths: Sequence[int], *also: str) -> list[tuple[int, list[str]]]:
    """At each width the names of the predicates that are tried there, each width laid out once."""
    return [(width, ["wrong", *(one for one in also if width in ALSO.get(one, widths))]) for width in widths]


TWINS = {"model-that-talks", "model-that-talks-numbers"}  # the two pages of chat-turn again, with a longer text
NAMES = [page.name for page in PAGES if EVERYTHING or page.name not in TWINS]
FRAMES = [f"embed/{page.name}" for page in PAGES if page.widget or page.framed]
FRAMED = {(name, "es") for name in some(FRAMES, 2, 4, "embed/kv-cache", "embed/inside", "embed/workbench")}
CASES = [(name, lang) for lang in LANGUAGES for name in (NAMES if lang == "en" else some(NAMES, 0, 4, "index"))]
CASES += [(name, lang) for lang in LANGUAGES for name in FRAMES if EVERYTHING or (name, lang) in FRAMED]
# much of few kinds, or the machine of kv-cache with a longer text: at fewer widths
MANY = {"bugs", "chat-turn", "chat-turn-numbers"}
COLUMNED = {page.name for page in LESSONS if page.widget != "kv_cache"}  # whose layout follows the page's width
FOLDERS = {lang: "" if lang == "en" else f"{lang}/" for lang in LANGUAGES}
# What stands in Spanish and in frames stands on the English page too, and some pages are made of the same parts: axe
# looks at one of each kind.
ALIKE = {"chat-turn", *(part.sheet for part in COURSE_PARTS[1:]), *(page.name for page in LESSONS)}
ALIKE -= {"kv-cache", "prefill-and-decode", *(page.name for page in LESSONS[1::4])}
SAMPLE = {"es/index", "es/embed/kv-cache"}
THEMES = ("light", "dark")

AXE = Path(AXE_FILE_PATH).read_text("utf-8")
FOUND = """violations().then((r) => JSON.stringify(r.violations.map(
  (v) => [v.id, v.nodes.slice(0, 3).map((n) => n.html.slice(0, 160) + " " + n.failureSummary.slice(0, 200))])))"""
# Contrast takes axe as long as all the rest: by day it looks at one of each kind of text.
OF_KINDS = """axe.configure({ rules: [{ id: "color-contrast", selector: "[data-kind]" }] });
  for (const e of kinds()) e.dataset.kind = "" """
PREDICATES = Path(__file__).with_name("predicates.js").read_text("utf-8")
OPENS = """(src) => new Promise((onload) =>
  Object.assign(document.querySelector("iframe"), { onload, src, style: "" }))"""
HOST = "<!doctype html><title>host</title><link rel=icon href='data:,'><iframe width=1600 height=1000></iframe>"


def proof(site: Path, name: str, test: str, version: str) -> Proof:
    """That a page, what is beside it and the pages that it frames have passed a test in that browser. It names Python's
    folder after what is in it, which a page that starts no Python does not read."""
    page = (site / f"{name}.html").read_bytes()
    frames = re.findall(rb' src="([\w/-]+\.html)', page)
    read = [page, *((site / name).parent.joinpath(frame.decode()).read_bytes() for frame in frames)]
    read += [(site / beside).read_bytes() for beside in ("style.css", "boot.js", "host.js")]
    bare = [re.sub(rb"runtime-[0-9a-f]{32}", b"runtime", data) for data in read]
    return Proof(test, version, name, *bare, Path(__file__).read_bytes(), PREDICATES, AXE)


def unless_proved(one: "Opened", site: Path, name: str, test: str) -> Proof:
    browser = one.tab.context.browser
    found = proof(site, name, test, browser.version if browser else "")
    if found.holds():
        pytest.skip("has passed on the same bytes")
    return found


class Opened(NamedTuple):
    """A page in a frame that is larger than its tab."""

    tab: Tab
    errors: list[str]  # what its console has said

    @property
    def page(self) -> Frame:
        return self.tab.frames[1]

    def open(self, url: str) -> None:
        """The page of that address, in a frame of its own site."""
        if self.tab.url != (host := urljoin(url, "/host.html")):
            self.tab.goto(host)
        self.errors.clear()
        self.tab.evaluate(OPENS, url)
        self.page.evaluate(PREDICATES)

    def wrong(self, widths: Sequence[int], *also: str, least: int = LEAST, column: bool = False) -> list[str]:
        """What is wrong with the text at these widths of the frame, or of the widget in it, and what else is."""
        found: list[str] = self.page.evaluate("(asked) => walk(...asked)", [asked(widths, *also), least, column])
        return found

    def letters(self, size: int) -> None:
        """Of a reader who has set them so large, which the page hears of as soon as it is asked."""
        session = self.tab.context.new_cdp_session(self.tab)
        session.send("Page.setFontSizes", {"fontSizes": {"standard": size}})
        session.detach()

    def late(self, *widths: int) -> list[str]:
        found: list[str] = self.page.evaluate("(asked) => walk(asked)", [(width, ["late"]) for width in widths])
        return found

    def in_every_state(self) -> list[str]:
        """What is wrong when all cases are open, and in the first and the last of what shows one at a time: the one on
        a phone, the other on a desk."""
        self.page.evaluate("show('.C')")
        ways = [(FEW, 0), (FEW, 0.5), (FEW, 1)] if EVERYTHING else [(FEW[:1], 0), (FEW[1:], 1)]
        states = [[asked(widths), LEAST, share, EVERYTHING] for widths, share in ways]
        found: list[str] = self.page.evaluate("(ways) => ways.flatMap((way) => states(...way))", states)
        return found

    def axe(self, theme: str) -> list[str]:
        """What axe finds on a desk."""
        self.page.evaluate("frameElement.style.width = '1440px'")
        self.page.evaluate(f"document.querySelector('[name=theme][value={theme}]')?.click()")
        found: list[str] = json.loads(self.page.evaluate(FOUND))
        return found


def opened(browser: Browser) -> Opened:
    tab = browser.new_page(reduced_motion="reduce", viewport={"width": 200, "height": 100})  # no more is painted
    tab.route("**/host.html", lambda route: route.fulfill(body=HOST, content_type="text/html"))
    errors = list[str]()
    tab.on("console", lambda m: errors.append(m.text) if m.type in ("error", "warning") else None)
    tab.on("pageerror", lambda error: errors.append(str(error)))
    return Opened(tab, errors)


@pytest.fixture(scope="module")
def one(chromium: Browser) -> Iterator[Opened]:
    """One tab for all pages, in which nothing moves."""
    found = opened(chromium)
    yield found
    found.tab.context.close()


@pytest.mark.parametrize(("name", "lang"), CASES, ids=[f"{name}-{lang}" for name, lang in CASES])
def test_a_page_holds_at_any_width_and_in_any_state(
    one: Opened, site: Path, address: str, name: str, lang: str
) -> None:
    path, framed, english = FOLDERS[lang] + name, name in FRAMES, lang == "en"
    at = NAMES.index(name.removeprefix("embed/"))
    passed = unless_proved(one, site, path, "any width")
    one.open(f"{address}{path}.html")
    wrong = one.late(750) if framed else one.late(*some((390, 1440), at))
    whole = english or framed or EVERYTHING  # a translation has the bars and the pieces of its page
    if english and not framed and (at % 2 or EVERYTHING):
        one.letters(32)
        assert one.page.evaluate("getComputedStyle(document.documentElement).fontSize") == "32px"
        wrong += one.wrong(WIDTHS if EVERYTHING else some(FEW, at // 2), least=0)
        one.letters(16)
    if english and (at % 2 == 0 or EVERYTHING):
        one.page.evaluate("space(true)")
        wrong += one.wrong(some(FEW, at // 2), least=0)
        one.page.evaluate("space(false)")
    if EVERYTHING or path in SAMPLE or (english and not framed and name not in ALIKE):
        one.page.evaluate("() => {" + AXE + "\n" + ("" if EVERYTHING else OF_KINDS) + "}")
        wrong += [told for theme in some(THEMES, at + english) for told in one.axe(theme)]
    one.page.evaluate("unfold()")
    also = [*(("poorer", "uneven") if whole else ()), *(("torn",) if english else ())]
    step, always = (5, {320}) if name in MANY or not english else (4, {320, 1440, 1920})
    wrong += one.wrong(some(WIDTHS, at, step, *always), "small", *also)
    if english and not framed:
        wrong += one.in_every_state()
    if name in COLUMNED and (english or EVERYTHING):
        one.page.evaluate("show('.C:last-child')")
        wrong += one.wrong(some(COLUMNS, at, 4), column=True)
        one.page.evaluate("show('.C')")
        wrong += one.wrong(some(FEW_COLUMNS, at), column=True)
    assert not (found := [*wrong, *one.errors]), "\n".join(map(str, found))
    passed.keep()


@pytest.mark.engines("lays out, measures and breaks text by its own rules")
@pytest.mark.timeout(600)
@pytest.mark.parametrize("engine", ["firefox", "webkit"], indirect=True)
@pytest.mark.parametrize(
    "folder",
    [
        pytest.param(folder, id=lang, marks=pytest.mark.thorough("the same places with other words") if folder else ())
        for lang, folder in FOLDERS.items()
    ],
)
def test_every_page_in_the_other_engines(new_tab: Open, site: Path, address: str, folder: str) -> None:
    """By day each looks at every fourth page, and at the machine."""
    page, found = new_tab(width=390, reduced=True), list[str]()
    version, passed = page.run("navigator.userAgent"), list[Proof]()
    for name in some(NAMES, "Firefox" in version, 4, "kv-cache"):
        passed.append(proof(site, folder + name, "other engines", version))
        if passed[-1].holds():
            continue
        page.open(f"{address}{folder}{name}.html")
        page.run(f"(() => {{ {PREDICATES} unfold(); return 0; }})()")
        found += [f"{name}: {one}" for one in [*page.run("wrong(0)"), *page.errors]]
        page.errors.clear()
    assert not found, "\n".join(found)
    for one in passed:
        one.keep()
