"""Python failing to load leaves a working page and one clear line, in every engine, and never a hang.

What the page does is tried with a worker that answers without Python (`stub`), which starts at once.
"""

import json
import re
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from threading import Event

import pytest

from tests.browser.conftest import Open
from tests.browser.hosts import with_policy
from tests.browser.live import LINE, STATE, open_live, press
from tests.browser.reading import assert_steps_through
from tests.support.altered import altered
from tools.browsers import UNFOLD, Page
from tools.server import Answer, serving

WASM, FIRST, NUMPY, WORKER, MANIFEST, MORE = (
    f"/runtime/{name}"
    for name in ("pyodide.asm.wasm", "first.wasm", "numpy.wasm", "worker.js", "runtime.json", "more.wasm")
)
PORTAL = b"<!doctype html><title>Log in</title>"
BOOT = (Path(__file__).resolve().parents[3] / "site" / "boot.js").read_text("utf-8")
NEXT = 'button[data-hook="next"]'


class Fault:
    """Answers in place of the server: `kinds` says of each file how; `times`, how often, if not for ever.

    `boot` are changes of the bridge, old -> new: what a browser lacks, or less patience.
    """

    def __init__(self, site: Path) -> None:
        self.site, self.times, self.held, self.url = site, -1, Event(), ""
        self.kinds: dict[str, str] = {}
        self.boot: dict[str, str] = {}

    def __call__(self, path: str) -> Answer | None:
        if path == "/boot.js" and self.boot:
            text = BOOT
            for old, new in self.boot.items():
                assert old in text, old
                text = text.replace(old, new)
            return 200, {"Content-Type": "text/javascript"}, iter([text.encode()])
        kind = self.kinds.get(re.sub(r"^/runtime-\w+/", "/runtime/", path))
        if not kind or not self.times:
            return None
        self.times -= 1
        return self.answer(kind, (self.site / path.lstrip("/")).read_bytes())

    def answer(self, kind: str, data: bytes) -> Answer:
        middle, length = len(data) // 2, {"Content-Length": str(len(data))}
        if kind in ("missing", "error"):
            return {"missing": 404, "error": 503}[kind], {"Content-Length": "0"}, iter([])
        if kind == "a login page":
            lasting = {"Cache-Control": "max-age=600"}  # the browser would keep it
            return 200, lasting | {"Content-Type": "text/html", "Content-Length": str(len(PORTAL))}, iter([PORTAL])
        if kind in ("empty", "truncated"):
            short = data[:middle] if kind == "truncated" else b""
            return 200, {"Content-Length": str(len(short))}, iter([short])
        parts = {
            "cut off": iter([data[:middle]]),
            "wrong type": iter([data]),
            "slow": slowly(data),
            "late": self.late(data),
            "hangs": self.late(b""),
            "stalls": self.late(b"", data[:1000]),
            "damaged": iter([data[:middle], bytes([data[middle] ^ 1]), data[middle + 1 :]]),
            "as long": iter([data.replace(b"/* The worker", b"/* One worker")]),
        }
        return 200, length | ({"Content-Type": "text/plain"} if kind == "wrong type" else {}), parts[kind]

    def open(self, new_tab: Open, name: str = "kv-cache") -> Page:
        return open_live(new_tab(), f"{self.url}{name}.html")

    def heals(self, page: Page) -> None:
        """Without any fault, the next press is answered as the first."""
        self.kinds = {}
        assert press(page, "next")["state"]["n"] == 4

    def late(self, data: bytes, at_once: bytes = b"") -> Iterator[bytes]:
        yield at_once
        self.held.wait(20)
        yield data


def slowly(data: bytes) -> Iterator[bytes]:
    size = len(data) // 10
    for at in range(0, len(data), size):
        time.sleep(0.1)
        yield data[at : at + size]


@pytest.fixture
def fault(stub: Path) -> Iterator[Fault]:
    made = Fault(stub)
    with serving(stub, made) as made.url:
        yield made
        made.held.set()


