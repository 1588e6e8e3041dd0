"""Python failing to load leaves a working page and one clear line, in every engine, and never a hang."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.browser.conftest import Open
from tests.browser.engines import Page
from tests.browser.live import LINE, STATE, open_live, press
from tests.browser.test_stepping import assert_steps_through
from tools.server import serving

WASM, STDLIB = "/runtime/pyodide.asm.wasm", "/runtime/python_stdlib.zip"


class Fault:
    """Answers in place of the server while it is on. `kind` says how."""

    def __init__(self, site: Path) -> None:
        self.site, self.kind, self.path = site, "", ""

    def __call__(self, path: str) -> tuple[int, dict[str, str], Iterator[bytes]] | None:
        if re.sub(r"^/runtime-\w+/", "/runtime/", path) != self.path or not self.kind:
            return None
        data = (self.site / path.lstrip("/")).read_bytes()
        length = {"Content-Length": str(len(data))}
        if self.kind == "missing":
            return 404, {"Content-Length": "0"}, iter([])
        if self.kind == "truncated":
            return 200, {"Content-Length": str(len(data) // 2)}, iter([data[: len(data) // 2]])
        if self.kind == "cut off":
            return 200, length, iter([data[: len(data) // 2]])
        if self.kind == "wrong type":
            return 200, length | {"Content-Type": "text/plain"}, iter([data])
        if self.kind == "slow":
            return 200, length, slowly(data)
        if self.kind == "damaged":
            middle = len(data) // 2
            return 200, length, iter([data[:middle], bytes([data[middle] ^ 1]), data[middle + 1 :]])
        if self.kind == "a login page":
            return 200, {"Content-Type": "text/html", "Content-Length": "6"}, iter([b"<html>"])
        raise AssertionError(self.kind)


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
    assert_steps_through(page)


@pytest.mark.parametrize(
    ("path", "kind", "words"),
    [
        (WASM, "missing", ("fetched",)),
        (WASM, "truncated", ("damaged",)),
        (WASM, "cut off", ("fetched", "damaged")),  # WebKit takes a short body for a whole one
        (WASM, "damaged", ("damaged",)),
        (STDLIB, "damaged", ("damaged",)),
        (STDLIB, "a login page", ("damaged",)),
        ("/runtime/pyodide.asm.js", "missing", ("fetched",)),
        ("/runtime/runtime.json", "missing", ("fetched",)),
        ("/runtime/runtime.json", "a login page", ("error", "fetched")),
        ("/worker.js", "missing", ("fetched",)),
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
    if (path, kind) in ((WASM, "damaged"), ("/worker.js", "missing")):
        fault.kind = ""
        assert press(page, "next")["state"]["n"] == 4


def test_a_wrong_type_does_not_matter(new_tab: Open, faulty: tuple[str, Fault]) -> None:
    url, fault = faulty
    fault.path, fault.kind = WASM, "wrong type"
    page = open_live(new_tab(), url + "kv-cache.html")
    assert press(page, "next")["state"]["n"] == 4


def test_megabytes_are_counted_while_it_loads(new_tab: Open, faulty: tuple[str, Fault]) -> None:
    url, fault = faulty
    fault.path, fault.kind = WASM, "slow"
    page = open_live(new_tab(), url + "kv-cache.html")
    page.run(
        """(() => { window.said = []; const line = document.querySelector("[data-boot]");
        new MutationObserver(() => said.push(line.textContent)).observe(line, { childList: true }); return 0; })()"""
    )
    press(page, "next")
    counted = [found.groups() for line in page.run("said") if (found := re.search(r"([\d.]+) of ([\d.]+) MB", line))]
    done = [float(part) for part, _ in counted]
    assert len(done) > 5 and done == sorted(done) and done[0] < done[-1]
    (runtime,) = Path(fault.site).glob("runtime-*/runtime.json")
    size = sum(file["size"] for file in json.loads(runtime.read_text())["files"].values())
    assert {float(total) for _, total in counted} == {done[-1]} == {round(size / 1e6, 1)}


def test_offline_after_the_page_has_come(new_tab: Open, site: Path) -> None:
    with serving(site) as url:
        page = open_live(new_tab(), url + "kv-cache.html")
    page.click('button[data-hook="next"]')
    assert_says(page, "fetched")


def test_no_webassembly(new_tab: Open, engine: str, address: str) -> None:
    if engine == "webkit":
        pytest.skip("WebKitGTK has no switch for it")
    page = open_live(new_tab(wasm=False), address + "kv-cache.html")
    page.click('button[data-hook="next"]')
    assert_says(page, "WebAssembly")


def test_from_a_file_it_says_how_to_go_on(new_tab: Open, site: Path) -> None:
    page = new_tab()
    page.open((site / "kv-cache.html").as_uri())
    page.click('button[data-hook="next"]')
    assert_says(page, "build.py --serve")


def test_live_in_a_frame_of_opaque_origin(new_tab: Open, engine: str, address: str, tmp_path: Path) -> None:
    """sandbox="allow-scripts": no origin, no storage; Python still runs, since the server lets any origin read."""
    if engine == "webkit":
        pytest.skip("WebKit's driver does not enter a frame of opaque origin")
    frame = f'<iframe sandbox="allow-scripts" width="1300" height="900" src="{address}kv-cache.html"></iframe>'
    (tmp_path / "host.html").write_text(f"<!doctype html><title>host</title>{frame}")
    with serving(tmp_path) as host:
        page = new_tab()
        page.open(host + "host.html")
        inner = next(f for f in page.tab.frames if f.url.startswith(address))  # type: ignore[attr-defined]
        inner.wait_for_load_state()
        inner.locator('button[data-hook="next"]').click()
        inner.locator('[data-boot][data-state="ready"]').wait_for(timeout=60000)
        assert inner.locator("#rows .row").count() == 4
