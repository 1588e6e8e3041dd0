"""Every page and every frame, English and Spanish, opened once, and all that a page must hold tried on that one load:
no text beside the page, cut off or wider than its cell, numbers and headings whole, bars as long as their numbers say,
nothing missing on a larger screen, targets large enough, the field for one's own text on the first screen, the rules of
axe in the light or in the dark (by night in both), letters spaced (WCAG 2.2, 1.4.12), nothing on the console.

In Chromium at all widths, a translation at some, in a frame, whose width changes in no time; what others frame in the
language with the longer words. Answers and details are open, and of each choice the last case; then all cases are, and
the first and the last of what cannot be open at once, as the steps of a stepper or the cases of a drawing; then each
lesson's widget in a column of a wide page. The other engines look at each page once, as wide as a phone.
"""

import json
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest
from axe_playwright_python.base import AXE_FILE_PATH
from playwright.sync_api import Browser, Frame
from playwright.sync_api import Page as Tab

from microgpt.course import COURSE_PARTS, LESSONS, PAGES
from microgpt.viz.text.language import LANGUAGES
from tests.browser.conftest import Open
from tests.support.proved import Proof
from tools.browsers import CHROMIUM_FLAGS, which

EVERYTHING = bool(os.environ.get("EVERYTHING"))
# Phones, a tablet, a desk, and where a layout has just become a wider one, which has the least room then.
WIDTHS: Sequence[int] = (320, 390, 480, 690, 768, 960, 1024, 1100, 1440, 1920)
SOME: Sequence[int] = (320, 390, 690, 960, 1100, 1440)  # for the same places with other words
FEW: Sequence[int] = (320, 1020)  # for every choice
ENDS: Sequence[int] = (320, 390, 1440)  # of frames, which hold a part of their own page
COLUMNS: Sequence[int] = (280, 390, 570, 750, 960)
FEW_COLUMNS = (320, 940)
if EVERYTHING:
    WIDTHS = SOME = ENDS = (*range(320, 1601, 20), 1920, 2560)
    COLUMNS = range(280, 961, 20)
    FEW = (320, 700, 1020, 1240)
ALSO = {"small": {320, 1440}, "uneven": {320, 690, 1024, 1440}, "torn": {390, 1100}}  # what is tried at some widths
LEAST = 11  # pixels: the smallest number in a cell

NAMES = [page.name for page in PAGES]
FRAMES = [f"embed/{page.name}" for page in PAGES if page.widget or page.framed]
CASES = [(name, lang) for name in NAMES for lang in LANGUAGES]
CASES += [(name, lang) for name in FRAMES for lang in LANGUAGES if EVERYTHING or lang != "en"]  # where words are longer
MANY = {"bugs", "model-that-talks-numbers", "chat-turn-numbers"}  # much of few kinds: at fewer widths
COLUMNED = {page.name for page in LESSONS if page.widget != "kv_cache"}  # whose layout follows the page's width
FOLDERS = {lang: "" if lang == "en" else f"{lang}/" for lang in LANGUAGES}
# What stands in Spanish and in frames stands on the English page too, and some pages are made of the same parts: axe
# looks at one of each kind.
ALIKE = {
    "kv-cache-words",
    "chat-turn",
    "chat-turn-numbers",
    "model-that-talks",
    *(part.sheet for part in COURSE_PARTS[1:]),
}
SAMPLE = {"es/index", "es/kv-cache", "es/with-and-without", "es/embed-builder"}
SAMPLE |= {"es/embed/kv-cache-words", "es/embed/memory"}

THEMES = ("light", "dark")

AXE = Path(AXE_FILE_PATH).read_text("utf-8")
FOUND = """violations().then((r) => JSON.stringify(r.violations.map(
  (v) => [v.id, v.nodes.slice(0, 3).map((n) => n.html.slice(0, 160) + " " + n.failureSummary.slice(0, 200))])))"""
# Contrast takes axe as long as all the rest: by day it looks at one of each kind of text.
OF_KINDS = """axe.configure({ rules: [{ id: "color-contrast", selector: "[data-kind]" }] });
  for (const e of kinds()) e.dataset.kind = "" """