def assert_fails(page: Page, *words: str) -> None:
    """A press is answered by a line that has one of the words."""
    page.click(NEXT)
    page.wait(f'{STATE} === "failed"', seconds=40)
    line = page.run(LINE)
    assert any(word in line for word in words) and "keeps working" in line, line


def test_a_fault_is_said_and_a_second_try_heals(new_tab: Open, fault: Fault) -> None:
    """One after the other in one page, which steps all the same."""
    page = fault.open(new_tab)
    for path, kind, words in (
        (WASM, "missing", "no longer has pyodide.asm.wasm, so it has been renewed since this page was opened. Reload"),
        (MANIFEST, "missing", "Reload the page"),
        (NUMPY, "error", "error 503"),
        (WASM, "truncated", "pyodide.asm.wasm arrived damaged"),
        (MANIFEST, "truncated", "runtime.json arrived damaged"),
        (WORKER, "empty", "worker.js arrived damaged"),
        (WORKER, "as long", "worker.js arrived damaged"),
        (FIRST, "a login page", "web page came in place of first.wasm"),
        (MANIFEST, "a login page", "web page came in place of runtime.json"),
    ):
        fault.kinds = {path: kind}
        assert_fails(page, words)
    assert_steps_through(page.run)
    fault.heals(page)


def test_no_file_with_a_flipped_bit_runs(new_tab: Open, fault: Fault) -> None:
    """The second archive is needed in Spanish alone: what the first step lacks is said, and healed."""
    (folder,) = fault.site.glob("runtime-*")
    page = fault.open(new_tab, "es/kv-cache")
    names = sorted(path.name for path in folder.iterdir())
    assert len(names) == 6
    for name in names:
        fault.kinds = {f"/runtime/{name}": "damaged"}
        page.click(NEXT)
        page.wait(f'{STATE} === "failed"')
        assert f"{name} llegó dañado" in page.run(LINE)
    fault.heals(page)


@pytest.mark.engines("WebKit takes a short body for a whole one", "webkit")
def test_a_file_that_is_cut_off_is_said(new_tab: Open, fault: Fault) -> None:
    fault.kinds = {WASM: "cut off"}
    page = fault.open(new_tab)
    assert_fails(page, "could not be fetched", "damaged")
    fault.heals(page)


def test_a_first_step_does_not_wait_for_the_rest_and_what_needs_it_says_why_it_does_not_come(
    new_tab: Open, site: Path
) -> None:
    """By Python itself: what it lacks is known to the worker alone. A wrong type does not matter."""
    fault = Fault(site)
    fault.kinds = {MORE: "missing", WASM: "wrong type", WORKER: "wrong type"}
    with serving(site, fault) as url:
        page = open_live(new_tab(), url + "kv-cache.html")
        assert press(page, "next")["state"]["n"] == 4
        assert press(page, "next")["state"]["n"] == 5
        page.run("(document.querySelector('[name=lang]:checked').value = 'es', 0)")
        page.click(NEXT)
        page.wait(f'{STATE} === "failed"', seconds=40)
        assert "more.wasm" in page.run(LINE)
        n = page.run("JSON.parse(window.answers.at(-1)).state.n")
        fault.kinds = {}
        assert press(page, "next")["state"]["n"] == n + 1


def test_what_was_wrong_once_is_asked_for_again_by_itself(new_tab: Open, fault: Fault) -> None:
    page = new_tab()
    for name, path, kind in (
        ("kv-cache", MANIFEST, "a login page"),
        ("kv-cache", WASM, "missing"),
        ("es/kv-cache", MORE, "truncated"),
    ):
        fault.kinds, fault.times = {path: kind}, 1
        open_live(page, f"{fault.url}{name}.html")
        assert press(page, "next")["state"]["n"] == 4
        assert fault.times == 0


