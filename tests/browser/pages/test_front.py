"""The front page: its machine runs by itself, three times at most, and rests on the picture that it is painted with."""

import json
from typing import Any

import pytest

from tests.browser.conftest import Open
from tests.browser.live import soon
from tools.browsers import Page

RUNS, SECONDS = 3, 5  # how often it runs, and how long its three steps take
# where everything of the machine stands that is seen, and how much of it is seen
FRAME = """JSON.stringify([...document.querySelectorAll(".engine *")].map((e) => {
  if (!e.checkVisibility({checkOpacity: true})) return null;
  const {x, y, width, height} = e.getBoundingClientRect();
  return [x, y, width, height, getComputedStyle(e).opacity].map((one) => Math.round(100 * one));
}))"""
ANIMATIONS = "document.getAnimations()"
TIMES = f"{ANIMATIONS}.map((one) => one.effect.getComputedTiming())"
SET = f"{ANIMATIONS}.forEach((one) => {{ one.pause(); one.currentTime = %s; }})"


@pytest.fixture
def page(new_tab: Open, address: str) -> Page:
    page = new_tab()
    page.open(f"{address}index.html")
    return page


def at(page: Page, milliseconds: float) -> Any:
    """The frame at a time of the run, counted from its start."""
    page.run(SET % (page.run(f"Math.max(...{TIMES}.map((one) => one.delay))") + milliseconds))
    return json.loads(page.run(FRAME))


@pytest.mark.engines("animations are the engine's own")
def test_it_runs_by_itself_within_five_seconds_and_three_times_at_most(page: Page) -> None:
    assert page.run(f"{ANIMATIONS}.length") > 0
    assert page.run(f"{ANIMATIONS}.every((one) => one.playState === 'running' && one.currentTime !== null)")
    for timing in json.loads(page.run(f"JSON.stringify({TIMES})")):
        assert timing["duration"] <= 1000 * SECONDS and timing["iterations"] <= RUNS
        assert timing["fill"] in ("none", "auto") and timing["delay"] > 0
    before = page.run(f"{ANIMATIONS}[0].currentTime")
    page.wait(f"{ANIMATIONS}[0].currentTime > {before}")


def test_the_first_frame_is_the_last(page: Page) -> None:
    """And so is that at the end of each run; between them every step is a picture of its own."""
    first, ends = at(page, -100), [at(page, 1000 * SECONDS * run - 1) for run in (1, 2, 3)]
    steps = [at(page, 1000 * SECONDS * share) for share in (0.1, 0.2, 0.4, 0.5, 0.7, 0.8)]
    assert all(end == first for end in ends)
    assert all(one != first for one in steps) and len({json.dumps(one) for one in steps}) == len(steps)
    page.run(f"{ANIMATIONS}.forEach((one) => one.finish())")
    assert page.run(f"{ANIMATIONS}.length") == 0
    rest = json.loads(page.run(FRAME))
    page.pause(0.3)
    assert rest == first == json.loads(page.run(FRAME))


def test_every_step_drops_a_row_that_stays_and_a_q_that_does_not(page: Page) -> None:
    lying = """[...document.querySelectorAll(".lies")].filter((e) => getComputedStyle(e).opacity > 0.9).length"""
    asking = """[...document.querySelectorAll(".asks")].filter((e) => getComputedStyle(e).opacity > 0.9).length"""
    found = []
    for share in (0.04, 0.2, 0.34, 0.5, 0.64, 0.8, 0.98):  # between the steps, and in the middle of each
        at(page, 1000 * SECONDS * share)
        found.append((page.run(lying), page.run(asking)))
    rows = found[0][0]
    assert rows == page.run('document.querySelectorAll(".lies").length') - 3
    assert found == [(rows + (i + 1) // 2, i % 2) for i in range(7)]


@pytest.mark.engines("animations are the engine's own")
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
    page = new_tab()
    page.open(f"{address}index.html")
    first = at(page, -100)
    for asked in ({"reduced_motion": "reduce"}, {"media": "print"}):
        page.tab.emulate_media(**asked)  # type: ignore[attr-defined]
        assert page.run(f"{ANIMATIONS}.length") == 0
        assert page.run("getComputedStyle(document.querySelector('.run .hold')).display") == "none"
        if "reduced_motion" in asked:
            assert json.loads(page.run(FRAME)) == first
        page.tab.emulate_media(reduced_motion="null", media="null")  # type: ignore[attr-defined]


# what a reader asks of a page, and the words that answer it, each in an element of its own
ASKED = {
    "what": "The KV cache of a GPT",
    "why": "Without a cache, a GPT computes the keys and values of its whole text again",
    "before": "You must be able to multiply and add, to take powers and roots, and to read a few lines of Python",
}


def test_the_first_screen_of_a_phone_says_what_it_is_what_it_is_for_and_what_one_must_know(
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
    assert page.run("document.querySelector('.go-on a').getBoundingClientRect().bottom") <= height
    assert page.run("scrollY") == 0


@pytest.mark.parametrize("width", [320, 390, 1024, 1440])
def test_nothing_of_the_machine_sticks_out(new_tab: Open, address: str, width: int) -> None:
    page = new_tab(width=width, reduced=True)  # at rest: q falls out below
    page.open(f"{address}index.html")
    assert page.run("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    assert page.run(
        """(() => { const {left, right, bottom} = document.querySelector(".engine").getBoundingClientRect();
        return [...document.querySelectorAll(".engine .strip, .engine .chip, .engine .tag, .engine .tray")]
          .every((e) => { const box = e.getBoundingClientRect();
            return box.left >= left - 1 && box.right <= right + 1 && box.bottom <= bottom + 1; }); })()"""
    )
