"""The machine in motion: frames a second, what each frame costs, and stepping without Python, by the number of tokens.

A step plays and is played again for as long as frames are counted. Style and layout are Chromium's own count of its
work (Performance.getMetrics), over the frames that the page has seen. The rest of a frame is painting, which depends on
the machine. A step without Python is measured as in steps.py, until the page is painted. Rounds are repeated and the
best is kept: what is asked is what the page needs, not what else the machine was doing. Pages of other lengths are
built for it. 24 tokens are the most that a shipped model sees; a text of 32, the most that a page shows, is drawn as
that of a large model is, by one of ours with room for more.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from playwright.sync_api import Playwright

from bench.browser.painted import UNLIMITED
from bench.browser.steps import without_python
from bench.measure import Result
from build import main as build
from microgpt.viz.large.picture import big_view
from microgpt.viz.rendering.assets import STYLE
from microgpt.viz.rendering.style import style
from microgpt.weights import Model, shipped
from tools.bake import write
from tools.browsers import Page, PlaywrightPage, tab
from tools.checkpoint import rendered
from tools.server import serving

ROUNDS, MS = 3, 4000
FRAMES, COST, REST, STEP, GROWTH = 55, 6.0, 2.0, 20.0, 1.5
SHORT = 8  # tokens, against which the longest text is measured, of the same model
TEXTS = {  # tokens -> the model, and a prompt
    7: ("names", "emm"), SHORT: ("stories", "The next day is so bright ."), 16: ("names", "emmanueleemmanu"),
    24: ("stories", " ".join(["The next day is bright"] * 4)),
    32: ("stories", " ".join(["The next day is bright"] * 6) + " The"),
}  # fmt: skip
COUNT = """(ms) => new Promise((done) => {
  let frames = 0, start;
  const frame = (now) => {
    start ??= now;
    if (now - start >= ms) return done([frames, now - start]);
    frames += 1;
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
})"""


class Motion(NamedTuple):
    frames: float  # a second
    cost: float  # milliseconds of style and layout a frame


def measure(playwright: Playwright, site: Path) -> list[Result]:
    results = []
    with serving(site) as url:
        moved = best(playwright, f"{url}index.html", play=False)
        results += [cost("index.html as it opens", moved, REST)]
    times: dict[int, float] = {}
    for n in TEXTS:
        with page_of(n) as (url, tokens):
            if n != SHORT:
                moved = best(playwright, url, play=True)
                goal = f"at least {FRAMES}"
                what = f"the machine plays with {tokens} tokens"
                results.append(
                    Result(f"{what}, frames a second", f"{moved.frames:.0f}", "", goal, moved.frames >= FRAMES)
                )
                results.append(cost(what, moved, COST))
            times[tokens] = min(median(stepped(playwright, url)) for _ in range(ROUNDS))
    for tokens, took in times.items():
        what = f"stepping between {tokens} tokens without Python, ms to paint"
        results.append(Result(what, f"{took:.0f}", "", f"at most {STEP:g}", took <= STEP))
    grows = times[max(times)] / times[SHORT]
    what = f"the same, {max(times)} tokens against {SHORT}"
    return [*results, Result(what, f"{grows:.2f}", "", f"at most {GROWTH}", grows <= GROWTH)]


def cost(what: str, moved: Motion, goal: float) -> Result:
    what = f"{what}, ms of style and layout a frame"
    return Result(what, f"{moved.cost:.1f}", "", f"at most {goal:g}", moved.cost <= goal)


@contextmanager
def page_of(n: int) -> Iterator[tuple[str, int]]:
    """The address of a stepper with a text of about so many tokens, and how many they are."""
    name, prompt = TEXTS[n]
    with ExitStack() as stack:
        out = Path(stack.enter_context(tempfile.TemporaryDirectory())) / "site"
        if n > shipped(name).config.n_ctx:
            pages = large(replace(shipped(name), config=replace(shipped(name).config, n_ctx=n)), prompt)
            for file, text in {**pages, STYLE: style()}.items():
                write(out / file, text)
        else:
            build(["--widget", "stepper", "--model", name, "--prompt", prompt, "--out", str(out)])
        page = next(path for path in out.glob("*.html") if 'class="stepper' in path.read_text("utf-8"))
        tokens = page.read_text("utf-8").count('name="step"')
        yield stack.enter_context(serving(out)) + page.name, tokens


def large(model: Model, prompt: str) -> dict[str, str]:
    """The pages of a model that is drawn as a large one is."""
    return rendered(model, prompt, big_view(model, prompt, 0, [], []), {})


def best(playwright: Playwright, url: str, play: bool) -> Motion:
    """Of some rounds, the most frames and the least work."""
    with tab(playwright, "chromium") as page:
        page.open(url)
        page.pause(1)
        if play:
            page.run('[...document.querySelectorAll("[name=step]")].at(-1).click()')  # the one that meets most keys
            page.run('document.querySelector("[name=once]").click()')
        rounds = []
        for _ in range(ROUNDS):
            if play:  # from the start, since a step ends
                page.run("document.getAnimations().forEach((a) => { a.currentTime = 0; })")
            rounds.append(counted(page, MS))
    return Motion(max(r.frames for r in rounds), min(r.cost for r in rounds))


def counted(page: Page, ms: int) -> Motion:
    assert isinstance(page, PlaywrightPage)
    client = page.tab.context.new_cdp_session(page.tab)
    client.send("Performance.enable", {"timeDomain": "threadTicks"})
    before = work(client)
    frames, took = page.tab.evaluate(COUNT, ms)
    return Motion(1000 * frames / took, 1000 * (work(client) - before) / frames)


def work(client: Any) -> float:
    """Seconds of style and layout since the page was opened."""
    told = {one["name"]: one["value"] for one in client.send("Performance.getMetrics")["metrics"]}
    return float(told["RecalcStyleDuration"] + told["LayoutDuration"])


def stepped(playwright: Playwright, url: str) -> list[float]:
    """Of every step, there and back."""
    with tab(playwright, "chromium", flags=UNLIMITED) as page:
        page.open(url)
        page.pause(0.5)
        return [one.painted for one in without_python(page)]