PREDICATES = Path(__file__).with_name("predicates.js").read_text("utf-8")
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


def themes(name: str, lang: str) -> Sequence[str]:
    """Those that axe looks at. By day, as all pages share their styles, one in the dark, the next in the light."""
    odd = NAMES.index(name.removeprefix("embed/")) + (lang == "en")
    return THEMES if EVERYTHING else (THEMES[odd % 2],)


def asked(widths: Sequence[int], *also: str) -> list[tuple[int, list[str]]]:
    """At each width the names of the predicates that are tried there, each width laid out once."""
    return [(width, ["wrong", *(one for one in also if width in ALSO.get(one, widths))]) for width in widths]


class Opened(NamedTuple):
    """A page in a frame of a wide tab."""

    tab: Tab
    errors: list[str]  # what its console has said

    @property
    def page(self) -> Frame:
        return self.tab.frames[1]

    def open(self, url: str) -> None:
        """The page of that address, in a frame of its own site."""
        self.errors.clear()
        self.tab.goto(f"{url.partition('?')[0].rpartition('/')[0]}/host.html")
        self.tab.evaluate(
            "(src) => new Promise((onload) => Object.assign(document.querySelector('iframe'), { onload, src }))", url
        )
        self.page.evaluate(PREDICATES)

    def wrong(self, widths: Sequence[int], *also: str, least: int = LEAST, column: bool = False) -> list[str]:
        """What is wrong with the text at these widths of the frame, or of the widget in it, and what else is."""
        found: list[str] = self.page.evaluate("(asked) => walk(...asked)", [asked(widths, *also), least, column])
        return found

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
    tab = browser.new_page(reduced_motion="reduce", viewport={"width": 1700, "height": 1000})
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
    passed = unless_proved(one, site, path, "any width")
    one.open(f"{address}{path}.html")
    wrong = one.late(750) if framed else one.late(390, 1440)
    whole = english or framed or EVERYTHING  # a translation has the bars and the pieces of its page
    if english:
        one.page.evaluate("space(true)")
        wrong += one.wrong(FEW, least=0)
        one.page.evaluate("space(false)")
    if EVERYTHING or path in SAMPLE or (english and not framed and name not in ALIKE):
        one.page.evaluate("() => {" + AXE + "\n" + ("" if EVERYTHING else OF_KINDS) + "}")
        wrong += [told for theme in themes(name, lang) for told in one.axe(theme)]
    one.page.evaluate("unfold()")
    also = [*(("poorer", "uneven") if whole else ()), *(("torn",) if english else ())]
    many = name in MANY and not EVERYTHING
    widths = ENDS if framed or (many and not english) else SOME if many or not whole else WIDTHS
    wrong += one.wrong(widths, "small", *also)
    if english and not framed:
        wrong += one.in_every_state()
    if name in COLUMNED and (english or EVERYTHING):
        one.page.evaluate("show('.C:last-child')")
        wrong += one.wrong(COLUMNS, column=True)
        one.page.evaluate("show('.C')")
        wrong += one.wrong(FEW_COLUMNS, column=True)
    assert not (found := [*wrong, *one.errors]), "\n".join(map(str, found))
    passed.keep()


@pytest.fixture(scope="module")
def larger(chromium: Browser) -> Iterator[Opened]:
    """A tab of a reader who has set letters twice as large (WCAG 2.2, 1.4.4)."""
    flags = [*CHROMIUM_FLAGS, "--blink-settings=defaultFontSize=32"]
    browser = chromium.browser_type.launch(executable_path=which("chromium"), args=flags)
    yield opened(browser)
    browser.close()


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_lost_with_letters_twice_as_large(larger: Opened, site: Path, address: str, name: str) -> None:
    passed = unless_proved(larger, site, name, "twice as large")
    larger.open(f"{address}{name}.html")
    assert larger.page.evaluate("getComputedStyle(document.documentElement).fontSize") == "32px"
    wrong = larger.wrong(WIDTHS if EVERYTHING else FEW, least=0)
    assert not wrong, "\n".join(wrong)
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
    page, found = new_tab(width=390, reduced=True), list[str]()
    version, passed = page.run("navigator.userAgent"), list[Proof]()
    for name in NAMES:
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
