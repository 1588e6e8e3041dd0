"""A live step on the page against the same step of an earlier site, built from the history of this repository.

A page's own work is most of a step, and how long that takes depends on the machine and its hour: so the two are
measured in turns, text by text, each as steps.py does. At the earlier commit Python sent the prose of the page with
every token, and the browser worked out the style of more than had changed. A step took 42 to 47 ms then, and was to
take 20: the goal is that share.
"""

from __future__ import annotations

import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from statistics import median

from playwright.sync_api import Playwright

from bench.browser.steps import live, opened
from bench.browser.watch import address
from bench.measure import ROOT, Job, Result, at_most, interleave, ratios
from microgpt.course import PAGES

EARLIER = "0710d53"
THEN, WANTED = 45.0, 20.0  # ms
ROUNDS = 6  # a text each, and one before that warms up


def measure(playwright: Playwright, url: str) -> list[Result]:
    pages = [(page.name, f"a live step of `{page.model}`") for page in PAGES if page.widget == "kv_cache"]
    if subprocess.run(["git", "cat-file", "-e", f"{EARLIER}^{{commit}}"], cwd=ROOT, capture_output=True).returncode:
        return [Result(what, f"not measured: this copy of the repository has no commit {EARLIER}") for _, what in pages]
    with earlier_site() as site, address(site) as earlier:
        return [compared(playwright, name, what, url, earlier) for name, what in pages]


def compared(playwright: Playwright, name: str, what: str, url: str, earlier: str) -> Result:
    jobs = {when: step(playwright, f"{at}{name}.html") for when, at in (("now", url), ("then", earlier))}
    took = interleave(ROUNDS, jobs)
    scale = f"{median(took['now']):.0f} ms, {median(took['then']):.0f} ms"
    yardstick = f"the site of commit {EARLIER}, in turns"
    return at_most(what, ratios(took["now"], took["then"]), WANTED / THEN, yardstick, scale)


def step(playwright: Playwright, address: str) -> Job:
    """Milliseconds to paint, the median of the steps of one text; of another text each time."""
    seeds = count(1)

    def text() -> float:
        with opened(playwright, address) as page:
            return median(one.painted for one in live(page, [next(seeds)]))

    return text


@contextmanager
def earlier_site() -> Iterator[Path]:
    """Built as it was then, by its own builder."""
    with tempfile.TemporaryDirectory() as folder:
        source, site = Path(folder) / "source", Path(folder) / "site"
        archive = Path(folder) / "source.tar"
        subprocess.run(["git", "archive", "--output", archive, EARLIER], cwd=ROOT, check=True)
        with tarfile.open(archive) as files:
            files.extractall(source, filter="data")
        done = subprocess.run([sys.executable, "build.py", "--out", site], cwd=source, capture_output=True, text=True)
        if done.returncode:
            said = done.stderr.strip().splitlines()[-1]
            raise SystemExit(f"bench: the site of commit {EARLIER} cannot be built: {said}")
        yield site
