"""The drawing of the inside stays where it is: a choice moves its bars, and lights what a swap has changed; stages come
and go, and what is asked lights what it comes from. No script is needed for any of it.

Nobody waits: transitions are finished by hand, and then the boxes of all pieces and the sizes of all bars are read.
"""

from typing import Any

import pytest
from playwright.sync_api import Position

from tests.browser.conftest import Open
from tools.browsers import Page, PlaywrightPage

# `boxes` are the places of all pieces, `sizes` how far each bar stands out, by the stop or the row it is in
TOOLS = """
const all = (selector, within = document) => [...within.querySelectorAll(selector)];
const round = (n) => Math.round(10 * n) / 10;
const box = ({ left, top, width, height }) => [left, top + scrollY, width, height].map(round);
const place = (e) => box(e.getBoundingClientRect());
const boxes = () => all(".inside .stop, .inside .strip, .inside .called > b, .inside .J .name").map(place);
const style = (e) => getComputedStyle(e), seen = (e) => Number(style(e).opacity);
const high = (e) => round(parseFloat(style(e).backgroundSize.split(" ")[1]));
const legs = () => all(".inside .stop, .inside .J");
const sizes = () => legs().map((leg) => all(".u, .c", leg).map(high));
const moving = () => { getComputedStyle(document.body).color; return document.getAnimations(); };
const end = () => moving().forEach((one) => one.finish());
const choose = (id) => { document.getElementById(id).checked = true; };
"""


def opened(new_tab: Open, address: str, **how: Any) -> Page:
    page = new_tab(f"{address}inside.html", width=1280, **how)
    return page


def run(page: Page, script: str) -> Any:
    return page.run(f"(() => {{ {TOOLS} {script} }})()")


def test_a_swap_moves_no_piece_and_changes_the_bars_of_what_is_lit_alone(new_tab: Open, address: str) -> None:
    page = opened(new_tab, address)
    before = run(page, "return [boxes(), sizes()];")
    lit = "all('.inside .stop').map((e) => e.matches('.xs0'))"
    boxes, sizes, lit = run(page, f"choose('swap-0'); end(); return [boxes(), sizes(), {lit}];")
    assert boxes == before[0]
    changed = [one != other for one, other in zip(sizes, before[1], strict=True)][: len(lit)]
    assert changed == [one and any(row) for one, row in zip(lit, sizes, strict=False)] and 5 < sum(changed) < len(lit)
    said = run(
        page, "return all('.inside .called > .V').filter((e) => e.getClientRects().length).map((e) => e.innerText);"
    )
    assert len(said) == 16 and said.count("the same") == 6
    frames = """all('.inside .stop > .strip > .bars').map((e) =>
      [e.closest('.stop').matches('.xs0'), style(e).boxShadow, style(e).backgroundColor])"""
    lit_now = {(changed, *how) for changed, *how in run(page, f"return {frames};")}
    assert run(page, "choose('swap-2'); end(); return [boxes(), sizes()];") == before
    (calm,) = {tuple(how) for _, *how in run(page, f"return {frames};")}
    assert len(lit_now) == 2 and (False, *calm) in lit_now and (True, *calm) not in lit_now


def test_another_token_moves_the_same_bars(new_tab: Open, address: str) -> None:
    """Half way, each bar is half way: none is put in the place of another."""
    page = opened(new_tab, address)
    half = """const before = sizes(); choose('token-1'); const clocks = moving();
      clocks.forEach((one) => { one.pause(); one.currentTime = one.effect.getComputedTiming().duration / 2; });
      const middle = sizes(); clocks.forEach((one) => one.finish());
      const moved = (a, b) => a.flat().filter((x, i) => x !== b.flat()[i]).length;
      return [moved(before, middle), moved(middle, sizes()), moved(before, sizes()), clocks.length];"""
    left, arrived, moved, clocks = run(page, half)
    assert moved > 100 and left > 0.8 * moved and arrived > 0.8 * moved and clocks >= moved


def test_only_the_rows_so_far_lie_on_the_piles(new_tab: Open, address: str) -> None:
    page = opened(new_tab, address)
    rows = "all('.inside .J').map((e) => all('.bars', e).map(seen).join())"
    for at in (0, 6, 2):
        found = run(page, f"choose('token-{at}'); end(); return {rows};")
        assert found == ["1,1,1,1"] * (at + 1) + ["0,0,0,0"] * (6 - at)
    assert run(page, f"choose('swap-0'); end(); return {rows};") == ["1,1,1,1"] * 4 + ["0,0,0,0"] * 3