def test_a_line_that_goes_silent_is_given_up(new_tab: Open, fault: Fault) -> None:
    fault.boot = {"IDLE = 15": "IDLE = 1"}
    page = fault.open(new_tab)
    for path, kind in ((WORKER, "hangs"), (WASM, "stalls")):
        fault.kinds = {path: kind}
        assert_fails(page, f"nothing more of {path.rpartition('/')[2]}")


def test_on_plain_http_no_file_of_another_length_runs_and_one_that_is_as_long_does(new_tab: Open, fault: Fault) -> None:
    """There a hash would protect from nothing: who can change one file can change the page."""
    fault.boot = {"!self.crypto?.subtle": "true"}  # browsers withhold it on plain http
    page = fault.open(new_tab)
    for path, kind, words in (
        (MANIFEST, "truncated", "runtime.json arrived damaged"),
        (WASM, "truncated", "pyodide.asm.wasm arrived damaged"),
        (WORKER, "a login page", "web page came in place of worker.js"),
    ):
        fault.kinds = {path: kind}
        assert_fails(page, words)
    fault.kinds = {WORKER: "as long"}
    assert press(page, "next")["state"]["n"] == 4


def test_a_page_that_is_older_than_its_site_says_so(new_tab: Open, stub: Path, tmp_path: Path) -> None:
    renewed = altered(stub, tmp_path / "renewed", lambda worker: worker + "// newer\n")
    with serving(stub) as url:
        port = int(url.rpartition(":")[2].strip("/"))
        page = open_live(new_tab(), url + "kv-cache.html")
    assert_fails(page, "fetched")  # there is no server at all
    with serving(renewed, port=port):
        assert_fails(page, "renewed since this page was opened. Reload the page")
        open_live(page, url + "kv-cache.html")
        assert press(page, "next")["state"]["n"] == 4


def test_a_host_s_policy_that_forbids_python_is_named(new_tab: Open, engine: str, stub: Path) -> None:
    directive = ""
    forbidden = ["worker-src 'none'", "connect-src 'none'", "script-src 'self'", "child-src 'none'; worker-src 'self'"]
    page = new_tab()
    with serving(stub, lambda path: with_policy(stub, directive)(path)) as url:
        for directive in forbidden if engine == "chromium" else forbidden[:2]:
            open_live(page, url + "kv-cache.html")
            named = re.findall(r"(?:worker|connect|script)-src", directive)[0]
            assert_fails(page, f"forbids {named}", "forbids worker-src blob", "WebAssembly")  # each in its order


def test_a_frame_without_an_origin_at_a_server_that_lets_none_read(new_tab: Open, engine: str, stub: Path) -> None:
    """The sandbox comes with the page itself, so the whole tab has no origin, in every engine."""
    with serving(stub, with_policy(stub, "sandbox allow-scripts"), readable=False) as url:
        page = open_live(new_tab(), url + "embed/kv-cache.html")
        assert_fails(page, "a frame without an origin", *["forbids connect-src"] * (engine == "webkit"))


def test_a_worker_that_comes_late_does_not_become_a_second_one(new_tab: Open, fault: Fault) -> None:
    """It is still on its way when another file has failed."""
    page = fault.open(new_tab)
    page.run(
        """(() => { window.started = 0; const own = Worker;
        window.Worker = class extends own {
          postMessage(...sent) { started += "module" in sent[0]; super.postMessage(...sent); }
        }; return 0; })()"""
    )
    fault.kinds = {WORKER: "late", WASM: "missing"}
    assert_fails(page, "no longer has pyodide.asm.wasm")
    fault.held.set()
    fault.heals(page)
    page.wait(
        "performance.getEntriesByName(performance.getEntriesByType('resource').map(({ name }) => name)"
        ".find((name) => name.endsWith('worker.js'))).length >= 2"
    )
    page.pause(0.2)  # for what must not be
    assert page.run("started") == 1


