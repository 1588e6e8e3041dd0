"""The drawing of the inside stays where it is: a choice moves its bars, and lights what a swap has changed.

Nobody waits: transitions are finished by hand, and then the boxes of all pieces and the sizes of all bars are read.
"""

from typing import Any

import pytest

from tests.browser.conftest import Open
from tools.browsers import Page, PlaywrightPage

# `boxes` are the places of all pieces, `sizes` how far each bar stands out, by the line of the drawing it is in
TOOLS = """
const all = (selector, within = document) => [...within.querySelectorAll(selector)];
const round = (n) => Math.round(10 * n) / 10;
const box = ({ left, top, width, height }) => [left, top + scrollY, width, height].map(round);
const place = (e) => box(e.getBoundingClientRect());
const boxes = () => all(".inside .leg, .inside .leg .bars, .inside summary b, .inside .flow .name").map(place);
const parts = ["::before", "::after"];
const high = (e, part) => round(parseFloat(getComputedStyle(e, part).backgroundSize.split(" ")[1]));
const size = (e) => parts.map((part) => high(e, part));
const sizes = () => all(".inside .leg").map((leg) => all(".u, .c", leg).map((e) => size(e).join(" ")));
const moving = () => { getComputedStyle(document.body).color; return document.getAnimations(); };
const end = () => moving().forEach((one) => one.finish());
const choose = (id) => { document.getElementById(id).click(); };
const tick = (name) => all(`.inside .${name} input`)[0].click();
// what moves so many seconds after a press, with the top and the bottom of each piece; and what can be seen of them
const plays = () => moving().filter((one) => one.animationName?.startsWith("inside-"));
const window_of = () => [Math.max(0, all(".inside .course")[0].getBoundingClientRect().top), innerHeight];
const at = (time) => { plays().forEach((one) => { one.pause(); one.currentTime = 1000 * time; });
  const runs = ({ currentTime: t, effect }) =>
    t > effect.getTiming().delay + 50 && t < effect.getComputedTiming().endTime - 50;
  return plays().filter((one) => /comes|falls|meets/.test(one.animationName) && runs(one))
    .map((one) => one.effect.target.getBoundingClientRect()).filter((box) => box.height)
    .map((box) => [box.top, box.bottom]); };
const seen = (e) => Number(getComputedStyle(e).opacity);
"""


def opened(new_tab: Open, address: str, **how: Any) -> Page:
    page = new_tab(width=1280, **how)
    page.open(f"{address}inside.html")
    return page


def run(page: Page, script: str) -> Any:
    return page.run(f"(() => {{ {TOOLS} {script} }})()")


def test_a_swap_moves_no_piece_and_changes_the_bars_of_what_is_lit_alone(new_tab: Open, address: str) -> None:
    page = opened(new_tab, address)
    before = run(page, "return [boxes(), sizes()];")
    boxes, sizes, lit = run(
        page,
        "choose('swap-0'); end(); return [boxes(), sizes(), all('.inside .leg').map((e) => e.matches('.xs0, .met'))];",
    )
    assert boxes == before[0]
    changed = [one != other for one, other in zip(sizes, before[1], strict=True)]
    assert changed == [one and any(row) for one, row in zip(lit, sizes, strict=True)] and 5 < sum(changed) < len(lit)
    said = run(
        page, "return all('.inside .how > .V').filter((e) => e.getClientRects().length).map((e) => e.innerText);"
    )
    assert said[:6] == ["the same"] * 6 and "the same" not in said[6:]
    frames = """all('.inside .leg > :is(.river, .side) > .bars').map((e) =>
      [e.closest('.leg').matches('.xs0'), getComputedStyle(e).boxShadow, getComputedStyle(e).backgroundColor])"""
    lit_now = {(changed, *how) for changed, *how in run(page, f"return {frames};")}
    assert run(page, "choose('swap-2'); end(); return [boxes(), sizes()];") == before
    (calm,) = {tuple(how) for _, *how in run(page, f"return {frames};")}
    assert len(lit_now) == 2 and (False, *calm) in lit_now and (True, *calm) not in lit_now


@pytest.mark.engines("transitions are the engine's own")
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


def test_what_is_sent_through_ends_where_it_began(new_tab: Open, address: str) -> None:
    page = opened(new_tab, address)
    look = "[boxes(), sizes(), all('.inside .leg *').map(seen)]"
    before = run(page, f"return {look};")
    during = run(page, "tick('flows'); return [moving().length, all('.inside .leg > .side > .bars').map(seen)];")
    assert during[0] > 20 and set(during[1]) == {0}
    assert run(page, f"end(); return {look};") == before


def test_when_the_step_is_over_only_rows_of_k_and_v_are_left(new_tab: Open, address: str) -> None:
    page = opened(new_tab, address)
    found = run(
        page, "tick('over'); end(); return all('.inside .bars').map((e) => [e.closest('.bin') !== null, seen(e)]);"
    )
    kept = [opacity for cached, opacity in found if cached]
    assert sorted(kept) == [0] * 6 + [1] * 8  # of 7 positions, 4 have been run
    assert all(opacity <= 0.15 for cached, opacity in found if not cached)


def test_where_nothing_may_move_the_ends_are_the_same(new_tab: Open, engine: str, address: str) -> None:
    if engine == "webkit":
        pytest.skip("WebKit's driver cannot ask for less motion")
    moving, still = opened(new_tab, address), opened(new_tab, address, reduced=True)
    assert run(still, "return all('.inside .flows')[0].getClientRects().length;") == 0
    for choice in ("token-5", "swap-1"):
        assert run(still, f"choose('{choice}'); return moving().length;") == 0
        assert run(moving, f"choose('{choice}'); end(); return sizes();") == run(still, "return sizes();")


def test_the_drawing_needs_no_script(new_tab: Open, engine: str, address: str) -> None:
    if engine != "chromium":
        pytest.skip("only Chromium's driver looks into a page whose scripts are off")
    page = opened(new_tab, address, javascript=False)
    assert isinstance(page, PlaywrightPage)
    for width, height in ((1280, 800), (390, 844), (1920, 1000)):
        page.tab.set_viewport_size({"width": width, "height": height})
        for _ in range(3):  # each press plays, and what plays is in the window
            page.click(".inside .flows")
            assert run(page, "return Math.max(...plays().map((one) => one.currentTime));") < 2500
            moved = 0
            for time in range(1, 19):
                (top, bottom), boxes = run(page, f"return [window_of(), at({time / 2})];")
                moved += bool(boxes)
                assert all(top - 16 <= above and below <= bottom for above, below in boxes), (width, time)
            assert moved > 12
    run(page, "end(); return 0;")
    page.tab.set_viewport_size({"width": 1280, "height": 1000})
    page.click("#swap-0 + .face")
    page.click(".inside .over .face")
    page.click(".inside .at-q summary")
    assert run(page, "end(); return all('.inside .V.off').filter((e) => e.getClientRects().length).length;") == 10
    shown = "return all('.inside .at-q .numbers i').filter((e) => e.getClientRects().length).length;"
    assert run(page, shown) == 16
