"""Live start: from the reader's click on "One token" to NumPy, and to the first live token, against stock Pyodide.

The yardstick is what one gets without effort: a page that loads untouched Pyodide on its main thread, from a
click too, and the whole NumPy wheel with `loadPackage`, then `import numpy`. Both come from the same server,
uncompressed; every start is cold, in a new profile of a new browser. Stock's list of packages is cut down to
NumPy, which favours it.

"NumPy ready" is read off in our real page: its worker.js is served with one statement more, which imports NumPy
before our own code and says so, on a channel of the bench; the page marks when it hears it. Frames and long tasks are
those of the page from the click to that moment; a page that nobody touches is their yardstick. Does not throttle the
network. What a first step fetches is compressed file by file, as hosts send it.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from pathlib import Path
from statistics import median

from playwright.sync_api import Playwright
from pyodide_lock import PyodideLockSpec
from pyodide_lock.spec import InfoSpec, PackageSpec
from pyodide_lock.utils import update_package_sha256

from bench.browser.pages import as_brotli
from bench.browser.watch import Seen, address, seen, watch
from bench.measure import Result, at_most, interleave, ratios, spread
from tools.altered import altered
from tools.browsers import Page, tab, which
from tools.runtime.fetch import default_cache, fetch_runtime
from tools.runtime.pinned import ABI, NUMPY, PLATFORM, PYODIDE, PYTHON
from tools.runtime.single import packed

ROUNDS = {"chromium": 7, "firefox": 3}
REST = 2.0  # seconds
NEXT = "button[data-hook=next]"
STOCK_PAGE = """<!doctype html><meta charset="utf-8"><title>stock</title><button>start</button><script type="module">
document.querySelector("button").addEventListener("click", async () => {
  const { loadPyodide } = await import("./pyodide.mjs");
  const python = await loadPyodide();
  await python.loadPackage("numpy", { messageCallback: () => {} });
  python.runPython("import numpy");
  performance.mark("boot-numpy");
});
</script>"""
LAST_LINE = "return pyodide.pyimport(module).receive;"
WITH_A_MARK = """pyodide.runPython("import numpy");
  new BroadcastChannel("bench").postMessage("numpy");
  return pyodide.pyimport(module).receive;"""
HEAR = "((window.heard = new BroadcastChannel('bench')).onmessage = ({ data }) => performance.mark(`boot-${data}`), 0)"


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


def write_stock(out: Path) -> None:
    """A folder with stock Pyodide, all of NumPy and the page that loads them."""
    out.mkdir()
    for name, path in fetch_runtime(default_cache()).items():
        shutil.copyfile(path, out / name)
    (numpy,) = out.glob("*.whl")
    (out / "pyodide-lock.json").write_bytes(lock(numpy))
    (out / "index.html").write_text(STOCK_PAGE, "utf-8")


def marked(worker: str) -> str:
    assert LAST_LINE in worker, "worker.js has changed: bench/browser/start.py must say anew where NumPy is imported"
    return worker.replace(LAST_LINE, WITH_A_MARK)


def measure(playwright: Playwright, site: Path) -> list[Result]:
    with tempfile.TemporaryDirectory(dir=site.parent) as folder:
        copy = altered(site, Path(folder) / "site", marked)
        write_stock(copy / "stock")
        with address(copy) as url:
            engines = [engine for engine in ROUNDS if which(engine)]
            times = [result for engine in engines for result in measure_engine(playwright, engine, url)]
    return [*times, *sizes(site)]


def sizes(site: Path) -> list[Result]:
    """What Python takes to the first step."""
    manifest = next(site.glob("runtime-*/runtime.json"))
    told = json.loads(manifest.read_text("utf-8"))
    paths = [manifest, *(manifest.parent / name for name, file in told["files"].items() if not file.get("later"))]
    by_brotli, by_gzip = as_brotli(paths, 11), sum(len(packed(path.read_bytes())) for path in paths)
    what = "what a first step fetches of Python, MB as"
    return [
        at_most(f"{what} brotli 11", [by_brotli / 1e6], 4.0, "", f"{len(paths)} files"),
        at_most(f"{what} gzip at its best", [by_gzip / 1e6], 4.9, ""),
    ]


def measure_engine(playwright: Playwright, engine: str, url: str) -> list[Result]:
    kept: dict[str, list[Seen]] = {"live": [], "stock": [], "rest": []}

    def live() -> float:
        with tab(playwright, engine) as page:
            page.open(url + "kv-cache.html")
            kept["live"].append(start(page, NEXT, "boot-ready"))
        return since_click(kept["live"][-1], "boot-numpy")

    def stock() -> float:
        with tab(playwright, engine) as page:
            page.open(url + "stock/index.html")
            kept["stock"].append(start(page, "button", "boot-numpy"))
        return since_click(kept["stock"][-1], "boot-numpy")

    def rest() -> float:
        with tab(playwright, engine) as page:
            page.open(url + "kv-cache.html")
            watch(page)
            page.pause(REST)
            kept["rest"].append(seen(page))
        return REST

    took = interleave(ROUNDS[engine], {"live": live, "stock": stock, "rest": rest})
    lives, stocks, rests = (kept[name][1:] for name in ("live", "stock", "rest"))  # the first round warmed up
    token = [s.painted["boot-working"][0][1] - s.clicks[0] for s in lives]  # the picture; its prose comes next
    name, yardstick = engine.capitalize(), "stock Pyodide + `import numpy`, main thread, cold"
    scale = [f"{median(values):.0f} ms" for values in (took["live"], token, took["stock"])]
    results = [
        at_most(
            f"{name}: click to NumPy ready", ratios(took["live"], took["stock"]), 0.35, yardstick,
            f"{scale[0]}, stock {scale[2]}",
        ),
        at_most(
            f"{name}: click to the first live token painted", ratios(token, took["stock"]), 0.45, yardstick,
            f"{scale[1]}, stock {scale[2]}",
        ),
    ]  # fmt: skip
    return results + smoothness(name, lives, stocks, rests, engine == "chromium")


def start(page: Page, button: str, until: str) -> Seen:
    """Click, wait until the mark is there and painted."""
    watch(page)
    page.run(HEAR)
    page.pause(0.5)
    page.click(button)
    page.wait(f'window.bench.painted["{until}"]?.length > 0', 120)
    return seen(page)


def since_click(run: Seen, mark: str) -> float:
    return run.painted[mark][0][0] - run.clicks[0]


def smoothness(name: str, lives: list[Seen], stocks: list[Seen], rests: list[Seen], tasks: bool) -> list[Result]:
    """Frames and long tasks from the click until Python answers; drawing the answer is a line of its own."""
    loading = [(s, s.clicks[0], s.painted["boot-working"][0][0]) for s in lives]
    stock = [(s, s.clicks[0], s.painted["boot-numpy"][0][1]) for s in stocks]
    still = median([s.worst_frame(0, s.frames[-1]) for s in rests])
    blocked = median([s.worst_frame(a, b) for s, a, b in stock])
    drawing = [s.worst_frame(*s.painted["boot-working"][0]) for s in lives]
    at_rest = f"the same page at rest: {still:.0f} ms"
    results = [
        at_most(
            f"{name}: worst frame while Python loads, ms", [s.worst_frame(a, b) for s, a, b in loading], 35,
            at_rest, f"stock {blocked:.0f} ms", ".0f",
        ),
        Result(f"{name}: the frame in which the first live picture replaces the built one, ms",
            spread(drawing, ".0f"), at_rest),
    ]  # fmt: skip
    if tasks:
        counts = [float(len(s.long_tasks(a, b))) for s, a, b in loading]
        theirs = median([sum(s.long_tasks(a, b)) for s, a, b in stock])
        scale = f"stock: {theirs:.0f} ms in them"
        results.append(at_most(f"{name}: long tasks while Python loads", counts, 0, "none", scale, ".0f"))
    return results
