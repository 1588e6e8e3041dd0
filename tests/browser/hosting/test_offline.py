"""After one visit the page is there without a network, and so is Python if it has been used. With a network the service
worker is in nobody's way: what it cannot do is as if it was not there."""

import os
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event

import pytest

from tests.browser.conftest import Open
from tests.browser.live import LINE, open_live, press
from tests.browser.reading import assert_steps_through
from tests.support.sampled import sampled
from tools.browsers import Page
from tools.server import Answer, serving

KEPT = """caches.keys()
  .then((names) => Promise.all(names.map((name) => caches.open(name).then((store) => store.keys()))))
  .then((stores) => stores.flat().map(({ url }) => url.slice(location.origin.length)).sort())"""
MARK = '<meta name="generator" content="microgpt-kv">'  # by which a page of ours is known
PAGE = f'<!doctype html>{MARK}<title>{{0}}</title><h1>{{0}}</h1><main></main><script src="host.js"></script>'
TITLE = "document.querySelector('h1').textContent"


class Line:
    """Between reader and host: passes on everything but the paths that `instead` has another answer for."""

    def __init__(self) -> None:
        self.instead: dict[str, Callable[[], Answer | None]] = {}
        self.dead, self.alive = False, Event()

    def __call__(self, path: str) -> Answer | None:
        if self.dead:
            self.alive.wait(30)
        make = self.instead.get(path)
        return make() if make else None


def answer(status: int, text: str = "", **headers: str) -> Callable[[], Answer]:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda: (status, {"Content-Length": str(len(text)), **named}, iter([text.encode()]))


@pytest.fixture(autouse=True)
def _with_service_workers(engine: str) -> None:
    if engine == "webkit":
        pytest.skip("WebKitGTK's automation has no service workers")


@pytest.fixture
def small(site: Path, tmp_path: Path) -> Path:
    """A site of two pages and some texts, with the scripts of the real one."""
    for name in ("host.js", "offline.js"):
        (tmp_path / name).write_bytes((site / name).read_bytes())
    for name in ("one", "two", "index"):
        (tmp_path / f"{name}.html").write_text(PAGE.format(name))
    for name in ("text.txt", "other.txt", "program.js"):
        (tmp_path / name).write_text(f"all of {name}")
    return tmp_path


def controlled(page: Page, url: str) -> Page:
    page.open(url)
    page.wait("navigator.serviceWorker.controller !== null")
    return page


def fetched(page: Page, name: str, options: str = "{}") -> str:
    """What a fetch in the page gives: status and text, or "failed"."""
    given = "(answer) => answer.text().then((text) => `${answer.status} ${text}`)"
    return str(page.run(f"fetch('{name}', {options}).then({given}).catch(() => 'failed')"))


def named(page: Page, *names: str) -> None:
    """Say that these have come, as a page does of Python's files."""
    page.run(
        f"(navigator.serviceWorker.controller.postMessage({list(names)}.map((n) => new URL(n, location).href)), 0)"
    )


def wait_for(page: Page, *paths: str) -> None:
    page.wait(f"{KEPT}.then((kept) => {list(paths)}.every((path) => kept.includes(path)))")


def test_a_page_that_was_visited_once_works_without_a_network_and_python_if_it_was_used(
    new_tab: Open, stub: Path
) -> None:
    page, line = new_tab(), Line()
    hasty = (stub / "boot.js").read_text("utf-8").replace("CALM = 3", "CALM = 0.1")
    line.instead["/boot.js"] = answer(200, hasty, Content_Type="text/javascript")
    with serving(stub, line) as url:
        open_live(page, url + "kv-cache.html")
        page.wait("navigator.serviceWorker.controller !== null")
        wait_for(page, "/kv-cache.html", "/style.css", "/boot.js", "/host.js")
        press(page, "next")
        (folder,) = stub.glob("runtime-*")
        wait_for(page, *(f"/{folder.name}/{path.name}" for path in folder.iterdir()))
    open_live(page, url + "kv-cache.html?step=2")
    assert page.run("document.querySelector('[name=step]:checked').value") == "2"
    assert_steps_through(page.run)
    assert press(page, "next")["state"]["n"] == 4


