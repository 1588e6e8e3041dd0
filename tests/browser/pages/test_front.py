"""The front page: its machine runs by itself, three times at most, and rests on the picture that it is painted with; a
name that is dropped in runs there.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

from tests.browser.conftest import Open
from tests.browser.live import open_live, press, soon
from tools.browsers import Page

RUNS = 3  # how often it runs
LEAD, SLOW, QUICK = 0.6, 7, 1.2  # seconds: before the first letter, its step, and each later one
# where everything of the machine stands that is seen, and how much of it is seen
FRAME = """JSON.stringify([...document.querySelectorAll(".race *, .verdict")].map((e) => {
  if (!e.checkVisibility({checkOpacity: true})) return null;
  const {x, y, width, height} = e.getBoundingClientRect();
  return [x, y, width, height, getComputedStyle(e).opacity].map((one) => Math.round(100 * one));
}))"""
ANIMATIONS = "document.getAnimations()"
TIMES = f"{ANIMATIONS}.map((one) => one.effect.getComputedTiming())"
SET = f"(window.all ??= {ANIMATIONS}).forEach((one) => {{ one.pause(); one.currentTime = %s; }})"
SEEN = "[...document.querySelectorAll('%s')].filter((e) => getComputedStyle(e).opacity > 0.9)"


@pytest.fixture
def page(new_tab: Open, address: str) -> Page:
    page = new_tab(f"{address}index.html")
    return page


def first(page: Page) -> float:
    """When the first run begins, in milliseconds of the page."""
    return float(page.run(f"window.first ??= Math.min(...{TIMES}.map((one) => one.delay))"))


def length(page: Page) -> float:
    """Of one run with its rest, in seconds: how much later the rows fall once more."""
    drops = f"{ANIMATIONS}.filter((one) => one.animationName === 'drop' && one.effect.target.matches('.S1'))"
    delays = json.loads(page.run(f"JSON.stringify({drops}.map((one) => one.effect.getComputedTiming().delay))"))
    assert len(delays) == RUNS and delays[2] - delays[1] == pytest.approx(delays[1] - delays[0])
    return float(delays[1] - delays[0]) / 1000


def at(page: Page, seconds: float) -> Any:
    """The frame at a time of the run, counted from its start."""
    page.run(SET % (first(page) + 1000 * seconds))
    return json.loads(page.run(FRAME))


def moment(step: int, share: float) -> float:
    """When that share of a step is over."""
    if step == 1:
        return LEAD + share * SLOW
    return LEAD + SLOW + (step - 2 + share) * QUICK


def test_it_runs_by_itself_three_times_at_most(page: Page) -> None:
    assert page.run(f"{ANIMATIONS}.length") > 0
    assert page.run(f"{ANIMATIONS}.every((one) => one.playState === 'running' && one.currentTime !== null)")
    end = first(page) + 1000 * RUNS * length(page)
    for timing in json.loads(page.run(f"JSON.stringify({TIMES})")):
        assert timing["fill"] in ("none", "auto") and timing["delay"] > 0 and timing["endTime"] <= end + 1
    before = page.run(f"{ANIMATIONS}[0].currentTime")
    page.wait(f"{ANIMATIONS}[0].currentTime > {before}")


def test_the_first_frame_is_the_last(page: Page) -> None:
    """And so is that at the end of each run; between them every step is a picture of its own."""
    run = length(page)
    start, ends = at(page, -0.1), [at(page, run * one - 0.01) for one in (1, 2, 3)]
    steps = [at(page, moment(step, share)) for step in (1, 2, 6) for share in (0.1, 0.35, 0.55, 0.62, 0.7, 0.85)]
    assert all(end == start for end in ends)
    assert all(one != start for one in steps) and len({json.dumps(one) for one in steps}) == len(steps)
    assert at(page, moment(1, 0.5)) == at(page, run + moment(1, 0.5))
    page.run("all.forEach((one) => one.finish())")
    assert page.run(f"{ANIMATIONS}.length") == 0
    rest = json.loads(page.run(FRAME))
    page.pause(0.3)
    assert rest == start == json.loads(page.run(FRAME))


def test_every_step_drops_a_row_that_stays_and_a_q_that_does_not_and_is_counted(page: Page) -> None:
    """Without a cache all rows are gone in between, and are made again."""
    seen = "JSON.stringify([%s.length, %s.length, ...%s.map((e) => +e.textContent)])"
    asked = seen % tuple(SEEN % one for one in (".lies", ".asks", ".runs b"))
    covered = f"{SEEN % '.cover'}.map((e) => Math.round(e.getBoundingClientRect().height / e.offsetHeight * 10))"
    found = []
    for step in range(1, 7):
        at(page, moment(step, 0.25))
        assert page.run(covered) == [10]
        found.append(json.loads(page.run(asked)))
        at(page, moment(step, 0.95))
        assert page.run(covered) == [0]
        after = json.loads(page.run(asked))
        assert after[1] == 0 and after[0] == found[-1][0]
    assert found == [[step + 1, 1, step + 1, (step + 1) * (step + 2) // 2] for step in range(1, 7)]


def test_the_first_letter_is_told_in_words_that_stand_beside_what_moves(page: Page) -> None:
    told = f"JSON.stringify({SEEN % '.told'}.map((e) => e.textContent))"
    # how many rows are between the words and what moves; less than none where they lie on it
    apart = """(() => { const [a, b] = ['.told', '%s'].map((name) => [...document.querySelectorAll(name)]
        .find((e) => getComputedStyle(e).opacity > 0.9).getBoundingClientRect());
      const gap = Math.max(a.left - b.right, b.left - a.right, a.top - b.bottom, b.top - a.bottom);
      return gap / document.querySelector('.lies .strip').offsetHeight; })()"""
    asked = {
        "k and v stay": (0.16, ".lies.S1 .k"),
        "e asks": (0.3, ".asks .strip"),
        "2 keys answer": (0.5, ".hit"),
        "their values are mixed": (0.63, ".bands.S1 .R1"),
        "nobody asks with this q again": (0.82, ".asks .strip"),
    }
    for words, (share, moves) in asked.items():
        at(page, moment(1, share))
        assert json.loads(page.run(told)) == [words]
        assert 0 <= page.run(apart % moves) < 4, words
    at(page, moment(2, 0.5))
    assert json.loads(page.run(told)) == []


def test_it_can_be_held_without_scripts(page: Page) -> None:
    page.wait(f"{ANIMATIONS}.length > 0")
    page.click(".run .hold .face")
    assert page.run(f"{ANIMATIONS}.every((one) => one.playState === 'paused')")
    page.wait(f"!{ANIMATIONS}.some((one) => one.pending)")  # a pause begins with the next frame, which may be late
    held = page.run(FRAME)
    page.pause(0.3)  # for what must not be
    assert page.run(FRAME) == held
    page.click(".run .hold .face")
    assert soon(page, lambda: bool(page.run(FRAME) != held), 30)  # there are moments in which nothing moves


def test_it_rests_where_less_motion_is_asked_for_and_on_paper(new_tab: Open, engine: str, address: str) -> None:
    if engine != "chromium":
        pytest.skip("asked of Chromium, whose driver can say so")
    page = new_tab(f"{address}index.html")
    start = at(page, -0.1)
    for asked in ({"reduced_motion": "reduce"}, {"media": "print"}):
        page.tab.emulate_media(**asked)  # type: ignore[attr-defined]
        assert page.run(f"{ANIMATIONS}.length") == 0
        assert page.run("getComputedStyle(document.querySelector('.run .hold')).display") == "none"
        if "reduced_motion" in asked:
            assert json.loads(page.run(FRAME)) == start
        page.tab.emulate_media(reduced_motion="null", media="null")  # type: ignore[attr-defined]


# what a reader asks of a page, and the words that answer it, each in an element of its own
ASKED = {
    "what": "The KV cache of a GPT",
    "why": "Without a cache, a GPT computes the keys and values of its whole text again",
}


def test_the_first_screen_of_a_phone_says_what_it_is_and_what_it_is_for_and_has_the_machine(
    new_tab: Open, address: str
) -> None:
    height = 844
    page = new_tab(width=390)  # its screen is higher: what counts is where the text ends
    page.open(f"{address}index.html")
    width = page.run("innerWidth")  # no window of WebKit's is as narrow as that
    for name, words in ASKED.items():
        assert words in str(page.run(f'document.getElementById("{name}").innerText'))
        box = json.loads(page.run(f'JSON.stringify(document.getElementById("{name}").getBoundingClientRect())'))
        assert 0 <= box["left"] and box["right"] <= width and 0 <= box["top"] and box["bottom"] <= height, name
    for part in ("#name", ".engine > .chute"):
        assert page.run(f"document.querySelector('{part}').getBoundingClientRect().bottom") <= height - 200
    assert page.run("scrollY") == 0


@pytest.mark.parametrize("size", [(1280, 720), pytest.param((1920, 1080), marks=pytest.mark.thorough("has more room"))])
def test_in_a_hall_the_machine_and_the_name_fill_the_screen_and_space_holds(
    chromium: Browser, site: Path, size: tuple[int, int]
) -> None:
    tab = chromium.new_page(viewport={"width": size[0], "height": size[1]})
    tab.goto((site / "index.html").as_uri())
    tab.locator(".hall .to-hall").click()
    for part in ("#name", ".engine", ".anew", ".verdict"):
        box = tab.locator(part).bounding_box()
        assert box and box["y"] >= 0 and box["y"] + box["height"] <= size[1], part
    assert not tab.locator(".lead, .road").filter(visible=True).count()
    tab.keyboard.press("Space")
    assert tab.locator(".run [name=hold]").is_checked()
    tab.context.close()


def test_nothing_of_the_machine_sticks_out(chromium: Browser, site: Path) -> None:
    tab = chromium.new_page(reduced_motion="reduce")  # at rest: q falls out below
    tab.goto((site / "index.html").as_uri())
    within = """(() => { const {left, right, bottom} = document.querySelector(".engine").getBoundingClientRect();
      return [...document.querySelectorAll(".engine .strip, .engine .chip, .engine :is(.tag, .told), .engine .tray")]
        .every((e) => { const box = e.getBoundingClientRect();
          return box.left >= left - 1 && box.right <= right + 1 && box.bottom <= bottom + 1; }); })()"""
    for width in (320, 390, 1024, 1440):
        tab.set_viewport_size({"width": width, "height": 1000})
        assert tab.evaluate(within), width
    tab.context.close()


def test_a_name_that_is_dropped_in_runs_in_the_machine(new_tab: Open, address: str) -> None:
    page = open_live(new_tab(), f"{address}index.html")
    page.fill("#name", "Tom")
    press(page, "drop")
    assert page.run("[...document.querySelectorAll('.chip')].map((e) => e.textContent).join(' ')") == "<s> t o m i a"
    assert page.run(f"{ANIMATIONS}.some((one) => one.animationName === 'drop' && one.playState === 'running')")
    page.fill("#name", "t7")
    press(page, "drop")
    assert "“7”" in str(page.run("document.getElementById('prompt-error').innerText"))
    assert page.run("document.querySelectorAll('.chip').length") == 6
    assert not page.errors


def test_without_scripts_the_page_says_what_a_name_needs(new_tab: Open, address: str) -> None:
    page = new_tab(f"{address}index.html", javascript=False)
    assert not page.run("document.querySelector('#name').checkVisibility()")
    assert "allow JavaScript" in str(page.run("document.querySelector('.run .no-js').innerText"))
