"""What a choice draws anew is moved, not swapped: what was there begins where it was, and nothing is gone at once.

Nobody waits: the transitions of a page can be stopped and set to any moment, and the boxes of all parts are read there.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from playwright.sync_api import Playwright

from microgpt.course import page as page_of
from microgpt.course.many_at_once import lesson as many_at_once
from microgpt.course.old_rows import lesson as old_rows
from microgpt.course.pages import lesson as pages
from microgpt.course.prefill_and_decode.lesson import view
from microgpt.course.why_q import lesson as why_q
from microgpt.viz.settings import Settings
from tests.browser.conftest import Open
from tests.support.sampled import sampled
from tools.browsers import ONE_COMPILER, Page, tab

At = Callable[[str], Page]
ENGINES = ["pages", "shared-prefixes", "many-at-once"]
LESSONS = ["attention", "fewer-heads", "memory", "prefill-and-decode", "with-and-without", "old-rows", "why-q"]
LESSONS += [*ENGINES, "full-cache"]
NOW = ("fewer-heads", "why-q", "pages")
OWN = pytest.mark.engines("transitions are the engine's own", "firefox")

# All parts of the drawing that is number `which`: left, width, top and height within it, None for what is not seen.
# Words change at once, and a bar below the rest goes along with its height.
TOOLS = """
const drawn = document.querySelectorAll(".drawn")[which], drawing = drawn.querySelector(".drawing");
const choices = [...drawn.closest(".cases").querySelectorAll(":scope > .pick [type=radio]")];
const parts = [...drawing.querySelectorAll("*")].filter((e) => getComputedStyle(e).display !== "inline" &&
  !e.closest(".said"));
const look = () => {
  const { left, top } = drawing.getBoundingClientRect();
  return parts.map((e) => {
    const box = e.getBoundingClientRect(), style = getComputedStyle(e);
    const seen = style.visibility === "visible" && style.opacity > 0 && box.width > 0;
    return seen ? [box.left - left, box.width, e.matches(".bar") ? 0 : box.top - top, box.height] : null;
  });
};
const clocks = () => document.getAnimations().filter((a) => drawing.contains(a.effect.target));
const end = () => clocks().forEach((a) => a.finish());
const at = (time) => clocks().forEach((a) => { a.pause(); a.currentTime = time; });
const height = () => drawing.getBoundingClientRect().height;
"""
# from the last case to the first, and so on to the fifth: of each, [same height, before, start, middle, end]
WALK = (
    TOOLS
    + """choices.at(-1).click(); end();