def test_what_is_there_anew_replaces_what_was_kept(new_tab: Open, site: Path, tmp_path: Path) -> None:
    for name in ("kv-cache.html", "style.css", "boot.js", "host.js", "offline.js", "icon.svg"):
        (tmp_path / name).write_bytes((site / name).read_bytes())
    page = new_tab()
    with serving(tmp_path) as url:
        controlled(page, url + "kv-cache.html")
        text = (tmp_path / "kv-cache.html").read_text("utf-8")
        (tmp_path / "kv-cache.html").write_text(text.replace("<h1>", "<h1>New: "), "utf-8")
        os.utime(tmp_path / "kv-cache.html", (2e9, 2e9))  # the server tells versions apart by the second
        page.open(url + "kv-cache.html")
        assert page.run(TITLE).startswith("New: ")


def test_bytes_reach_the_page_while_the_rest_is_still_on_its_way(new_tab: Open, stub: Path) -> None:
    """Else a loader that waits for bytes gives up on a slow line."""
    line, rest = Line(), Event()
    (wasm,) = stub.glob("runtime-*/pyodide.asm.wasm")
    data, held = wasm.read_bytes(), 200_000

    def slowly() -> Answer:
        def parts() -> Iterator[bytes]:
            yield data[:-held]
            rest.wait(30)
            yield data[-held:]

        return 200, {"Content-Length": str(len(data)), "Content-Type": "application/wasm"}, parts()

    line.instead[f"/{wasm.relative_to(stub).as_posix()}"] = slowly
    with serving(stub, line) as url:
        page = open_live(new_tab(), url + "kv-cache.html")
        page.wait("navigator.serviceWorker.controller !== null")
        before = page.run("answers.length")
        page.click('button[data-hook="next"]')
        try:
            page.wait(f"/[\\d.]+ of [\\d.]+ MB/.test({LINE})", seconds=20)
            end, done, total = time.monotonic() + 10, 0.0, 99.0
            while time.monotonic() < end and not total - 0.4 < done < total:
                if found := re.search(r"([\d.]+) of ([\d.]+) MB", page.run(LINE)):
                    done, total = map(float, found.groups())
            assert total - 0.4 < done < total
        finally:
            rest.set()
        page.wait(f"answers.length > {before}")


BROKEN = {
    "denied": "caches.open = () => Promise.reject(new DOMException('no', 'SecurityError'));",
    "absent": "Object.defineProperty(self, 'caches', { get() { throw new DOMException('no', 'SecurityError'); } });",
    "full": "Cache.prototype.put = () => Promise.reject(new DOMException('no', 'QuotaExceededError'));",
    "lost": "Cache.prototype.match = () => Promise.reject(new DOMException('no', 'InvalidStateError'));",
    "stuck": "caches.open = () => new Promise(() => {});",
}


@pytest.mark.parametrize("how", sampled(BROKEN, {"full"}, "other ways to keep nothing"))
def test_without_storage_everything_comes_from_the_network(new_tab: Open, stub: Path, how: str) -> None:
    line = Line()
    code = BROKEN[how] + (stub / "offline.js").read_text("utf-8")
    line.instead["/offline.js"] = answer(200, code, Content_Type="text/javascript")
    with serving(stub, line) as url:
        page = controlled(new_tab(), url + "kv-cache-words.html")
        open_live(page, url + "kv-cache.html")
        assert page.run("navigator.serviceWorker.controller !== null")
        assert press(page, "next")["state"]["n"] == 4
    if how != "stuck":
        assert fetched(page, "host.js") == "failed"


def test_of_each_address_one_copy_is_kept(new_tab: Open, small: Path) -> None:
    page = new_tab()
    with serving(small) as url:
        controlled(page, url + "one.html?prompt=a")
        for prompt in "bc":
            page.open(f"{url}one.html?prompt={prompt}#there")
        page.open(url)
        page.open(url + "index.html")
        wait_for(page, "/one.html", "/", "/host.js")
        assert page.run(KEPT) == ["/", "/host.js", "/one.html"]
    page.open(url + "one.html?prompt=d")
    assert page.run(TITLE) == "one"
    page.open(url + "index.html")
    assert page.run(TITLE) == "index"


