"""WCAG 2.2 AA: what a screen reader gets, what forced colours leave (test_sweep.py has axe, targets and sizes; text
in any direction: tests/browser/python/test_live.py)."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser
from playwright.sync_api import Page as Tab

from tests.browser.conftest import SCREEN
from tests.support.sampled import sampled


@pytest.fixture(scope="module")
def still(chromium: Browser) -> Iterator[Tab]:
    """One tab for all pages, in which nothing moves."""
    tab = chromium.new_page(reduced_motion="reduce", viewport=SCREEN)
    yield tab
    tab.context.close()


def tree(tab: Tab) -> list[tuple[str, str]]:
    """Role and name of all that the browser itself tells a screen reader."""
    nodes = tab.context.new_cdp_session(tab).send("Accessibility.getFullAXTree")["nodes"]
    return [(node["role"]["value"], node.get("name", {}).get("value", "")) for node in nodes if not node["ignored"]]


@pytest.mark.parametrize("name", sampled(["kv-cache", "kv-cache-words"], {"kv-cache"}, "the same tables"))
def test_the_step_on_show_is_told_as_tables_and_one_sentence(still: Tab, site: Path, name: str) -> None:
    still.goto((site / f"{name}.html").as_uri())
    for i in (0, 4):
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
        assert cache.count("- cell ") == 5 * (i + 1) and cache.count("- rowheader ") == i + 1
        assert cache.count('cell "cached"') == i and cache.count('cell "new"') == 1
        meets = still.locator(".meets:visible").aria_snapshot()
        assert meets.count("- rowheader ") == i + 1 and meets.count("- columnheader ") == 4
        assert meets.count("- cell ") == 3 * (i + 1)


def test_what_plays_is_not_announced_and_stays_readable(chromium: Browser, site: Path) -> None:
    tab = chromium.new_page(reduced_motion="no-preference", viewport=SCREEN)
    tab.goto((site / "kv-cache.html").as_uri())
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
    still.goto((site / f"{name}.html").as_uri())
    table = still.locator(".C:visible [role=table]").first
    headings = table.locator("[role=columnheader]").count()
    rows = table.locator("[role=row]:has([role=rowheader])")
    assert headings >= 5 and rows.count() >= 7
    assert {row.locator("[role=cell], [role=rowheader]").count() for row in rows.all()} == {headings}
    assert f'row "{table.locator("[role=columnheader]").first.inner_text()} ' in table.aria_snapshot()


def test_the_lives_of_the_rows_are_told_in_words(still: Tab, site: Path) -> None:
    still.goto((site / "why-q.html").as_uri())
    table = still.locator(".why-q table").first
    lit = """(rows) => rows.map((row) => [...row.querySelectorAll(".track")].map((track) =>
      [...track.children].flatMap((cell, j) => (cell.matches(".on") ? [j + 1] : []))))"""
    for row, (q, k, v) in zip(
        table.locator("tbody tr").all(), table.locator("tbody tr").evaluate_all(lit), strict=True
    ):
        told = "; ".join(f"{kind}: {' '.join(map(str, steps))}" for kind, steps in zip("qkv", (q, k, v), strict=True))
        assert told in row.aria_snapshot()


def test_states_are_told_apart_when_colours_are_forced(chromium: Browser, site: Path) -> None:
    """By a line where a colour was: what is new, computed again, chosen, one row of the cache."""
    tab = chromium.new_page(forced_colors="active", reduced_motion="reduce", viewport=SCREEN)
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