return [...choices.keys()].slice(0, 5).map((i) => {
  const before = look(), high = height();
  choices[i].click(); drawing.offsetWidth;
  at(0); const start = look();
  at(150); const middle = look();
  end();
  return [height() === high, before, start, middle, look()];
});"""
)


@pytest.fixture(scope="module")
def opened(playwright: Playwright, engine: str, running: dict[str, Any], address: str) -> Iterator[At]:
    """opened("pages") is a tab of that page, loaded once: each test begins with a choice of its own."""
    tabs = dict[str, Page]()
    with ExitStack() as stack:

        def of(name: str) -> Page:
            if name not in tabs:
                tabs[name] = stack.enter_context(tab(playwright, engine, running=running, flags=[ONE_COMPILER]))
                tabs[name].open(f"{address}{name}.html")
            return tabs[name]

        yield of


def walk(page: Page, which: int) -> Any:
    return page.run(f"(() => {{ const which = {which}; {WALK} }})()")


def drawings(page: Page) -> int:
    return int(page.run('document.querySelectorAll(".drawn").length'))


def like(a: list[float], b: list[float]) -> bool:
    return all(abs(x - y) < 0.6 for x, y in zip(a, b, strict=True))


MOVED = [pytest.param(LESSONS[0], marks=OWN), *sampled(LESSONS[1:], NOW, "the same transitions")]


@pytest.mark.parametrize("name", MOVED)
def test_what_stays_begins_where_it_was_and_moves(opened: At, name: str) -> None:
    page = opened(name)
    assert drawings(page)
    for which in range(drawings(page)):
        moved = 0
        for level, *frames in walk(page, which):
            first = 4 if level else 3  # what holds the rest may grow at once
            for before, start, middle, end in zip(*frames, strict=True):
                if before:
                    assert start and like(before[:first], start[:first]), (which, before, start)
                moved += end is not None and (start is None or not like(start, end))
                if before and end:
                    assert middle and (like(before[:first], end[:first]) or not like(middle, end)), (which, before, end)
        assert moved, which


def test_it_ends_where_it_stands_without_motion(new_tab: Open, engine: str, address: str) -> None:
    if engine == "webkit":
        pytest.skip("its driver cannot ask for less motion")
    moving, still = new_tab(), new_tab(reduced=True)
    for page in (moving, still):
        page.open(f"{address}{LESSONS[0]}.html")
    for which in range(drawings(moving)):
        for (*_, end), (_, _, start, middle, at_once) in zip(walk(moving, which), walk(still, which), strict=True):
            assert start == middle == at_once
            for a, b in zip(end, at_once, strict=True):
                assert (a is None) == (b is None) and (a is None or like(a, b))


@pytest.mark.parametrize("width", [390, 1440])
def test_what_is_kept_stands_below_the_middle_of_those_that_share_it(new_tab: Open, address: str, width: int) -> None:
    page = new_tab(f"{address}fewer-heads.html", width=width)
    middles = """const middle = (e) => { const box = e.getBoundingClientRect(); return box.left + box.width / 2; };
    const seen = (e) => getComputedStyle(e).visibility === "visible";
    return choices.map((choice) => {
      choice.click(); drawing.offsetWidth; end();
      const wires = [...drawing.querySelectorAll(".wires i")], [one, two] = wires.map(middle);
      return [[...drawing.querySelector(".queries").children].map(middle),
        [...drawing.querySelectorAll(".stays")].filter(seen).map(middle),
        wires.map((e) => middle(e) + (two - one) * parseFloat(getComputedStyle(e, "::after").scale))];
    });"""
    for which, counts in enumerate(((4, 2, 1, 1), (9, 3, 1))):
        found = page.run(f"(() => {{ const which = {which}; {TOOLS} {middles} }})()")
        assert [len(kept) for _, kept, _ in found] == list(counts)
        for queries, kept, wires in found:
            size = len(queries) // len(kept)
            for i, middle in enumerate(kept):
                share = slice(i * size, (i + 1) * size)
                assert abs(middle - sum(queries[share]) / size) < 1.5
                assert all(abs(end - middle) < 1.5 for end in wires[share])  # each query's line ends there


def test_each_token_lies_in_the_pass_that_runs_it(opened: At) -> None:
    page = opened("prefill-and-decode")
    found = page.run(
        f"""(() => {{ const which = 1; {TOOLS}
        const top = (e) => Math.round(e.getBoundingClientRect().top - drawing.querySelector(".fall").getBoundingClientRect().top);
        const line = drawing.querySelector(".numbers small").getBoundingClientRect().height;
        return choices.map((choice) => {{ choice.click(); drawing.offsetWidth; end();
          return [[...drawing.querySelectorAll(".fall .new")].map((e) => Math.floor(top(e) / line)),
            Math.round((drawing.querySelector(".fall").clientHeight - 1) / line),
            Math.round(top(drawing.querySelector(".kinds span")) / line)]; }}); }})()"""  # noqa: E501
    )
    shown = view(Settings("stories", "The next day is bright"))
    for way, (passes, n, first) in zip(shown.ways, found, strict=True):
        runs = [i for i, block in enumerate(way.blocks) for _ in block.tokens]
        assert passes == runs and n == len(way.blocks)
        assert first == sum(block.phase == "prefill" for block in way.blocks)


def test_each_step_adds_one_line_above_those_before(opened: At) -> None:
    """Each token has its cell in the line of its own step; it is there from then on, and lit as long as it is new."""
    page = opened("with-and-without")
    found = page.run(
        f"""(() => {{ const which = 0; {TOOLS}
        const end_of = (e) => e.getBoundingClientRect().bottom, falls = [...drawing.querySelectorAll(".fall .cells")];
        return choices.map((choice) => {{ choice.click(); drawing.offsetWidth; end();
          return falls.map((fall) => [...fall.querySelectorAll("i")].map((e) => [
            Math.round((end_of(fall) - end_of(e)) / (fall.clientHeight / choices.length)),
            Number(getComputedStyle(e).opacity), Number(getComputedStyle(e, "::before").opacity)])); }}); }})()"""
    )
    for i, falls in enumerate(found):
        for cells in falls:
            assert cells == [[j, float(j <= i), float(j >= i)] for j in range(len(found))]


def test_what_is_stale_spreads_from_the_first_layer_to_the_last(opened: At) -> None:
    """It rises: each layer begins 150 ms after the one below it, and no cell before the one on its left; a cell says
    how far off it is no sooner than it begins."""
    page, lesson = opened("old-rows"), page_of("old-rows")
    page.run('document.querySelector("#experiment-0").click()')
    begun = page.run(
        f"""(() => {{ const which = 0; {TOOLS}
        end(); choices[2].click(); drawing.offsetWidth;
        const began = (e, of) => clocks().filter((a) => a.effect.target === e && a.transitionProperty === of)
          .map((a) => a.effect.getTiming().delay)[0] ?? null;
        const rows = [...drawing.querySelectorAll("tbody tr")].reverse();
        return rows.map((row) => [...row.querySelectorAll(".cell:not(:has(s))")].map((cell) =>
          [began(cell.querySelector(".stain"), "scale"),
            began(cell.querySelector(".said > .D2"), "visibility")])); }})()"""
    )
    change = old_rows.view(Settings(lesson.model, lesson.prompt)).experiments[2]
    for layer, cells in enumerate(begun):
        assert [stain is not None for stain, _ in cells] == [row.off[layer][0] > 0 for row in change.rows]
        for i, (stain, word) in enumerate(cells):
            if stain is not None:
                assert stain == word
                left, below = cells[i - 1][0] if i else None, begun[layer - 1][i][0] if layer else None
                assert left is None or left < stain
                assert below is None or stain - below == pytest.approx(150)


def test_the_reads_are_drawn_up_to_the_step(opened: At) -> None:
    page = opened("why-q")
    found = page.run(
        f"""(() => {{ const which = 0; {TOOLS}
        const whole = drawing.querySelector(".on").getBoundingClientRect().width;
        return choices.map((choice) => {{ choice.click(); drawing.offsetWidth; end();
          return [...drawing.querySelectorAll("tbody tr")].map((row) => ["q", "k", "v"].map((kind) =>
            [...row.querySelectorAll(`.track.${{kind}} b`)].filter((e) => e.getBoundingClientRect().width > whole / 2)
              .length)); }}); }})()"""
    )
    lesson = page_of("why-q")
    lives = why_q.view(Settings(lesson.model, lesson.prompt)).lives
    assert found == [[[counts[j] for counts in life.so_far] for life in lives] for j in range(len(lives))]


@pytest.mark.parametrize("name", ENGINES)
def test_a_case_is_drawn_alike_whenever_it_is_chosen(opened: At, name: str) -> None:
    page = opened(name)
    boxes = page.run(
        f"""(() => {{ const which = 0; {TOOLS}
        return [2, 3, 2].map((i) => {{
          choices[i].click(); drawing.offsetWidth; end(); return JSON.stringify(look()); }});
        }})()"""
    )
    assert boxes[0] == boxes[2] != boxes[1]


def test_a_row_goes_from_its_text_to_its_slot_and_a_block_from_the_queue_and_back(opened: At) -> None:
    page, lesson = opened("pages"), page_of("pages")
    found = page.run(
        f"""(() => {{ const which = 0; {TOOLS}
        const middle = (e) => {{ const {{ left, top, width, height }} = e.getBoundingClientRect();
          return [left + width / 2, top + height / 2]; }};
        const over = (e, all) => all.findIndex((one) => {{ const box = one.getBoundingClientRect(), [x, y] = middle(e);
          return box.left <= x && x <= box.right && box.top <= y && y <= box.bottom; }});
        const all = (path) => [...drawing.querySelectorAll(path)], go = (i) => {{
          choices[i].click(); drawing.offsetWidth; end(); }};
        const tiles = all(".tile"), cells = all(".entry .cell:not(.to-block)").filter((e) => e.firstElementChild);
        return [...choices.keys()].map((i) => {{ go(i);
          const lane = drawing.querySelector(".queued").getBoundingClientRect();
          return [all(".chip").map((e) => [over(e, cells), over(e, all(".slot"))]),
            tiles.map((e, at) => [middle(e), at]).filter(([[x]]) => x > lane.left)
              .sort(([[, a]], [[, b]]) => a - b).map(([, at]) => at)]; }}); }})()"""
    )
    made = pages.view(Settings(lesson.model, lesson.prompt))
    rows = [(t, i) for t, text in enumerate(made.trace.about["texts"]) for i in range(len(text))]
    slots = {(one.step.text, one.step.row): one.step.slot for one in made.moments}
    for i, (moment, (chips, queue)) in enumerate(zip(made.moments, found, strict=True)):
        assert queue == moment.step.free
        stored = {(one.step.text, one.step.row) for one in made.moments[: i + 1]}
        for at, (row, (cell, slot)) in enumerate(zip(rows, chips, strict=True)):
            if row in stored and row[1] < moment.step.lengths[row[0]]:
                assert (cell, slot) == (-1, slots[row]), (i, row)
            elif row not in stored:
                assert (cell, slot) == (at, -1), (i, row)


def test_pieces_and_words_end_with_the_pass_on_show(new_tab: Open, address: str) -> None:
    """The playhead stands at the end of the pass; pieces are cut there, and words stand that are written. What is later
    is a shadow."""
    page, lesson = new_tab(), page_of("many-at-once")  # in the case that it opens with
    page.open(f"{address}many-at-once.html")
    found = page.run(
        """(() => { const end = () => document.getAnimations().forEach((a) => a.finish());
        return [...document.querySelectorAll("[name=chunks]")].map((e) => { e.click(); document.body.offsetWidth; end();
          const lit = document.querySelector(".lanes > .lit").getBoundingClientRect();
          const pieces = [...document.querySelectorAll(".load .pass")].map((one) => one.getBoundingClientRect());
          const words = [...document.querySelectorAll(".lane")].map((lane) => [...lane.querySelectorAll(".word")]
            .filter((one) => getComputedStyle(one).translate.split(" ").slice(1).every((y) => !parseFloat(y))).length);
          return [pieces.filter((one) => one.width && one.right < lit.right + 1).length,
            pieces.some((one) => Math.abs(one.left - lit.left) < 1 && Math.abs(one.right - lit.right) < 2), words];
        }); })()"""
    )
    way = many_at_once.view(Settings(lesson.model, lesson.prompt)).way("chunks")
    assert found == [
        [i + 1, True, [sum(time <= one.end for time in times) for times in way.run.written]]
        for i, one in enumerate(way.run.passes)
    ]
