"""After one visit the page is there without a network, and so is Python if it has been used."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.browser.conftest import Open
from tests.browser.live import open_live, press
from tests.browser.test_stepping import assert_steps_through
from tools.server import serving

KEPT = (
    """caches.open("site").then((store) => store.keys()).then((keys) => keys.map(({ url }) => new URL(url).pathname))"""
)


@pytest.mark.parametrize("used", [False, True], ids=["steps", "python"])
def test_a_page_that_was_visited_once_works_without_a_network(
    new_tab: Open, engine: str, site: Path, used: bool
) -> None:
    if engine == "webkit":
        pytest.skip("WebKitGTK's automation has no service workers")
    page = new_tab()
    with serving(site) as url:
        open_live(page, url + "kv-cache.html")
        page.wait("navigator.serviceWorker.controller !== null")
        if used:
            press(page, "next")
        wanted = {"/kv-cache.html", "/style.css", "/boot.js", "/host.js"}
        page.wait(f"{KEPT}.then((kept) => {sorted(wanted)}.every((path) => kept.includes(path)))")
    open_live(page, url + "kv-cache.html?step=2")
    assert page.run("document.querySelector('[name=step]:checked').value") == "2"
    assert_steps_through(page)
    if used:
        assert press(page, "next")["state"]["n"] == 4


def test_what_is_there_anew_replaces_what_was_kept(new_tab: Open, engine: str, site: Path, tmp_path: Path) -> None:
    if engine == "webkit":
        pytest.skip("WebKitGTK's automation has no service workers")
    for name in ("kv-cache.html", "style.css", "boot.js", "host.js", "offline.js", "icon.svg"):
        (tmp_path / name).write_bytes((site / name).read_bytes())
    page = new_tab()
    with serving(tmp_path) as url:
        page.open(url + "kv-cache.html")
        page.wait("navigator.serviceWorker.controller !== null")
        text = (tmp_path / "kv-cache.html").read_text("utf-8")
        (tmp_path / "kv-cache.html").write_text(text.replace("<h1>", "<h1>New: "), "utf-8")
        os.utime(tmp_path / "kv-cache.html", (2e9, 2e9))  # the server tells versions apart by the second
        page.open(url + "kv-cache.html")
        assert page.run("document.querySelector('h1').textContent").startswith("New: ")
