"""The site as hosts serve it: in a folder of a plain server that knows neither our types nor other origins."""

import re
import shutil
import time
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

import build
from tests.browser.conftest import Open
from tests.browser.live import open_live, press
from tools.server import serving

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def plain(stub: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The stock server of Python, the site two folders deep."""
    folder = tmp_path_factory.mktemp("host")
    shutil.copytree(stub, folder / "courses" / "kv")
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(SimpleHTTPRequestHandler, directory=str(folder)))
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/courses/kv/"
    server.shutdown()
    server.server_close()


def test_it_runs_from_a_folder_of_a_plain_server(new_tab: Open, plain: str) -> None:
    page = open_live(new_tab(), f"{plain}es/embed/kv-cache.html")
    assert press(page, "next")["state"]["n"] == 4
    assert not page.errors


def test_a_first_step_asks_for_few_files(new_tab: Open, stub: Path) -> None:
    """Each once: the page and what is beside it, and of Python's files those that a first step needs, then the rest."""
    asked = list[str]()
    with serving(stub, lambda path: asked.append(path)) as url:
        page = open_live(new_tab(), url + "kv-cache.html")
        press(page, "next")
        end = time.monotonic() + 20
        while not any("more.wasm" in path for path in asked) and time.monotonic() < end:
            page.pause(0.1)
    names = [path.rpartition("/")[2] for path in asked]
    of_python = [name for name, path in zip(names, asked, strict=True) if "/runtime-" in path]
    assert of_python[0] == "runtime.json" and of_python[5] == "more.wasm"
    assert sorted(of_python[1:5]) == ["first.wasm", "numpy.wasm", "pyodide.asm.wasm", "worker.js"]
    others = [name for name, path in zip(names, asked, strict=True) if "/runtime-" not in path]
    assert {*others} <= {"kv-cache.html", "style.css", "boot.js", "host.js", "offline.js", "icon.svg"}, others
    assert all(names.count(name) <= 2 for name in names), names  # the service worker asks again, to keep them


def test_the_workflow_builds_with_options_that_exist(monkeypatch: pytest.MonkeyPatch) -> None:
    text = (ROOT / ".github" / "workflows" / "pages.yml").read_text("utf-8")
    command = re.search(r"run: python build\.py (.*)", text)
    assert command
    built: list[str] = []
    monkeypatch.setattr(build, "write_site", lambda out, address: built.append(address))
    monkeypatch.setattr(build, "build", lambda out, write: write(out))
    options = command[1].replace('"${{ steps.pages.outputs.base_url }}"', "https://someone.github.io/kv").split()
    assert build.main(options) == 0
    assert built == ["https://someone.github.io/kv/"]
