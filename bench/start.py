"""Live start: from the reader's click on "Run" to the first live token, against stock Pyodide.

The yardstick is what one gets without effort: a page that loads untouched Pyodide on its main thread, from a click too,
and the whole NumPy wheel with `loadPackage`, then `import numpy`. Both come from the same server, uncompressed; every
start is cold, in a new profile of a new browser. Stock's list of packages is cut down to NumPy, which favours it.

The clock starts at the click event's own time stamp. Something counts as painted at the start of the first frame after
the one in which it was changed. Frames and long tasks are those of the page from the click to the answer. Does not
throttle the network. What a first step fetches is compressed file by file, as hosts send it.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from playwright.sync_api import Playwright
from pyodide_lock import PyodideLockSpec
from pyodide_lock.spec import InfoSpec, PackageSpec
from pyodide_lock.utils import update_package_sha256

from bench.measure import Result, at_most, interleave, ratios
from bench.pages import as_brotli
from tools.browsers import UNFOLD, tab, which
from tools.runtime.bundle import gzip
from tools.runtime.fetch import default_cache, fetch_runtime
from tools.runtime.pins import ABI, NUMPY, PLATFORM, PYODIDE, PYTHON
from tools.server import serving

BROWSER_ROUNDS = {"chromium": 7, "firefox": 3}
NEXT = "button[data-hook=next]"
FIRST_TOKEN, STOCK = "boot-working", "boot-numpy"  # the marks: the first live picture is there (boot.js); NumPy is
STOCK_PAGE = """<!doctype html><meta charset="utf-8"><title>stock</title><button>start</button><script type="module">
document.querySelector("button").addEventListener("click", async () => {
  const { loadPyodide } = await import("./pyodide.mjs");
  const python = await loadPyodide();
  await python.loadPackage("numpy", { messageCallback: () => {} });
  python.runPython("import numpy");
  performance.mark("boot-numpy");
});
</script>"""
# A mark that was left before this frame began has been painted, with everything its task changed.
WATCHER = """(() => {
  const seen = window.bench = { clicks: [], frames: [], painted: {}, tasks: [] };
  addEventListener("click", (e) => seen.clicks.push(e.timeStamp), true);
  const frame = (begin) => {
    seen.frames.push(performance.now());
    for (const { name, startTime } of performance.getEntriesByType("mark"))
      if (startTime < begin) seen.painted[name] ??= [startTime, performance.now()];
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
  if (PerformanceObserver.supportedEntryTypes.includes("longtask"))
    new PerformanceObserver((list) => {
      for (const { startTime, duration } of list.getEntries()) seen.tasks.push([startTime, duration]);
    }).observe({ type: "longtask" });
})()"""


class Start(NamedTuple):
    """All times in milliseconds from the click."""

    changed: float  # when the page was changed that is waited for
    painted: float
    worst_frame: float  # the longest time between two frames, of those that ended until then
    long_tasks: list[float]  # durations of those that ended until then


def measure(playwright: Playwright, site: Path) -> list[Result]:
    with tempfile.TemporaryDirectory() as folder:
        write_stock(Path(folder) / "stock")
        with serving(site) as ours, serving(Path(folder)) as stock:
            engines = [engine for engine in BROWSER_ROUNDS if which(engine)]
            times = [result for engine in engines for result in measure_engine(playwright, engine, ours, stock)]
    return [*times, *sizes(site)]


def measure_engine(playwright: Playwright, engine: str, ours: str, stock: str) -> list[Result]:
    starts: dict[str, list[Start]] = {"live": [], "stock": []}

    def start(kind: str, url: str, button: str, mark: str) -> float:
        starts[kind].append(start_at(playwright, engine, url, button, mark))
        return starts[kind][-1].painted if kind == "live" else starts[kind][-1].changed

    jobs = {
        "live": lambda: start("live", f"{ours}kv-cache.html", NEXT, FIRST_TOKEN),
        "stock": lambda: start("stock", f"{stock}stock/index.html", "button", STOCK),
    }
    took = interleave(BROWSER_ROUNDS[engine], jobs)
    live, name = starts["live"][1:], engine.capitalize()  # the first round warmed up
    blocked = median([one.worst_frame for one in starts["stock"]])
    results = [
        at_most(
            f"{name}: click to the first live token painted", ratios(took["live"], took["stock"]), 0.45,
            "stock Pyodide + `import numpy`, main thread, cold",
            f"{median(took['live']):.0f} ms, stock {median(took['stock']):.0f} ms",
        ),
        at_most(
            f"{name}: worst frame while Python loads, ms", [one.worst_frame for one in live], 35,
            "", f"stock {blocked:.0f} ms", ".0f",
        ),
    ]  # fmt: skip
    if engine == "chromium":
        counts = [float(len(one.long_tasks)) for one in live]
        theirs = f"stock: {median(sum(one.long_tasks) for one in starts['stock']):.0f} ms in them"
        results.append(at_most(f"{name}: long tasks while Python loads", counts, 0, "none", theirs, ".0f"))
    return results


def start_at(playwright: Playwright, engine: str, url: str, button: str, mark: str) -> Start:
    """Click, wait until the mark is there and painted."""
    with tab(playwright, engine) as page:
        page.open(url)
        page.run(UNFOLD)
        page.run(WATCHER)
        page.pause(0.5)
        page.click(button)
        page.wait(f'window.bench.painted["{mark}"]', 120)
        seen: dict[str, Any] = page.run("window.bench")
    click, (changed, painted), frames = seen["clicks"][0], seen["painted"][mark], seen["frames"]
    worst = max(b - a for a, b in zip(frames, frames[1:], strict=False) if click < b <= changed)
    tasks = [duration for at, duration in seen["tasks"] if click < at + duration <= changed]
    return Start(changed - click, painted - click, worst, tasks)


def sizes(site: Path) -> list[Result]:
    """What Python takes to the first step."""
    manifest = next(site.glob("runtime-*/runtime.json"))
    told = json.loads(manifest.read_text("utf-8"))
    paths = [manifest, *(manifest.parent / name for name, file in told["files"].items() if not file.get("later"))]
    by_brotli, by_gzip = as_brotli(paths, 11), sum(len(gzip(path.read_bytes())) for path in paths)
    what = "what a first step fetches of Python, MB as"
    return [
        at_most(f"{what} brotli 11", [by_brotli / 1e6], 4.0, "", f"{len(paths)} files"),
        at_most(f"{what} gzip at its best", [by_gzip / 1e6], 4.9, ""),
    ]


def write_stock(out: Path) -> None:
    """A folder with stock Pyodide, all of NumPy and the page that loads them."""
    out.mkdir()
    for name, path in fetch_runtime(default_cache()).items():
        shutil.copyfile(path, out / name)
    (numpy,) = out.glob("*.whl")
    (out / "pyodide-lock.json").write_bytes(lock(numpy))
    (out / "index.html").write_text(STOCK_PAGE, "utf-8")


def lock(numpy: Path) -> bytes:
    """pyodide-lock.json for that wheel."""
    package = PackageSpec(
        name="numpy", version=NUMPY, file_name=numpy.name, install_dir="site", package_type="package",
        imports=["numpy"], depends=[],
    )  # fmt: skip
    update_package_sha256(package, numpy)
    info = InfoSpec(arch="wasm32", platform=PLATFORM, version=PYODIDE, python=PYTHON)
    data = json.loads(PyodideLockSpec(info=info, packages={"numpy": package}).json())
    data["info"]["abi_version"] = ABI  # newer than pyodide-lock's schema; Pyodide insists on it
    return json.dumps(data).encode()
