"""Python failing to load leaves a working page and one clear line, in every engine, and never a hang."""

import json
import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.browser.conftest import Open
from tests.browser.live import LINE, STATE, open_live, press
from tests.browser.reading import assert_steps_through
from tests.support.altered import altered
from tests.support.sampled import sampled
from tools.browsers import UNFOLD, Page
from tools.server import serving

ENGINES = pytest.mark.engines("networks, workers and policies fail in the engine's own way")
AGAIN = pytest.mark.thorough("the same fault of another file or kind")
WASM, FIRST, WORKER = "/runtime/pyodide.asm.wasm", "/runtime/first.wasm", "/runtime/worker.js"
MANIFEST, MORE = "/runtime/runtime.json", "/runtime/more.wasm"
PORTAL = b"<!doctype html><title>Log in</title>"
BOOT = (Path(__file__).resolve().parents[3] / "site" / "boot.js").read_text("utf-8")


class Fault:
    """Answers in place of the server while it is on. `kind` says how; `times`, how often, if not for ever.

    `boot` are changes of the bridge, old -> new: what a browser lacks, or less patience.
    """

    def __init__(self, site: Path) -> None:
        self.site, self.kind, self.path, self.times = site, "", "", -1
        self.boot: dict[str, str] = {}

    def __call__(self, path: str) -> tuple[int, dict[str, str], Iterator[bytes]] | None:
        if path == "/boot.js" and self.boot:
            text = BOOT
            for old, new in self.boot.items():
                assert old in text, old
                text = text.replace(old, new)
            return 200, {"Content-Type": "text/javascript"}, iter([text.encode()])
        if re.sub(r"^/runtime-\w+/", "/runtime/", path) != self.path or not self.kind or not self.times:
            return None
        self.times -= 1
        data = (self.site / path.lstrip("/")).read_bytes()
        length = {"Content-Length": str(len(data))}
        if self.kind == "missing":
            return 404, {"Content-Length": "0"}, iter([])
        if self.kind == "error":
            return 503, {"Content-Length": "0"}, iter([])
        if self.kind == "empty":
            return 200, {"Content-Length": "0"}, iter([])
        if self.kind == "truncated":
            return 200, {"Content-Length": str(len(data) // 2)}, iter([data[: len(data) // 2]])
        if self.kind == "cut off":
            return 200, length, iter([data[: len(data) // 2]])
        if self.kind == "wrong type":
            return 200, length | {"Content-Type": "text/plain"}, iter([data])
        if self.kind == "slow":
            return 200, length, slowly(data)
        if self.kind == "hangs":
            return 200, length, hanging(b"")
        if self.kind == "late":
            return 200, length, late(data)
        if self.kind == "stalls":
            return 200, length, hanging(data[:1000])
        if self.kind == "damaged":
            middle = len(data) // 2
            return 200, length, iter([data[:middle], bytes([data[middle] ^ 1]), data[middle + 1 :]])
        if self.kind == "as long":
            other = data.replace(b"/* The worker", b"/* One worker")
            assert other != data
            return 200, length, iter([other])
        if self.kind == "a login page":
            lasting = {"Cache-Control": "max-age=600"}  # the browser would keep it
            return 200, lasting | {"Content-Type": "text/html", "Content-Length": str(len(PORTAL))}, iter([PORTAL])
        raise AssertionError(self.kind)


def late(data: bytes) -> Iterator[bytes]:
    time.sleep(3)
    yield data


def hanging(data: bytes) -> Iterator[bytes]:
    yield data
    time.sleep(8)


def slowly(data: bytes) -> Iterator[bytes]:
    size = len(data) // 10
    for at in range(0, len(data), size):
        time.sleep(0.1)
        yield data[at : at + size]


@pytest.fixture
def faulty(site: Path) -> Iterator[tuple[str, Fault]]:
    fault = Fault(site)
    with serving(site, fault) as url:
        yield url, fault


def assert_says(page: Page, *words: str) -> None:
    page.wait(f'{STATE} === "failed"', seconds=40)
    line = page.run(LINE)
    assert any(word in line for word in words), line
    assert "keeps working" in line
    assert_steps_through(page.run)


def needing(path: str) -> str:
    """A page whose first step needs that file: the second archive in Spanish alone."""
    return "es/kv-cache.html" if path == MORE else "kv-cache.html"


@pytest.mark.parametrize(
    ("path", "kind", "words"),
    [
        (WASM, "missing", ("no longer has pyodide.asm.wasm", "Reload")),
        pytest.param(WASM, "truncated", ("damaged",), marks=AGAIN),
        pytest.param(
            WASM, "cut off", ("could not be fetched", "damaged"), marks=ENGINES
        ),  # WebKit takes a short body for a whole one
        pytest.param(WASM, "damaged", ("damaged",), marks=ENGINES),
        pytest.param(WASM, "error", ("error 503",), marks=AGAIN),
        pytest.param(FIRST, "damaged", ("damaged",), marks=AGAIN),
        (FIRST, "a login page", ("web page came in place of first.wasm",)),
        (MANIFEST, "missing", ("Reload the page",)),
        (MANIFEST, "a login page", ("web page came in place of runtime.json",)),
        pytest.param(MANIFEST, "damaged", ("damaged",), marks=AGAIN),
        pytest.param(MANIFEST, "empty", ("damaged",), marks=AGAIN),
        (WORKER, "missing", ("no longer has worker.js",)),
        pytest.param(WORKER, "damaged", ("damaged",), marks=AGAIN),
        pytest.param(WORKER, "truncated", ("damaged",), marks=AGAIN),
        pytest.param(WORKER, "empty", ("damaged",), marks=AGAIN),
        (WORKER, "a login page", ("web page came in place of worker.js",)),
    ],
)
def test_a_fault_is_said_and_a_second_try_heals(
    new_tab: Open, faulty: tuple[str, Fault], path: str, kind: str, words: tuple[str, ...]
) -> None:
    url, fault = faulty
    fault.path, fault.kind = path, kind
    page = open_live(new_tab(), url + "kv-cache.html")
    page.click('button[data-hook="next"]')
    assert_says(page, *words)
    if (path, kind) in ((WASM, "damaged"), (WORKER, "a login page"), (MANIFEST, "a login page")):
        fault.kind = ""
        assert press(page, "next")["state"]["n"] == 4


def test_a_first_step_does_not_wait_for_the_rest(new_tab: Open, faulty: tuple[str, Fault]) -> None:
    url, fault = faulty
    fault.path, fault.kind = MORE, "missing"
    page = open_live(new_tab(), url + "kv-cache.html")
    assert press(page, "next")["state"]["n"] == 4
    assert press(page, "next")["state"]["n"] == 5


def test_what_needs_the_rest_says_why_it_does_not_come(new_tab: Open, faulty: tuple[str, Fault]) -> None:
    url, fault = faulty
    fault.path, fault.kind = MORE, "missing"
    page = open_live(new_tab(), url + needing(MORE))
    page.click('button[data-hook="next"]')
    page.wait(f'{STATE} === "failed"', seconds=40)
    assert "more.wasm" in page.run(LINE)
    fault.kind = ""
    assert press(page, "next")["state"]["n"] == 4


ONCE = [(MANIFEST, "a login page"), (WASM, "missing")]
OTHERS = [(path, kind) for path in (MANIFEST, WORKER, WASM, MORE) for kind in ("a login page", "truncated", "missing")]


@pytest.mark.parametrize(
    ("path", "kind"), [*ONCE, *[pytest.param(*one, marks=AGAIN) for one in OTHERS if one not in ONCE]]
)
def test_what_was_wrong_once_is_asked_for_again_by_itself(
    new_tab: Open, faulty: tuple[str, Fault], path: str, kind: str
) -> None:
    url, fault = faulty
    fault.path, fault.kind, fault.times = path, kind, 1
    page = open_live(new_tab(), url + needing(path))
    assert press(page, "next")["state"]["n"] == 4


@pytest.mark.parametrize(("path", "kind"), [(WORKER, "hangs"), (WASM, "stalls"), (MANIFEST, "hangs")])
def test_a_line_that_goes_silent_is_given_up(new_tab: Open, faulty: tuple[str, Fault], path: str, kind: str) -> None:
    url, fault = faulty
    fault.path, fault.kind, fault.boot = path, kind, {"IDLE = 15": "IDLE = 1"}
    page = open_live(new_tab(), url + "kv-cache.html")
    page.click('button[data-hook="next"]')
    assert_says(page, f"nothing more of {path.rpartition('/')[2]}")


def names(site: Path) -> list[str]:
    (folder,) = site.glob("runtime-*")
    return sorted(path.name for path in folder.iterdir())


def test_no_file_with_a_flipped_bit_runs(new_tab: Open, faulty: tuple[str, Fault]) -> None:
    url, fault = faulty
    page = new_tab()
    for name in names(fault.site):
        fault.path, fault.kind = f"/runtime/{name}", "damaged"
        open_live(page, url + needing(fault.path))
        page.click('button[data-hook="next"]')
        page.wait(f'{STATE} === "failed"')
        assert f"{name} llegó dañado" in page.run(LINE) or f"{name} arrived damaged" in page.run(LINE)
    fault.kind = ""
    assert press(page, "next")["state"]["n"] == 4


PLAIN = {"!self.crypto?.subtle": "true"}  # browsers withhold it on plain http


@pytest.mark.parametrize(
    ("path", "kind"),
    [(MANIFEST, "truncated"), (WORKER, "a login page"), (WASM, "truncated"), (FIRST, "a login page")],
)
def test_on_plain_http_no_file_of_another_length_runs(
    new_tab: Open, faulty: tuple[str, Fault], path: str, kind: str
) -> None:
    url, fault = faulty
    fault.path, fault.kind, fault.boot = path, kind, PLAIN
    page = open_live(new_tab(), url + "kv-cache.html")
    page.click('button[data-hook="next"]')
    name = path.rpartition("/")[2]
    assert_says(page, f"web page came in place of {name}" if kind == "a login page" else f"{name} arrived damaged")
    fault.kind = ""
    assert press(page, "next")["state"]["n"] == 4


@pytest.mark.parametrize("plain", [False, True])
def test_on_plain_http_alone_another_file_that_is_as_long_is_let_through(
    new_tab: Open, faulty: tuple[str, Fault], plain: bool
) -> None:
    """There a hash would protect from nothing: who can change one file can change the page."""
    url, fault = faulty
    fault.path, fault.kind, fault.boot = WORKER, "as long", PLAIN if plain else {}
    page = open_live(new_tab(), url + "kv-cache.html")
    if plain:
        assert press(page, "next")["state"]["n"] == 4
    else:
        page.click('button[data-hook="next"]')
        assert_says(page, "worker.js arrived damaged")


def test_a_page_that_is_older_than_its_site_says_so(new_tab: Open, site: Path, tmp_path: Path) -> None:
    renewed = altered(site, tmp_path / "renewed", lambda worker: worker + "// newer\n")
    with serving(site) as url:
        port = int(url.rpartition(":")[2].strip("/"))
        page = open_live(new_tab(), url + "kv-cache.html")
    with serving(renewed, port=port):
        page.click('button[data-hook="next"]')
        assert_says(page, "renewed since this page was opened. Reload the page")
        open_live(page, url + "kv-cache.html")
        assert press(page, "next")["state"]["n"] == 4


@pytest.mark.parametrize(
    "directive",
    [
        pytest.param("worker-src 'none'", marks=ENGINES),
        pytest.param("connect-src 'none'", marks=ENGINES),
        "script-src 'self'",
        "child-src 'none'; worker-src 'self'",
    ],
)
def test_a_host_s_policy_that_forbids_python_is_named(new_tab: Open, engine: str, site: Path, directive: str) -> None:
    def strict(path: str) -> tuple[int, dict[str, str], Iterator[bytes]] | None:
        if path != "/kv-cache.html":
            return None
        data = (site / "kv-cache.html").read_bytes()
        headers = {"Content-Type": "text/html", "Content-Length": str(len(data)), "Content-Security-Policy": directive}
        return 200, headers, iter([data])

    with serving(site, strict) as url:
        page = open_live(new_tab(), url + "kv-cache.html")
        page.click('button[data-hook="next"]')
        named = re.findall(r"(?:worker|connect|script)-src", directive)[0]
        assert_says(page, f"forbids {named}", "forbids worker-src blob", "WebAssembly")  # engines check in their order


@ENGINES
def test_a_frame_without_an_origin_at_a_server_that_lets_none_read(new_tab: Open, engine: str, site: Path) -> None:
    """The sandbox comes with the page itself, so the whole tab has no origin, in every engine."""

    def closed(path: str) -> tuple[int, dict[str, str], Iterator[bytes]] | None:
        data = (site / path.lstrip("/")).read_bytes()
        headers = {"Content-Length": str(len(data)), "Content-Security-Policy": "sandbox allow-scripts"}
        return (200, headers | {"Content-Type": "text/html"}, iter([data])) if path.endswith(".html") else None

    with serving(site, closed, readable=False) as url:
        page = open_live(new_tab(), url + "embed/kv-cache.html")
        page.click('button[data-hook="next"]')
        page.wait(f'{STATE} === "failed"', seconds=40)
        line = page.run(LINE)
    assert "a frame without an origin" in line or (engine == "webkit" and "forbids connect-src" in line), line


@pytest.mark.parametrize("path", [WASM, WORKER])
def test_a_wrong_type_does_not_matter(new_tab: Open, faulty: tuple[str, Fault], path: str) -> None:
    url, fault = faulty
    fault.path, fault.kind = path, "wrong type"
    page = open_live(new_tab(), url + "kv-cache.html")
    assert press(page, "next")["state"]["n"] == 4


def test_a_worker_that_comes_late_does_not_become_a_second_one(new_tab: Open, faulty: tuple[str, Fault]) -> None:
    url, fault = faulty
    fault.path, fault.kind, fault.boot = WORKER, "late", {"IDLE = 15": "IDLE = 1"}
    page = open_live(new_tab(), url + "kv-cache.html")
    page.run(
        """(() => { window.started = 0; const own = Worker;
        window.Worker = class extends own {
          postMessage(...sent) { started += "module" in sent[0]; super.postMessage(...sent); }
        }; return 0; })()"""
    )
    page.click('button[data-hook="next"]')
    assert_says(page, "nothing more of worker.js")
    fault.kind = ""
    assert press(page, "next")["state"]["n"] == 4
    page.pause(3)
    assert page.run("started") == 1


@pytest.mark.parametrize("quick", [False, True])
def test_megabytes_are_counted_while_it_loads(new_tab: Open, faulty: tuple[str, Fault], quick: bool) -> None:
    url, fault = faulty
    fault.path, fault.kind = WASM, "slow"
    if quick:  # all is there before it is first said how far it is
        fault.boot = {"setInterval(say, 100)": "setInterval(say, 60000)"}
    page = open_live(new_tab(), url + "kv-cache.html")
    page.run(
        """(() => { window.said = []; const line = document.querySelector("[data-boot]");
        new MutationObserver(() => said.push(line.textContent)).observe(line, { childList: true }); return 0; })()"""
    )
    press(page, "next")
    counted = [found.groups() for line in page.run("said") if (found := re.search(r"([\d.]+) of ([\d.]+) MB", line))]
    done = [float(part) for part, _ in counted]
    assert done == sorted(done) and (len(done) == 1 if quick else len(done) > 5 and done[0] < done[-1])
    (runtime,) = Path(fault.site).glob("runtime-*/runtime.json")
    files = json.loads(runtime.read_text())["files"]
    size = sum(file["size"] for name, file in files.items() if name != "more.wasm")
    assert {float(total) for _, total in counted} == {done[-1]} == {round(size / 1e6, 1)}


def test_too_little_memory_is_said(new_tab: Open, site: Path, tmp_path: Path) -> None:
    start = "const pyodide ="
    lines = 'throw new RangeError("WebAssembly.Memory(): could not allocate memory"); '
    with serving(altered(site, tmp_path / "small", lambda text: text.replace(start, lines + start))) as url:
        page = open_live(new_tab(), url + "kv-cache.html")
        page.click('button[data-hook="next"]')
        assert_says(page, "too little memory")


def test_what_the_browser_cannot_compile_is_said(new_tab: Open, site: Path, tmp_path: Path) -> None:
    """The file is the right one, so it is not fetched again, and the browser's own reason is told."""
    call = "WebAssembly.compile(await file(name))"
    error = 'Promise.reject(new RangeError("WebAssembly.compile(): Out of memory"))'
    asked: list[str] = []
    with serving(altered(site, tmp_path / "small", lambda text: text.replace(call, error)), seen=asked) as url:
        page = open_live(new_tab(), url + "kv-cache.html")
        page.click('button[data-hook="next"]')
        assert_says(page, "too little memory")
    assert len([path for path in asked if path.endswith("pyodide.asm.wasm")]) == 1


# what Python may do when a reader asks for seed 66: the worker does it in its place
DEATHS = {
    "an error": ('throw new Error("Traceback:\\nboom")', "ended with an error (boom)"),
    "no memory": ('throw new Error("MemoryError")', "too little memory"),
    "no end": ("for (;;);", "no answer for 2 seconds"),
    "an error of the worker": ('setTimeout(() => { throw new Error("boom") }); await new Promise(() => 0)', "boom"),
}


ENDED = """(() => { window.ended = 0; const terminate = Worker.prototype.terminate;
  Worker.prototype.terminate = function () { ended++; terminate.call(this); }; return 0; })()"""


@pytest.mark.parametrize("death", sampled(DEATHS, {"an error", "no end"}, "other ends of the same kind"))
def test_python_that_died_says_so_and_goes_on_from_the_same_state(
    new_tab: Open, site: Path, tmp_path: Path, death: str
) -> None:
    code, words = DEATHS[death]
    receive = "postMessage({ answer: await receive("
    dies = f"if (!data.message) return; if (JSON.parse(data.message).fields.seed === '66') {{ {code} }}"

    def change(text: str) -> str:
        return text.replace("data.message && " + receive, "{ " + dies + receive).replace(
            "data.files) }))", "data.files) }) })", 1
        )

    def quick(path: str) -> tuple[int, dict[str, str], Iterator[bytes]] | None:
        text = BOOT.replace("STEP = 20", "STEP = 2").encode()
        return (200, {"Content-Type": "text/javascript"}, iter([text])) if path == "/boot.js" else None

    with serving(altered(site, tmp_path / "mortal", change), quick) as url:
        page = open_live(new_tab(), url + "kv-cache.html")
        assert press(page, "next")["state"]["n"] == 4
        seed = page.run("document.querySelector('[name=seed]').value")
        page.fill("[name=seed]", "66")
        page.run(ENDED)
        page.click('button[data-hook="next"]')
        page.wait(f'{STATE} === "failed"', seconds=40)
        line = page.run(LINE)
        assert words in line and "Python stopped" in line and "is kept" in line
        assert page.run("window.ended") == 1  # the worker that died, which may still be at it
        page.fill("[name=seed]", seed)
        assert press(page, "next")["state"]["n"] == 5


def test_an_answer_without_its_place_is_not_lost_in_silence(new_tab: Open, address: str) -> None:
    page = open_live(new_tab(), address + "kv-cache.html")
    assert press(page, "next")["state"]["n"] == 4
    page.run("((window.rows = document.querySelector('#rows')).id = 'gone', 0)")
    page.click('button[data-hook="next"]')
    page.wait(f'{STATE} === "failed"')
    assert "no place on this page any more (#rows). Reload" in page.run(LINE)
    page.run("(rows.id = 'rows', 0)")
    assert press(page, "next")["state"]["n"] == 5


def test_offline_after_the_page_has_come(new_tab: Open, site: Path) -> None:
    with serving(site) as url:
        page = open_live(new_tab(), url + "kv-cache.html")
    page.click('button[data-hook="next"]')
    assert_says(page, "fetched")


@ENGINES
def test_no_webassembly(new_tab: Open, engine: str, address: str) -> None:
    if engine == "webkit":
        pytest.skip("WebKitGTK has no switch for it")
    page = open_live(new_tab(wasm=False), address + "kv-cache.html")
    page.click('button[data-hook="next"]')
    assert_says(page, "WebAssembly")


def test_from_a_file_it_says_how_to_go_on(new_tab: Open, site: Path) -> None:
    page = new_tab()
    page.open((site / "kv-cache.html").as_uri())
    page.run(UNFOLD)
    page.click('button[data-hook="next"]')
    assert_says(page, "build.py --serve")
