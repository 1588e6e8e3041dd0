"""microgpt's thousand training steps in the page, from the press of Train to the last painted curve, against CPython.

The page draws after every few steps, so this is the time that a reader waits, drawing included. The yardstick is the
same training in this process, without drawing, in the same round.
"""

from __future__ import annotations

from statistics import median

from playwright.sync_api import Playwright

from bench.browser.watch import seen, watch
from bench.measure import Result, at_most, ratios, spread, timed
from microgpt.experiments.trainer import Trainer
from tools.browsers import Page, tab

ROUNDS = 5
FRAME_GOAL = 50.0


def measure(playwright: Playwright, url: str) -> list[Result]:
    live, native, frames = [], [], []
    with tab(playwright, "chromium") as page:
        page.open(f"{url}training.html")
        watch(page)
        press(page, "reset")  # starts Python
        for _ in range(ROUNDS):
            native.append(timed(lambda: Trainer().advance(1000)))
            begin, end = press(page, "train")
            live.append((end - begin) / 1000)
            frames.append(seen(page).worst_frame(begin, end))
            press(page, "reset")
    scale = f"{median(live):.2f} s, CPython {median(native):.2f} s"
    return [
        Result(
            "1,000 training steps of `names` in Chromium", spread(ratios(live, native), ".1f"), "CPython", scale=scale
        ),
        at_most("worst frame while it trains, ms", frames, FRAME_GOAL, "a frame of 16.7 ms", form=".0f"),
    ]


def press(page: Page, hook: str) -> tuple[float, float]:
    """Press a button and wait until Python rests; when it was pressed, when the last answer was painted."""
    answers = len(seen(page).painted.get("boot-ready", []))
    page.click(f'button[data-hook="{hook}"]')
    page.wait(f'(window.bench.painted["boot-ready"] ?? []).length > {answers}', 120)
    found = seen(page)
    return found.clicks[-1], found.painted["boot-ready"][-1][1]
