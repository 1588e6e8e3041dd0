"""A step on the page: from a click until the page is painted, with Python and without; and how steadily it plays.

Live: "Run", which adds a token, in a page whose Python is up, with several seeds until each text ends; the click that
starts a text (its whole prompt is run and drawn) is not a step and not counted. The page asks Python for the next
token while nothing is pressed (site/boot.js), and here a moment passes between two clicks: the answer is there, and
has to be put into the page. Who clicks sooner waits for the rest of Python's work too. Without Python: the label of a
token, back and forth, in the page as it was built; CSS alone answers, and transitions that follow are not waited for.

Painted is what has changed when the next frame begins after the one that shows it. Frames come as soon as they are
ready: the browser is run without its limit of frames a second. A reader's screen adds half a tick (8 ms at 60 Hz).

Playing: the page plays by its own button for some seconds, at 60 frames a second at most, as on a reader's screen. A
frame is in time if no more than 1/55 s has passed since the page began the one before, and what counts is the share of
the time that passed in such frames. Chromium without windows has no graphics card, and paints by the processor.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from statistics import median

from playwright.sync_api import Playwright

from bench.measure import Result, at_least, at_most
from bench.start import NEXT
from microgpt.course import PAGES
from tools.browsers import UNFOLD, Page, tab
from tools.server import serving

GOAL = 20.0
GOAL_SHARE = 95
SEEDS = range(1, 9)
UNLIMITED = ("--disable-frame-rate-limit", "--disable-gpu-vsync")
# What can be stepped: a page, and its controls.
RAIL = ".cases > .pick.timed .rail input"
STEPPED = {"inside": RAIL, "full-cache": RAIL}
# What can be played, and by what.
PLAYED = {"kv-cache": ".play input", "inside": "[data-play]", "full-cache": "[data-play]"}
PER_SECOND = 55
SECONDS = 6
READY = 'document.querySelector("[data-boot]").dataset.state === "ready"'
# Milliseconds from a click until it is painted what it leads to, which is there in the frame in which `there` holds.
CLICK = """const frame = () => new Promise(requestAnimationFrame);
  const painted = async (element, there) => {
    await frame();
    const start = performance.now();
    element.click();
    do await frame(); while (!there());
    await frame();
    return performance.now() - start;
  };"""
# The marks of boot.js: that a message was sent, and that its picture is there while its prose is asked for. Where a
# text has ended there is no more to ask for, and the answer is that of no step.
LIVE = f"""(async () => {{ {CLICK}
  const marks = (name) => performance.getEntriesByName(name).length;
  const sent = marks("boot-working"), ready = marks("boot-ready");
  const there = () => marks("boot-working") > sent + 1 || marks("boot-ready") > ready;
  return painted(document.querySelector("{NEXT}"), there);
}})()"""
STEPS = f"""(async () => {{ {CLICK}
  const controls = [...document.querySelectorAll("CONTROLS")], times = [];
  for (const one of [...controls, ...controls.toReversed().slice(1)]) times.push(await painted(one, () => true));
  return times;
}})()"""
# Milliseconds between one frame and the next while the page plays, by its own button; the first half second is none.
PLAY = f"""(async () => {{
  const frame = () => new Promise(requestAnimationFrame), times = [];
  document.querySelector("BUTTON").click();
  await new Promise((done) => setTimeout(done, 500));
  let last = await frame();
  for (const end = last + {1000 * SECONDS}; last < end;) {{
    const now = await frame();
    times.push(now - last);
    last = now;
  }}
  return times;
}})()"""


def measure(playwright: Playwright, site: Path) -> list[Result]:
    results = []
    for page in (one for one in PAGES if one.widget == "kv_cache"):
        with serving(site) as url, tab(playwright, "chromium", flags=UNLIMITED) as open_tab:
            open_tab.open(f"{url}{page.name}.html")
            open_tab.run(UNFOLD)
            open_tab.pause(0.5)
            results += [
                result(
                    f"stepping `{page.model}` without Python", open_tab.run(STEPS.replace("CONTROLS", "#tokens input"))
                ),
                result(f"a live step of `{page.model}`", list(live(open_tab))),
            ]
    for name, controls in STEPPED.items():
        with serving(site) as url, tab(playwright, "chromium", flags=UNLIMITED) as open_tab:
            open_tab.open(f"{url}{name}.html")
            open_tab.run(UNFOLD)
            open_tab.pause(0.5)
            times = open_tab.run(through(controls))
            results.append(result(f"stepping {name}.html without Python", times))
    return results + [steadiness(playwright, site, name, button) for name, button in PLAYED.items()]


def through(controls: str) -> str:
    """The script that presses these controls one after another, and back."""
    return STEPS.replace("CONTROLS", controls)


def steadiness(playwright: Playwright, site: Path, name: str, button: str) -> Result:
    """The share of the time in which the page, playing, had enough frames a second."""
    with serving(site) as url, tab(playwright, "chromium") as open_tab:
        open_tab.open(f"{url}{name}.html")
        open_tab.pause(0.5)
        if name != "kv-cache":  # from the beginning: at the end there is nothing to play
            open_tab.run(f"document.querySelector('{RAIL}').click()")
        times = open_tab.run(PLAY.replace("BUTTON", button))
    share = 100 * sum(time for time in times if time <= 1000 / PER_SECOND) / sum(times)
    scale = f"painted by the processor; {1000 * len(times) / sum(times):.0f} frames a second, worst {max(times):.0f} ms"
    return at_least(
        f"playing {name}.html, % of the time at {PER_SECOND} frames a second", [share], GOAL_SHARE, "", scale
    )


def live(page: Page) -> Iterator[float]:
    """Milliseconds of each step of each text."""
    for seed in SEEDS:
        page.fill("input[name=seed]", str(seed))
        page.run("document.querySelector('[name=temperature][value=\"1\"]').click()")
        page.pause(0.3)  # leaving a field is an event too
        press(page)  # runs the prompt
        before, took = count(page), press(page)
        while (now := count(page)) > before:
            yield took
            before, took = now, press(page)


def press(page: Page) -> float:
    """Click "Run" and wait until Python has nothing more to say; milliseconds until its picture was painted."""
    took: float = page.run(LIVE)
    page.wait(READY, 120)
    page.pause(0.3)
    return took


def count(page: Page) -> int:
    found: int = page.run('document.querySelectorAll("#tokens input").length')
    return found


def result(what: str, times: list[float]) -> Result:
    worst = f"worst of {len(times)}: {max(times):.0f}, middle {median(times):.1f}"
    return at_most(f"{what}, ms to paint", times, GOAL, "", worst, ".0f")
