"""A step on the page: from a click to the painted frame, with Python and without.

Live: "One token", in a page whose Python is up, with several seeds until each text ends; the click that starts a
text (its whole prompt is run and drawn) is not a step and not counted. Without Python: the label of a token, back
and forth, in the page as it was built; CSS alone answers, and transitions that follow are not waited for. A
frame of 16.7 ms is the yardstick. Times include waiting for the next frame, twice: once to change the page, once to
know that it was painted.
"""

from __future__ import annotations

from statistics import median

from playwright.sync_api import Playwright

from bench.browser.start import NEXT
from bench.browser.watch import Seen, seen, watch
from bench.measure import Result, at_most
from microgpt.viz.course import PAGES, Page
from tools.browsers import Page as Tab
from tools.browsers import tab

FRAME = 1000 / 60
GOAL = 20.0
SEEDS = range(1, 9)


def measure(playwright: Playwright, url: str) -> list[Result]:
    results = []
    for page in PAGES:
        if page.widget == "stepper":
            with tab(playwright, "chromium") as open_tab:
                open_tab.open(f"{url}{page.name}.html")
                watch(open_tab)
                results += [without_python(open_tab, page), live(open_tab, page)]
    return results


def without_python(page: Tab, about: Page) -> Result:
    n = count(page)
    for i in [*range(n), *reversed(range(n))]:
        page.click(f"#tokens .R{i} span")
        page.pause(0.4)
        page.wait("window.bench.next.length === window.bench.clicks.length")
    found = seen(page)
    times = [painted - click for painted, click in zip(found.next, found.clicks, strict=True)]
    return result(f"stepping `{about.model}` without Python", times)


def live(page: Tab, about: Page) -> Result:
    times: list[float] = []
    for seed in SEEDS:
        page.fill("input[name=seed]", str(seed))
        page.fill("input[name=temperature]", "1")
        page.pause(0.3)  # leaving a field is an event too
        before = press(page)  # runs the prompt
        while press(page) > before:
            before = count(page)
            times.append(last_step(seen(page)))
    return result(f"a live step of `{about.model}`, Python to painted page", times)


def press(page: Tab) -> int:
    """Click "One token" and wait until the answer is painted; the number of tokens on the page."""
    answers = len(seen(page).painted.get("boot-ready", []))
    page.click(NEXT)
    page.wait(f'(window.bench.painted["boot-ready"] ?? []).length > {answers}', 120)
    page.pause(0.05)
    return count(page)


def last_step(found: Seen) -> float:
    """Until the first answer to the last click is painted; after the picture comes the prose, in one of its own."""
    click = found.clicks[-1]
    marks = [mark for name in ("boot-working", "boot-ready") for mark in found.painted[name] if mark[0] > click]
    return sorted(marks)[1][1] - click  # the first of them says that it was sent


def count(page: Tab) -> int:
    found: int = page.run('document.querySelectorAll("#tokens input").length')
    return found


def result(what: str, times: list[float]) -> Result:
    scale = f"{median(times) / FRAME:.1f} frames; worst of {len(times)}: {max(times):.0f} ms"
    return at_most(f"{what}, ms", times, GOAL, "a frame of 16.7 ms", scale, ".0f")
