"""What a page weighs: requests before it works, compressed size, and Lighthouse's opinion of it.

Requests are counted at the server while a browser without JavaScript opens the page and chooses; an icon does not
count, since nothing waits for it. Sizes are of the page and its style, each compressed by itself. Lighthouse is
npm's, in a temporary folder, on its mobile settings; it is given the files compressed with gzip, as web servers
send them.
"""

from __future__ import annotations

import gzip
import json
import mimetypes
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import Playwright

from bench.measure import Result, at_least
from microgpt.course import LESSONS
from tools.browsers import CHROMIUM_FLAGS, tab, which
from tools.runtime.bytecode import node
from tools.server import Fault, serving

LIGHTHOUSE = "lighthouse@13.5.0"
ROUNDS = 2
SIZE_GOAL, SCORE_GOAL = 100_000, 95
NAMES = [page.name for page in LESSONS]


def measure(playwright: Playwright, site: Path) -> list[Result]:
    results = []
    for name in NAMES:
        results += [requests(playwright, site, name), size(site, name)]
    return [*results, *lighthouse(site)]


def requests(playwright: Playwright, site: Path, name: str) -> Result:
    asked: list[str] = []
    with serving(site, seen=asked) as url, tab(playwright, "chromium", javascript=False) as page:
        page.open(f"{url}{name}.html")
        page.click(".face")
        page.pause(0.5)
    kinds = [path.rsplit(".")[-1] for path in asked if not path.endswith((".svg", ".ico"))]
    good = kinds.count("html") == 1 and kinds.count("css") <= 1 and len(kinds) <= 2
    return Result(f"{name}.html: requests before it works", " + ".join(kinds), "", "html + css", good)


def size(site: Path, name: str) -> Result:
    """Each file is compressed by itself, as it is sent."""
    paths = [site / f"{name}.html", site / "style.css"]
    size = sum(len(gzip.compress(path.read_bytes(), 9)) for path in paths)
    raw = f"uncompressed {sum(path.stat().st_size for path in paths) / 1000:.0f} kB"
    goal = f"under {SIZE_GOAL // 1000}"
    return Result(f"{name}.html + style.css, kB", f"gzip {size / 1000:.1f}", "", goal, size < SIZE_GOAL, raw)


def as_brotli(paths: list[Path], quality: int) -> int:
    """Bytes of these files, each compressed, by Node: it is always there, and Python has no brotli."""
    code = """
    const { brotliCompressSync, constants } = require("zlib"), { readFileSync } = require("fs");
    const [quality, ...paths] = process.argv.slice(1);
    const params = { [constants.BROTLI_PARAM_QUALITY]: +quality, [constants.BROTLI_PARAM_LGWIN]: 24 };
    console.log(paths.reduce((n, path) => n + brotliCompressSync(readFileSync(path), { params }).length, 0));
    """
    command = [node(), "--eval", code, str(quality), *map(str, paths)]
    return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def gzip_answers(site: Path) -> Fault:
    """Every file of the site with gzip, as a web server sends it."""

    def answer(path: str) -> tuple[int, dict[str, str], Iterator[bytes]] | None:
        file = site / path[1:]
        if not file.is_file():
            return None
        body = gzip.compress(file.read_bytes(), 9)
        kind = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
        return 200, {"Content-Type": kind, "Content-Encoding": "gzip", "Content-Length": str(len(body))}, iter([body])

    return answer


def lighthouse(site: Path) -> list[Result]:
    whats = {name: f"{name}.html: Lighthouse, mobile performance" for name in NAMES}
    npm, chromium = shutil.which("npm"), which("chromium")
    if npm is None or chromium is None:
        return [Result(what, "not measured: needs npm and Chromium") for what in whats.values()]
    with tempfile.TemporaryDirectory() as folder:
        command = [npm, "install", "--silent", "--no-audit", "--no-fund", "--prefix", folder, LIGHTHOUSE]
        if subprocess.run(command, capture_output=True, cwd=folder).returncode:
            return [Result(what, f"not measured: npm install {LIGHTHOUSE} failed") for what in whats.values()]
        with serving(site, gzip_answers(site)) as sent:
            scores: dict[str, list[float]] = {name: [] for name in NAMES}
            for name in NAMES * ROUNDS:
                scores[name].append(score(Path(folder), chromium, f"{sent}{name}.html"))
    if min(map(min, scores.values())) < 0:
        return [Result(what, "not measured: Lighthouse could not drive the browser") for what in whats.values()]
    scale = LIGHTHOUSE.replace("@", " ")
    return [at_least(what, scores[name], SCORE_GOAL, "100", scale) for name, what in whats.items()]


def score(folder: Path, chromium: str, url: str) -> float:
    """0 to 100; -1 when it could not be had."""
    flags = " ".join(["--headless", *CHROMIUM_FLAGS])
    command = [str(folder / "node_modules" / ".bin" / "lighthouse"), url, "--quiet", "--output=json"]
    command += ["--only-categories=performance", f"--chrome-flags={flags}"]
    environment = {**os.environ, "CHROME_PATH": chromium}
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, env=environment, timeout=180)
    try:
        return 100 * float(json.loads(done.stdout)["categories"]["performance"]["score"])
    except (ValueError, KeyError, TypeError):
        return -1.0
