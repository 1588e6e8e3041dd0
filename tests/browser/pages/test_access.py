"""WCAG 2.2 AA, as far as a machine can tell: axe, what a screen reader gets, targets, zoom, colours, scripts.

The whole matrix runs in Chromium, in one tab; the other engines look at each page once.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.base import AXE_FILE_PATH
from playwright.sync_api import Browser, Playwright
from playwright.sync_api import Page as Tab

from microgpt.viz.course import LESSONS, PAGES
from tests.browser.conftest import Open
from tests.browser.live import open_live, press
from tools.browsers import CHROMIUM_FLAGS, own, which

NAMES = [page.name for page in PAGES]
EVERYWHERE = [*NAMES, *(f"embed/{page.name}" for page in LESSONS)]
AXE = Path(AXE_FILE_PATH).read_text("utf-8")
FOUND = """axe.run({resultTypes: ["violations"] %s}).then((r) => JSON.stringify(r.violations.map(
  (v) => [v.id, v.nodes.slice(0, 3).map((n) => n.html.slice(0, 160) + " " + n.failureSummary.slice(0, 200))])))"""
COLOURS = ', runOnly: ["color-contrast", "link-in-text-block"]'
# what can be pressed and is smaller than 24 x 24, but for what stands in a sentence; a label presses its control
SMALL = """[...document.querySelectorAll("a, button, input, label, summary, select, textarea")].flatMap((e) => {
  const shown = e.checkVisibility({ visibilityProperty: true, opacityProperty: true }) && !e.closest(".skip");
  const said = [...e.parentNode.childNodes].some((n) => n.nodeType === Node.TEXT_NODE && /\\p{L}/u.test(n.textContent));
  if (!shown || e.closest("label") !== (e.matches("label") ? e : null)) return [];
  if (e.matches("a, .to") && getComputedStyle(e).display === "inline" && said) return [];
  const { width, height } = e.getBoundingClientRect();
  return width >= 24 && height >= 24 ? [] : [`${e.outerHTML.slice(0, 90)} ${width} x ${height}`]; })"""
# text that is beside the screen, or that its own box cuts off
LOST = """[...document.querySelectorAll("main *, header *, footer *")].flatMap((e) => {
  const words = [...e.childNodes].filter((n) => n.nodeType === Node.TEXT_NODE && n.textContent.trim());
  const shown = e.checkVisibility({ visibilityProperty: true, opacityProperty: true }), style = getComputedStyle(e);
  const elsewhere = e.closest(".say, .probe, svg") || e.matches("option, select, textarea");
  if (!words.length || !shown || elsewhere || style.clipPath !== "none") return [];
  const over = e.scrollWidth > e.clientWidth + 1 || e.scrollHeight > e.clientHeight + 3;
  const boxes = words.map((n) => { const range = document.createRange(); range.selectNode(n);
    return range.getBoundingClientRect(); });
  const beside = boxes.some((b) => b.left < -1 || b.right > innerWidth + 1);
  return beside || (over && style.overflow !== "visible") ? [e.outerHTML.slice(0, 120)] : []; })"""
WIDER = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


@pytest.fixture(scope="module")
def chromium(playwright: Playwright) -> Iterator[Browser]:
    if not which("chromium") and not own(playwright, "chromium"):
        pytest.skip("chromium is not installed")
    browser = playwright.chromium.launch(executable_path=which("chromium"), args=CHROMIUM_FLAGS)
    yield browser
    browser.close()


@pytest.fixture(scope="module")
def still(chromium: Browser) -> Tab:
    """One tab for all pages, in which nothing moves."""
    return chromium.new_page(reduced_motion="reduce")


def axe(tab: Tab, options: str = "") -> Any:
    return json.loads(tab.evaluate(FOUND % options))


@pytest.mark.parametrize("name", EVERYWHERE)
def test_axe_finds_nothing_and_targets_are_large(still: Tab, site: Path, name: str) -> None:
    """Everything in light at the widest and the narrowest; between them and in dark what depends on it. What is in
    a frame is what is on its own page, so the two ends will do."""
    ends, between = (1440, 320), () if name.startswith("embed/") else (768, 390)
    for theme, widths in (("light", (*ends, *between)), ("dark", ends)):
        still.goto(f"{(site / name).as_uri()}.html?theme={theme}")
        still.evaluate("() => {" + AXE + "\n}")
        for width in widths:
            still.set_viewport_size({"width": width, "height": 1000})
            whole = theme == "light" and width in ends
            assert axe(still, "" if whole else COLOURS) == [], (theme, width)
            assert still.evaluate(SMALL) == [], width
            assert still.evaluate(WIDER) <= 0, width


@pytest.mark.parametrize("name", EVERYWHERE)
def test_axe_finds_nothing_in_spanish(still: Tab, site: Path, name: str) -> None:
    still.set_viewport_size({"width": 390, "height": 1000})
    still.goto((site / "es" / f"{name}.html").as_uri())
    still.evaluate("() => {" + AXE + "\n}")
    assert axe(still) == []
    assert still.evaluate(SMALL) == []
    assert still.evaluate(WIDER) <= 0


@pytest.mark.in_turns
@pytest.mark.parametrize("name", NAMES)
def test_axe_finds_nothing_in_other_engines(new_tab: Open, engine: str, address: str, name: str) -> None:
    if engine == "chromium":
        pytest.skip("see the matrix above")
    page = new_tab(width=390, reduced=True)
    page.open(f"{address}{name}.html")
    if engine == "webkit":
        page.driver.execute_script(AXE + "; window.axe = axe")  # type: ignore[attr-defined]
    else:
        page.run("() => {" + AXE + "\n}")
    assert json.loads(page.run(FOUND % "")) == []


def tree(tab: Tab) -> list[tuple[str, str]]:
    """Role and name of all that the browser itself tells a screen reader."""
    nodes = tab.context.new_cdp_session(tab).send("Accessibility.getFullAXTree")["nodes"]
    return [(node["role"]["value"], node.get("name", {}).get("value", "")) for node in nodes if not node["ignored"]]


@pytest.mark.parametrize("name", [page.name for page in LESSONS if page.widget == "stepper"])
def test_the_step_on_show_is_told_as_tables_and_one_sentence(still: Tab, site: Path, name: str) -> None:
    still.goto((site / f"{name}.html").as_uri())
    for i in (2, 0, 4):
        still.locator(f"#tokens .R{i} .face").click()
        stage = still.locator(".stage").aria_snapshot()
        assert stage.count("- status:") == 1 and f"Step {i + 1}:" in stage.split("- status:")[1]
        roles = Counter(role for role, _ in tree(still))
        tables = still.locator(".stage table:visible, .stage [role=table]").count()
        rows = still.locator(".stage tr:visible, .stage [role=row]:visible, .meets:visible thead tr").count()
        outside = still.locator("table:visible").count() - still.locator(".stage table:visible").count()
        assert roles["table"] == tables + outside
        assert roles["row"] >= rows
        cache = still.locator("[role=table]").aria_snapshot()
        assert cache.count("- row ") == i + 2  # with that of the headings
        assert cache.count("- cell ") == 4 * (i + 1) and cache.count("- rowheader ") == i + 1
        assert cache.count('cell "cached"') == i and cache.count('cell "new"') == 1
        meets = still.locator(".meets:visible").aria_snapshot()
        assert meets.count("- rowheader ") == i + 1 and meets.count("- columnheader ") == 4
        assert meets.count("- cell ") == 3 * (i + 1)


def test_what_plays_is_not_announced_and_stays_readable(chromium: Browser, site: Path) -> None:
    tab = chromium.new_page(reduced_motion="no-preference")
    tab.goto((site / "kv-cache.html").as_uri())
    assert tab.locator(".stage").aria_snapshot().count("- status") == 1
    tab.locator(".toggle.play .face").click()
    stage = tab.locator(".stage").aria_snapshot()
    assert "- status" not in stage and "adds one row" in stage
    live = "(found) => found.filter((e) => e.checkVisibility() && e.closest('.stage')).length"
    assert tab.eval_on_selector_all("[role=status], [role=alert], [aria-live]", live) == 0
    tab.close()


def test_what_is_to_play_shows_its_step_where_nothing_may_move(still: Tab, site: Path) -> None:
    """The button is not there, but an address or a slide show may have pressed it."""
    still.goto((site / "kv-cache.html").as_uri() + "?step=2")
    still.locator("[name=play]").evaluate("(e) => { e.checked = true; }")
    assert still.locator(".narration:visible").count() == 1
    assert "Step 3:" in still.locator(".narration:visible").inner_text()


@pytest.mark.parametrize("name", ["prefill-and-decode"])
def test_pictures_are_tables_with_a_heading_for_each_cell(still: Tab, site: Path, name: str) -> None:
    still.set_viewport_size({"width": 1440, "height": 1000})
    still.goto((site / f"{name}.html").as_uri())
    table = still.locator(".C:visible [role=table]").first
    headings = table.locator("[role=columnheader]").count()
    rows = table.locator("[role=row]:has([role=rowheader])")
    assert headings >= 5 and rows.count() >= 7
    assert {row.locator("[role=cell], [role=rowheader]").count() for row in rows.all()} == {headings}
    assert f'row "{table.locator("[role=columnheader]").first.inner_text()} ' in table.aria_snapshot()


def test_the_lives_of_the_rows_are_told_in_words(still: Tab, site: Path) -> None:
    still.goto((site / "why-q.html").as_uri())
    table = still.locator(".lives table").first
    lit = """(rows) => rows.map((row) => [...row.querySelectorAll(".track")].map((track) =>
      [...track.children].flatMap((cell, j) => (cell.matches(".on") ? [j + 1] : []))))"""
    for row, (q, k, v) in zip(
        table.locator("tbody tr").all(), table.locator("tbody tr").evaluate_all(lit), strict=True
    ):
        told = "; ".join(f"{kind}: {' '.join(map(str, steps))}" for kind, steps in zip("qkv", (q, k, v), strict=True))
        assert told in row.aria_snapshot()


@pytest.mark.parametrize("name", EVERYWHERE)
def test_nothing_is_lost_at_twice_the_size(chromium: Browser, site: Path, name: str) -> None:
    context = chromium.new_context(viewport={"width": 640, "height": 500}, device_scale_factor=2)
    tab = context.new_page()
    tab.goto((site / f"{name}.html").as_uri())
    assert tab.evaluate(WIDER) <= 0
    assert tab.evaluate(LOST) == []
    context.close()


def test_states_are_told_apart_when_colours_are_forced(chromium: Browser, site: Path) -> None:
    """By a line where a colour was: what is new, computed again, chosen, one row of the cache."""
    tab = chromium.new_page(forced_colors="active", reduced_motion="reduce")
    outline = "(e) => [getComputedStyle(e).outlineStyle, getComputedStyle(e).outlineWidth].join(' ')"
    tab.goto((site / "with-and-without.html").as_uri())
    states = [tab.locator(f".key .{state}").evaluate(outline) for state in ("lit", "calm", "anew")]
    assert len(set(states)) == 3
    tab.goto((site / "kv-cache.html").as_uri())
    states = [tab.locator(f".states .{state}").evaluate(outline) for state in ("new", "old")]
    assert len(set(states)) == 2
    newest = [tab.locator(f".row.R{i} .c-pos .tok").evaluate(outline) for i in (2, 3)]
    assert newest == ["solid 0px", "solid 2px"]
    rows = [tab.locator(f".row.R2 .{kind} .strip").first.evaluate(outline) for kind in ("c-k", "c-v")]
    assert rows == ["solid 1px"] * 2
    tab.locator(".phase-5").check(force=True)
    cover = "(e) => ((style) => [style.opacity, style.backgroundColor])(getComputedStyle(e, '::after'))"
    paper = tab.evaluate("getComputedStyle(document.body).backgroundColor")
    assert tab.locator(".step.S3 .ask-q").evaluate(cover) == ["1", paper]
    face = "(found) => found.map((e) => getComputedStyle(e).backgroundColor)"
    chosen, others = (
        tab.eval_on_selector_all(".phases :checked + .face", face),
        tab.eval_on_selector_all(".phases input:not(:checked) + .face", face),
    )
    assert not set(chosen) & set(others)
    tab.close()


def test_what_is_quoted_stands_by_itself_whatever_its_direction(new_tab: Open, address: str) -> None:
    page = new_tab()
    open_live(page, address + "why-q.html")
    page.fill("#prompt", "שלום")
    press(page, "run")
    assert page.run('document.querySelector("#prompt-error bdi").textContent').strip("“”") in "שלום"
    assert page.run('document.querySelectorAll("#prompt-error bdi").length') == page.run(
        'document.querySelector("#prompt-error").textContent.split("“").length - 1'
    )