def test_when_python_comes_anew_the_older_one_is_dropped(new_tab: Open, small: Path) -> None:
    for folder in ("runtime-a1", "runtime-b2", "course/runtime-a1"):
        (small / folder).mkdir(parents=True)
        for name in ("runtime.json", "python.zip"):
            (small / folder / name).write_text(folder)
    (small / "runtime-notes.txt").write_text("of another kind")
    page = new_tab()
    with serving(small) as url:
        controlled(page, url + "one.html")
        old = ["runtime-a1/runtime.json", "runtime-a1/python.zip"]
        others = ["course/runtime-a1/runtime.json", "course/runtime-a1/python.zip", "runtime-notes.txt"]
        new = ["runtime-b2/python.zip", "runtime-b2/runtime.json"]
        for name in [*old, *others]:
            assert fetched(page, name).startswith("200")
        named(page, *old, *others)
        wait_for(page, *(f"/{name}" for name in [*old, *others]))
        for name in new:
            assert fetched(page, name) == "200 runtime-b2"
        assert page.run(f"{KEPT}.then((kept) => !kept.includes('/{new[0]}'))")  # no copy is made while it comes
        named(page, *new)
        page.wait(f"{KEPT}.then((kept) => !kept.includes('/{old[0]}') && !kept.includes('/{old[1]}'))")
        wait_for(page, "/one.html", "/host.js", *(f"/{name}" for name in [*others, *new]))
        assert fetched(page, old[0]) == "200 runtime-a1"  # a page of the older build that is still open


def test_a_silent_network_gives_way_to_what_is_kept(new_tab: Open, small: Path) -> None:
    line = Line()
    page = new_tab()
    with serving(small, line) as url:
        controlled(page, url + "one.html")
        page.open(url + "one.html")
        fetched(page, "text.txt")
        wait_for(page, "/one.html", "/host.js", "/text.txt")
        page.open("about:blank")
        line.dead = True
        try:
            page.open(url + "one.html")
            assert page.run(TITLE) == "one"
            page.run("(fetch('other.txt').then((r) => r.text()).then((text) => { window.late = text; }), 0)")
            soon = "new Promise((done) => setTimeout(done, 3500, 'too late'))"  # it was silent before: no 4 s again
            text = "fetch('text.txt').then((answer) => answer.text())"
            assert page.run(f"Promise.race([{text}, {soon}])") == "all of text.txt"
            assert page.run("window.late") is None  # nothing of it is kept: it is waited for
            (small / "text.txt").write_text("new" * 500_000)
        finally:
            line.alive.set()
        page.wait("window.late === 'all of other.txt'")
        copy = f"caches.match('{url}text.txt').then((kept) => kept.text())"
        page.wait(f"{copy}.then((text) => text === 'new'.repeat(500000))")  # what came in the end is kept


def test_what_fails_does_not_replace_what_is_kept(new_tab: Open, small: Path) -> None:
    line = Line()
    page = new_tab()
    with serving(small, line) as url, serving(small) as elsewhere:
        controlled(page, url + "one.html")
        page.open(url)
        assert fetched(page, "program.js") == "200 all of program.js"
        wait_for(page, "/program.js", "/one.html", "/")
        for status in (500, 503, 511):
            line.instead["/program.js"] = answer(status, "sorry", Content_Type="text/html")
            assert fetched(page, "program.js") == "200 all of program.js"
        line.instead["/program.js"] = answer(200, "<html>log in", Content_Type="text/html; charset=utf-8")
        assert fetched(page, "program.js") == "200 all of program.js"
        for name in ("", "one.html"):  # a page of somebody else's, in place of ours: it is seen, and not kept
            line.instead[f"/{name}"] = answer(200, "<h1>log in</h1>", Content_Type="text/html")
            page.open(url + name)
            assert page.run(TITLE) == "log in"
        page.open(url + "two.html")
        line.instead["/program.js"] = answer(302, Location=f"{elsewhere}text.txt")
        assert fetched(page, "program.js", "{ mode: 'no-cors' }") == "200 all of program.js"
        line.instead["/program.js"] = answer(404, "gone", Content_Type="text/html")
        assert fetched(page, "program.js") == "404 gone"
        line.instead["/program.js"] = lambda: (200, {"Content-Length": "1000"}, iter([b"the first half"]))
        assert fetched(page, "program.js") == "failed"
        line.instead["/program.js"] = answer(302, Location="/text.txt")
        assert fetched(page, "program.js") == "200 all of text.txt"
    assert fetched(page, "program.js") == "200 all of program.js"
    for name in ("", "one.html"):
        assert MARK in fetched(page, name)


