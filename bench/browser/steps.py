"""A step on the page: from a click until the page is painted (painted.py), with Python and without.

Live: "One token", in a page whose Python is up, with several seeds until each text ends; the click that starts a
text (its whole prompt is run and drawn) is not a step and not counted. The page asks Python for the next token while
nothing is pressed (site/boot.js), and here a moment passes between two clicks: the answer is there, and has to be put
into the page. Who clicks sooner waits for the rest of Python's work too. Without Python: the label of a token, back and
forth, in the page as it was built; CSS alone answers, and transitions that follow are not waited for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from statistics import median

from playwright.sync_api import Playwright

from bench.browser.painted import UNLIMITED, Painted, traced
from bench.browser.start import NEXT
from bench.measure import Result, at_most
from microgpt.course import PAGES
from tools.browsers import UNFOLD, Page, tab

GOAL = 20.0
SEEDS = range(1, 9)
READY = 'document.querySelector("[data-boot]").dataset.state === "ready"'


def measure(playwright: Playwright, url: str) -> list[Result]:
    results = []
    for page in PAGES:
        if page.widget == "kv_cache":
            with opened(playwright, f"{url}{page.name}.html") as open_tab:
                results += [
                    result(f"stepping `{page.model}` without Python", without_python(open_tab)),
                    result(f"a live step of `{page.model}`", live(open_tab)),
                ]
    return results


@contextmanager
def opened(playwright: Playwright, address: str) -> Iterator[Page]:
    with tab(playwright, "chromium", flags=UNLIMITED) as page:
        page.open(address)
        page.run(UNFOLD)
        page.pause(0.5)
        yield page


def without_python(page: Page) -> list[Painted]:
    """Every step of the page that is open, there and back."""
    n = count(page)

    def step() -> None:
        for i in [*range(n), *reversed(range(n - 1))]:
            page.click(f"#tokens .R{i} span")
            page.pause(0.3)

    return traced(page, step, answered=False)


def live(page: Page, seeds: Iterable[int] = SEEDS) -> list[Painted]:
    times: list[Painted] = []
    for seed in seeds:
        page.fill("input[name=seed]", str(seed))
        page.fill("input[name=temperature]", "1")
        page.pause(0.3)  # leaving a field is an event too
        press(page)  # runs the prompt
        counts = [count(page)]

        def grow(counts: list[int] = counts) -> None:
            while len(counts) < 2 or counts[-1] > counts[-2]:
                press(page)
                counts.append(count(page))

        times += traced(page, grow, answered=True)[
            : len(counts) - 2
        ]  # the last press only said that the text has ended
    return times


def press(page: Page) -> None:
    """Click "One token" and wait until Python has nothing more to say."""
    page.click(NEXT)
    page.wait(READY, 120)
    page.pause(0.3)


def count(page: Page) -> int:
    found: int = page.run('document.querySelectorAll("#tokens input").length')
    return found


def result(what: str, times: list[Painted]) -> Result:
    answer, laid, raster, drawing = (median(part) for part in zip(*times, strict=True))
    painted, total = [one.painted for one in times], median(one.total for one in times)
    parts = f"answer {answer:.0f}, page {laid:.0f}; " * (answer > 0) + f"worst of {len(times)}: {max(painted):.0f}"
    after = f"raster {raster:.0f}, drawing {drawing:.0f}: on the screen after {total:.0f} ms"
    return at_most(f"{what}, ms to paint", painted, GOAL, "", f"{parts}; {after}", ".0f")
