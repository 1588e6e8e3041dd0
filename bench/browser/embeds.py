"""A course page with ten embeds: does it scroll smoothly, and is a step in one of them quick?

The host page scrolls through all ten frames, a little with each picture that the browser paints; the yardstick is the
same page with ten empty frames. Then tokens are chosen in one of the frames, while the nine others are there. Frames
are loaded at once, not lazily, which is the harder case. No frame has Python running: none has been asked to.
"""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from playwright.sync_api import Playwright

from bench.measure import Result, at_most, interleave
from microgpt.course import LESSONS
from tools.browsers import PlaywrightPage, tab
from tools.server import serving

ROUNDS = 5
HOST = "<!doctype html><title>host</title><style>iframe {{ display: block; width: 750px; height: 450px }}</style>{}"
SCROLL = """async () => {
  const frame = () => new Promise(requestAnimationFrame), times = [];
  scrollTo(0, 0);
  let before = await frame();
  for (let y = 0; y < document.documentElement.scrollHeight - innerHeight; y += 40) {
    scrollTo(0, y);
    const now = await frame();
    times.push(now - before);
    before = now;
  }
  return times;
}"""
STEP = """async () => {
  const frame = () => new Promise(requestAnimationFrame), times = [];
  for (const input of document.querySelectorAll("[name=step]")) {
    await frame();
    const start = performance.now();
    input.click();
    await frame();
    await frame();
    times.push(performance.now() - start);
  }
  return times;
}"""


def measure(playwright: Playwright, site: Path) -> list[Result]:
    frames = [f"embed/{lesson.name}.html" for lesson in LESSONS][:10]
    with serving(site) as url, tempfile.TemporaryDirectory() as folder:
        full = "".join(f'<iframe src="{url}{frame}"></iframe>' for frame in frames)
        for name, inside in (("full", full), ("empty", "<iframe></iframe>" * len(frames))):
            (Path(folder) / f"{name}.html").write_text(HOST.format(inside))
        with serving(Path(folder)) as host:
            jobs = {name: partial(scroll, playwright, f"{host}{name}.html") for name in ("full", "empty")}
            worst = interleave(ROUNDS, jobs)
            steps = step(playwright, f"{host}full.html")
    rest = f"the same page with empty frames: {median(worst['empty']):.0f} ms"
    return [
        at_most("worst frame while a page with ten embeds scrolls, ms", worst["full"], 50, rest, form=".0f"),
        at_most("choosing a token in one of ten embeds, ms", steps, 50, "a frame of 16.7 ms", form=".0f"),
    ]


def scroll(playwright: Playwright, url: str) -> float:
    with tab(playwright, "chromium") as page:
        page.open(url)
        page.pause(1)
        return float(max(evaluate(page, SCROLL)))


def step(playwright: Playwright, url: str) -> list[float]:
    with tab(playwright, "chromium") as page:
        page.open(url)
        page.pause(1)
        assert isinstance(page, PlaywrightPage)
        frame = next(f for f in page.tab.frames if f.url.endswith("embed/kv-cache.html"))
        frame.frame_element().scroll_into_view_if_needed()
        page.pause(0.5)
        return list(frame.evaluate(STEP))


def evaluate(page: Any, script: str) -> list[float]:
    times: list[float] = page.tab.evaluate(script)
    return times