def test_what_is_not_a_whole_answer_is_handed_on_and_not_kept(new_tab: Open, small: Path) -> None:
    line = Line()
    for name in ("login", "cut", "part", "error", "star", "secret"):
        (small / f"{name}.txt").write_text(name)
    (small / "moved.html").write_text("")
    line.instead = {
        "/login.txt": answer(200, "log in", Content_Type="text/html"),
        "/clean": answer(200, "log in", Content_Type="text/html"),  # as hosts that leave .html out name a page
        "/cut.txt": lambda: (200, {"Content-Length": "1000"}, iter([b"the first half"])),
        "/part.txt": answer(206, "pa", Content_Range="bytes 0-1/4"),
        "/error.txt": answer(500, "sorry"),
        "/star.txt": answer(200, "star", Vary="*"),
        "/secret.txt": answer(200, "secret", Cache_Control="private, no-store"),
        "/moved.html": answer(302, Location="/two.html"),
    }
    page = new_tab()
    with serving(small, line) as url, serving(small) as elsewhere:
        controlled(page, url + "one.html")
        assert fetched(page, "login.txt") == fetched(page, "clean") == "200 log in"
        assert fetched(page, "cut.txt") == "failed"
        assert fetched(page, "part.txt", "{ headers: { Range: 'bytes=0-1' } }") == "206 pa"
        assert fetched(page, "error.txt") == "500 sorry"
        assert fetched(page, "star.txt") == "200 star"
        assert fetched(page, "secret.txt") == "200 secret"
        assert fetched(page, "moved.html").startswith("200 <!doctype")
        assert fetched(page, elsewhere + "text.txt") == "200 all of text.txt"
        assert page.run(f"fetch('{elsewhere}text.txt', {{ mode: 'no-cors' }}).then((given) => given.type)") == "opaque"
        assert fetched(page, "text.txt", "{ method: 'HEAD' }") == "200 "
        assert fetched(page, "text.txt", "{ method: 'POST' }").startswith("501")
        page.open(url + "moved.html")
        assert page.run(TITLE) == "two"
        page.open(url + "moved.html?again")
        assert page.run(f"location.pathname + {TITLE}") == "/two.htmltwo"
        wait_for(page, "/one.html", "/two.html", "/host.js")
        assert page.run(KEPT) == ["/host.js", "/one.html", "/two.html"]


def test_each_address_that_a_page_names_is_kept_by_itself(new_tab: Open, small: Path) -> None:
    seen: list[str] = []
    foreign: list[str] = []
    page = new_tab()
    with serving(small, seen=seen) as url, serving(small, seen=foreign) as elsewhere:
        controlled(page, url + "one.html")
        fetched(page, "text.txt")
        wait_for(page, "/text.txt", "/one.html", "/host.js")
        named = [f"{url}missing.txt", f"{elsewhere}program.js", f"{url}text.txt", "data:,", f"{url}other.txt?v=1#x"]
        page.run(f"(navigator.serviceWorker.controller.postMessage({named}), 0)")
        wait_for(page, "/other.txt")
        assert page.run(KEPT) == ["/host.js", "/one.html", "/other.txt", "/text.txt"]
        assert seen.count("/text.txt") == 1  # it is there
    assert not foreign


def test_what_comes_late_in_the_first_visit_is_kept_too(new_tab: Open, small: Path) -> None:
    """A picture that is still on its way when the service worker is there."""
    seen: list[str] = []
    (small / "first.html").write_text(PAGE.format("first") + '<img src="late.svg" alt="">')
    (small / "late.svg").write_text('<svg xmlns="http://www.w3.org/2000/svg"/>')

    def late() -> None:  # until the page has been asked for once more, which is how it is kept
        end = time.monotonic() + 2
        while seen.count("/first.html") < 2 and time.monotonic() < end:
            time.sleep(0.02)

    line = Line()
    line.instead["/late.svg"] = late
    with serving(small, line, seen) as url:
        page = controlled(new_tab(), url + "first.html")
        wait_for(page, "/first.html")
        page.wait(f"{KEPT}.then((kept) => kept.includes('/late.svg'))", seconds=10)


@pytest.mark.thorough("five lines of a guide, which change when the guide does")
def test_the_guide_says_how_a_host_drops_what_is_kept(new_tab: Open, small: Path) -> None:
    guide = (Path(__file__).resolve().parents[3] / "docs" / "hosting.md").read_text("utf-8")
    code = "".join(re.findall(r"^    self\.oninstall.*\n(?:    .*\n)*", guide, re.M))
    page = new_tab()
    with serving(small) as url:
        controlled(page, url + "one.html")
        page.open(url + "two.html")
        wait_for(page, "/one.html", "/two.html", "/host.js")
        page.run("caches.open('of another site on this host').then(() => 0)")
        (small / "offline.js").write_text(code)
        os.utime(small / "offline.js", (2e9, 2e9))  # the server tells versions apart by the second
        page.open(url + "two.html")
        page.wait("navigator.serviceWorker.getRegistration().then((found) => !found)")
        assert page.run("caches.keys()") == ["of another site on this host"]