def test_stages_add_stops_one_after_another_and_the_way_back_is_the_same(new_tab: Open, address: str) -> None:
    page = opened(new_tab, address)
    look = "end(); return [sizes(), all('.inside .bars').map((e) => [seen(e), ...place(e)])];"
    shown = "end(); return all('.inside .stop .bars').filter((e) => seen(e) > .5).length;"
    counts = [run(page, f"choose('stage-{at}'); {shown}") for at in range(12)]
    assert counts == [2, 3, 6, 6, 6, 7, 9, 10, 11, 13, 14, 2]
    there = {at: run(page, f"choose('stage-{at}'); {look}") for at in (10, 4, 11)}
    assert all(run(page, f"choose('stage-{at}'); {look}") == there[at] for at in (4, 10, 11))
    kept = run(page, "return all('.inside .bars').map((e) => [e.closest('.bin') !== null, seen(e)]);")
    assert sorted(kept, key=str)[-8:] == [[True, 1]] * 8  # of 7 positions, 4 have been run
    assert sum(opacity > 0.15 for cached, opacity in kept if not cached) == 2  # k and v themselves


def test_on_a_phone_the_rail_is_one_line_and_names_the_stop_on_show(new_tab: Open, address: str) -> None:
    page = new_tab(f"{address}inside.html", width=390)
    lines = "new Set(all('.inside .rail label').map((e) => e.getBoundingClientRect().top)).size"
    named = "all('.inside .rail .word').map((e) => e.offsetWidth > 1)"
    for at in range(12):
        found = run(page, f"choose('stage-{at}'); end(); return [{lines}, {named}];")
        assert found == [1, [stop == at for stop in range(12)]]


def test_where_nothing_may_move_the_ends_are_the_same(new_tab: Open, engine: str, address: str) -> None:
    if engine == "webkit":
        pytest.skip("WebKit's driver cannot ask for less motion")
    moving, still = opened(new_tab, address), opened(new_tab, address, reduced=True)
    for choice in ("token-5", "stage-3", "swap-1"):
        assert run(still, f"choose('{choice}'); return moving().length;") == 0
        assert run(moving, f"choose('{choice}'); end(); return sizes();") == run(still, "return sizes();")


LINES = "end(); return all('.inside .replies p').filter((e) => e.getClientRects().length).map((e) => e.innerText);"
LIT = "end(); return all('.inside .stop').filter((e) => seen(e) === 1).map((e) => e.className.match(/at-(\\w+)/)[1]);"


def test_the_drawing_needs_no_script(new_tab: Open, engine: str, address: str) -> None:
    if engine != "chromium":
        pytest.skip("only Chromium's driver looks into a page whose scripts are off")
    page = opened(new_tab, address, javascript=False)
    assert isinstance(page, PlaywrightPage)
    tab = page.tab
    left = Position(x=4, y=9)  # the next cell begins before this one's label ends
    tab.locator(".inside .at-q .hit.lane2").hover(position=left)
    (line,) = run(page, LINES)
    assert line.startswith("q[2] = ") and run(page, LIT) == ["attn_norm", "q"]
    tab.locator(".inside .at-resid_mid .hit.lane4").click(position=left)
    tab.mouse.move(2, 2)
    (line,) = run(page, LINES)
    assert line.startswith("residual stream[4] = ") and run(page, LIT) == ["attn_out", "resid_mid", "resid_pre"]
    assert run(page, "return all('.inside .at-attn_out i').filter((e) => seen(e) === 1).length;") == 1  # a lane
    tab.keyboard.press("ArrowRight")
    assert run(page, LINES)[0].startswith("residual stream[5] = ")
    page.click(".inside .unask .button")
    assert not run(page, LINES) and len(run(page, LIT)) == 14
    page.click(".ways .button.M10")
    assert run(page, "return document.querySelector('[name=stage]:checked').value;") == "9"
    page.click("#swap-0 + .face")
    assert run(page, "end(); return all('.inside .V.off').filter((e) => e.getClientRects().length).length;") == 10