@pytest.mark.parametrize("quick", [False, True])
def test_megabytes_are_counted_while_it_loads(new_tab: Open, fault: Fault, quick: bool) -> None:
    fault.kinds = {WASM: "slow"}
    if quick:  # all is there before it is first said how far it is
        fault.kinds, fault.boot = {}, {"setInterval(say, 100)": "setInterval(say, 60000)"}
    page = fault.open(new_tab)
    page.run(
        """(() => { window.said = []; const line = document.querySelector("[data-boot]");
        new MutationObserver(() => said.push(line.textContent)).observe(line, { childList: true }); return 0; })()"""
    )
    press(page, "next")
    counted = [found.groups() for line in page.run("said") if (found := re.search(r"([\d.]+) of ([\d.]+) MB", line))]
    done = [float(part) for part, _ in counted]
    assert done == sorted(done) and (len(done) == 1 if quick else len(done) > 2 and done[0] < done[-1])
    (runtime,) = Path(fault.site).glob("runtime-*/runtime.json")
    files = json.loads(runtime.read_text())["files"]
    size = sum(file["size"] for name, file in files.items() if name != "more.wasm")
    assert {float(total) for _, total in counted} == {done[-1]} == {round(size / 1e6, 1)}


def test_what_the_browser_cannot_compile_is_said(new_tab: Open, site: Path, tmp_path: Path) -> None:
    """The file is the right one, so it is not fetched again, and the browser's own reason is told."""
    call = "WebAssembly.compile(await file(name))"
    error = 'Promise.reject(new RangeError("WebAssembly.compile(): Out of memory"))'
    asked: list[str] = []
    with serving(altered(site, tmp_path / "small", lambda text: text.replace(call, error)), seen=asked) as url:
        assert_fails(open_live(new_tab(), url + "kv-cache.html"), "too little memory")
    assert len([path for path in asked if path.endswith("pyodide.asm.wasm")]) == 1


DEATHS = {  # what the stub does at a seed, and what is said of it
    "66": "ended with an error (boom)",
    "67": "too little memory",
    "68": "no answer for 2 seconds",
    "69": "boom",
}
ENDED = """(() => { window.ended = 0; const terminate = Worker.prototype.terminate;
  Worker.prototype.terminate = function () { ended++; terminate.call(this); }; return 0; })()"""


def test_python_that_died_says_so_and_goes_on_from_the_same_state(new_tab: Open, fault: Fault) -> None:
    fault.boot = {"STEP = 20": "STEP = 2"}
    page = fault.open(new_tab)
    page.run(ENDED)
    n = count(4)
    assert press(page, "next")["state"]["n"] == next(n)
    seed = page.run("document.querySelector('[name=seed]').value")
    for died, (end, words) in enumerate(DEATHS.items()):
        page.fill("[name=seed]", end)
        assert_fails(page, words)
        line = page.run(LINE)
        assert "Python stopped" in line and "is kept" in line
        assert page.run("window.ended") == died + 1  # the worker that died, which may still be at it
        page.fill("[name=seed]", seed)
        assert press(page, "next")["state"]["n"] == next(n)


def test_an_answer_without_its_place_is_not_lost_in_silence(new_tab: Open, fault: Fault) -> None:
    page = fault.open(new_tab)
    assert press(page, "next")["state"]["n"] == 4
    page.run("((window.rows = document.querySelector('#rows')).id = 'gone', 0)")
    page.click(NEXT)
    page.wait(f'{STATE} === "failed"')
    assert "no place on this page any more (#rows). Reload" in page.run(LINE)
    page.run("(rows.id = 'rows', 0)")
    assert press(page, "next")["state"]["n"] == 5


def test_no_webassembly(new_tab: Open, engine: str, address: str) -> None:
    if engine == "webkit":
        pytest.skip("WebKitGTK has no switch for it")
    assert_fails(open_live(new_tab(wasm=False), address + "kv-cache.html"), "WebAssembly")


def test_from_a_file_it_says_how_to_go_on(new_tab: Open, site: Path) -> None:
    page = new_tab((site / "kv-cache.html").as_uri())
    page.run(UNFOLD)
    assert_fails(page, "build.py --serve")
