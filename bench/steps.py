"""A step on the page: whether it keeps to the frames of a screen; and how steadily a page plays.

In frames: at 60 frames a second at most, as on a reader's screen. A frame is in time if no more than 1/55 s has passed
since the page began the one before, and what counts is the share of the time that passed in such frames: of a step,
from its click until what it has set in motion has come to rest; of a page that plays by its own button, some seconds,
without the first half second. Chromium without windows has no graphics card, and paints by the processor.

For scale, milliseconds from a click until what has changed is painted, which is when the next frame begins after the
one that shows it. There frames come as soon as they are ready: the browser is run without its limit of frames a second.

Live: "Run", which adds a token, in a page whose Python is up, with several seeds until each text ends; the click that
starts a text (its whole prompt is run and drawn) is not a step and not counted. The page asks Python for the next
token while nothing is pressed (site/boot.js), and here a moment passes between two clicks: the answer is there, and
has to be put into the page. Who clicks sooner waits for the rest of Python's work too. Without Python: the label of a
token, back and forth, in the page as it was built; CSS alone answers.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from statistics import median

from playwright.sync_api import Playwright

from bench.measure import Result, at_least
from bench.start import NEXT
from microgpt.course import PAGES
from tools.browsers import UNFOLD, Page, tab
from tools.server import serving

GOAL_SHARE = 95
SEEDS = range(1, 9)
UNLIMITED = ("--disable-frame-rate-limit", "--disable-gpu-vsync")
# What can be stepped: a page, and its controls.
TOKEN_INPUTS = "#tokens input"
RAIL = ".cases > .pick.timed .rail input"
STEPPED = {"inside": RAIL, "full-cache": RAIL}
# What can be played, and by what.
PLAYED = {"kv-cache": ".play input", "inside": "[data-play]", "full-cache": "[data-play]"}
PER_SECOND = 55
SECONDS = 6
READY = 'document.querySelector("[data-boot]").dataset.state === "ready"'
Step = tuple[float, list[float]]  # milliseconds until it is painted, and between one frame and the next until it rests
# A click leads to what is there in the frame in which `there` holds; after it, things move for less than REST.
CLICK = """const frame = () => new Promise(requestAnimationFrame), REST = 400;
  const step = async (element, there) => {
    let last = await frame(), painted = 0;
    const start = performance.now(), frames = [];
    const next = async () => {
      const now = await frame();
      frames.push(now - last);
      last = now;
    };
    element.click();
    do await next(); while (!there());
    await next();
    painted = performance.now() - start;
    while (performance.now() < start + painted + REST) await next();
    return [painted, frames];
  };"""
# The marks of boot.js: that a message was sent, and that its picture is there while its prose is asked for. Where a
# text has ended there is no more to ask for, and the answer is that of no step.
LIVE = f"""(async () => {{ {CLICK}
  const marks = (name) => performance.getEntriesByName(name).length;
  const sent = marks("boot-working"), ready = marks("boot-ready");
  const there = () => marks("boot-working") > sent + 1 || marks("boot-ready") > ready;
  return step(document.querySelector("{NEXT}"), there);
}})()"""
STEPS = f"""(async () => {{ {CLICK}
  const controls = [...document.querySelectorAll("CONTROLS")], steps = [];
  for (const one of [...controls, ...controls.toReversed().slice(1)]) steps.push(await step(one, () => true));
  return steps;
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
        for what, steps in (
            (f"stepping `{page.model}` without Python", press_each(TOKEN_INPUTS)),
            (f"a live step of `{page.model}`", live),
        ):
            results.append(result(playwright, site, page.name, what, steps))
    for name, controls in STEPPED.items():
        results.append(result(playwright, site, name, f"stepping {name}.html without Python", press_each(controls)))
    return results + [steadiness(playwright, site, name, button) for name, button in PLAYED.items()]


def result(playwright: Playwright, site: Path, name: str, what: str, steps: Callable[[Page], list[Step]]) -> Result:
    """The share of the time of these steps in which there were enough frames a second."""
    taken = []
    for flags in ((), UNLIMITED):
        with serving(site) as url, tab(playwright, "chromium", flags=flags) as open_tab:
            open_tab.open(f"{url}{name}.html")
            open_tab.run(UNFOLD)
            open_tab.pause(0.5)
            taken.append(steps(open_tab))
    frames, painted = [times for _, times in taken[0]], [ms for ms, _ in taken[1]]
    steady = sum(max(times) <= 1000 / PER_SECOND for times in frames)
    scale = f"{steady} of {len(frames)} without a late frame; painted after {median(painted):.0f} ms, "
    scale += f"worst {max(painted):.0f}"
    return in_time(what, sum(frames, []), scale)


def in_time(what: str, frames: list[float], scale: str) -> Result:
    share = 100 * sum(one for one in frames if one <= 1000 / PER_SECOND) / sum(frames)
    return at_least(f"{what}, % of the time at {PER_SECOND} frames a second", [share], GOAL_SHARE, "", scale)


def press_each(controls: str) -> Callable[[Page], list[Step]]:
    """What presses these controls one after another, and back."""

    def steps(page: Page) -> list[Step]:
        taken: list[Step] = page.run(STEPS.replace("CONTROLS", controls))
        return taken

    return steps


def steadiness(playwright: Playwright, site: Path, name: str, button: str) -> Result:
    """The share of the time in which the page, playing, had enough frames a second."""
    with serving(site) as url, tab(playwright, "chromium") as open_tab:
        open_tab.open(f"{url}{name}.html")
        open_tab.pause(0.5)
        if name != "kv-cache":  # from the beginning: at the end there is nothing to play
            open_tab.run(f"document.querySelector('{RAIL}').click()")
        times = open_tab.run(PLAY.replace("BUTTON", button))
    scale = f"painted by the processor; {1000 * len(times) / sum(times):.0f} frames a second, worst {max(times):.0f} ms"
    return in_time(f"playing {name}.html", times, scale)


def live(page: Page) -> list[Step]:
    """Each step of each text."""
    taken = []
    for seed in SEEDS:
        page.fill("input[name=seed]", str(seed))
        page.run("document.querySelector('[name=temperature][value=\"1\"]').click()")
        page.pause(0.3)  # leaving a field is an event too
        press(page)  # runs the prompt
        before, step = count(page), press(page)
        while (now := count(page)) > before:
            taken.append(step)
            before, step = now, press(page)
    return taken


def press(page: Page) -> Step:
    """Click "Run" and wait until Python has nothing more to say."""
    step: Step = page.run(LIVE)
    page.wait(READY, 120)
    page.pause(0.3)
    return step


def count(page: Page) -> int:
    found: int = page.run('document.querySelectorAll("#tokens input").length')
    return found
