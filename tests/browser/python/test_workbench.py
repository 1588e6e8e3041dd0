"""The reader's program in the browser's Python: it is watched there too, and it reaches nobody."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Playwright

from tests.browser.live import open_live, press, turn
from tests.workbench.programs import after, at_first, line_of
from tools.browsers import ONE_COMPILER, Page, tab
from tools.server import serving

SHOWN = '[...document.querySelectorAll("#verdict, #findings")].map((one) => one.textContent).join(" ")'


@pytest.fixture(scope="module")
def page(playwright: Playwright, engine: str, running: dict[str, Any], address: str) -> Iterator[Page]:
    """The workbench under its own policy, its Python started once."""
    with tab(playwright, engine, running=running, flags=[ONE_COMPILER]) as opened:
        yield open_live(opened, address + "workbench.html")


def run_program(page: Page, text: str) -> str:
    """What the page says of it."""
    page.run(f'(document.querySelector("textarea[name=code]").value = {json.dumps(text)}, 0)')
    press(page, "run")
    return " ".join(str(page.run(SHOWN)).split())


@pytest.mark.thorough("takes its five seconds; the watch is Python's: tests/workbench/test_yours.py")
@pytest.mark.parametrize("lines", ["while True:\n    try: 1 + 1\n    except: 2 + 2", "while True: pass"])
def test_an_endless_loop_ends_with_its_line_and_python_lives_on(started: Page, lines: str) -> None:
    turn(started, "workbench.html")
    text = at_first(lines)
    said = run_program(started, text)
    assert "This ran for more than 5 seconds" in said
    line = int(re.findall(r"[Ll]ine (\d+)", said)[0])
    assert 0 <= line - line_of(text, "while True") <= 2
    said = run_program(started, at_first("np.zeros((10**7, 10**7))"))
    assert "not that much memory" in said
    assert "This ran for" not in run_program(started, after("x = 1"))


REACHING = """
import json
import js
tried = {{}}
def attempt(name, reach):
    try:
        tried[THERE + name] = str(reach())[:80]
    except BaseException as error:
        tried[THERE + name] = type(error).__name__
def ask(kind, *more):
    one = getattr(js, kind).new(*more)
    if kind == "XMLHttpRequest":
        one.open("GET", THERE + "xhr", False)
        one.send()
    return one
def read():
    import urllib.request
    return urllib.request.urlopen(THERE + "urllib", timeout=1).read()
def pyfetch():
    from pyodide.http import open_url
    return open_url(THERE + "open_url").read()
def run_js():
    from pyodide.code import run_js
    return run_js("1 + 1")
for THERE in {places}:
    for kind in ("XMLHttpRequest", "WebSocket", "EventSource", "Worker"):
        attempt(kind, lambda: ask(kind, *[THERE + kind] * (kind != "XMLHttpRequest")))
    attempt("fetch", lambda: js.fetch(THERE + "fetch"))
    attempt("importScripts", lambda: js.importScripts(THERE + "script"))
    attempt("urllib", read)
    attempt("open_url", pyfetch)
attempt("run_js", run_js)
attempt("Function", lambda: js.Function.new("return 1")())
for name in ("document", "window", "parent", "top", "caches", "indexedDB", "BroadcastChannel", "localStorage"):
    attempt(name, lambda: getattr(js, name))
attempt("storage", lambda: js.navigator.storage)
print("TRIED" + json.dumps(tried) + "TRIED")
"""


def test_a_program_reaches_nobody(page: Page, address: str, tmp_path: Path) -> None:
    """Neither another site, nor its own, nor the page, nor what the browser keeps."""
    seen: list[str] = []
    with serving(tmp_path, seen=seen) as there:
        before = len(page.requests)
        said = run_program(page, after(REACHING.format(places=(there, address))))
        tried = json.loads(said.split("TRIED")[1])
        assert len(tried) > 24 and set(tried.values()) <= {"AttributeError", "JsException", "URLError", "ImportError",
                                                           "OSError", "ModuleNotFoundError"}, tried  # fmt: skip
        asked = [url for url in page.requests[before:] if url.startswith((there, address))]
        assert not [url for url in asked if url.endswith(("xhr", "fetch", "script", "urllib", "open_url"))]
        assert "This ran for" not in run_program(page, after("x = 1"))  # which needs none of it
    assert seen == []


def test_what_a_program_prints_is_text(page: Page) -> None:
    said = run_program(page, after("print('<img src=x onerror=alert(1)><script>1</script>')"))
    assert "<script>" in said
    assert page.run('document.querySelectorAll(".result img, .result script").length') == 0


def test_a_message_of_its_own_puts_no_script_into_the_page(page: Page) -> None:
    """It can answer in Python's place, with HTML: the page then shows it, and the policy lets none of it run."""
    markup = "<p id=faked>x<img src=x onerror='window.ran = 1'><script>window.ran = 2</script></p>"
    answer = json.dumps({"state": None, "patches": [{"target": "#findings", "html": markup, "how": "inner"}]})
    text = after(f"import js\njs.postMessage(js.JSON.parse({json.dumps(json.dumps({'answer': answer}))}))")
    page.run(f'(document.querySelector("textarea[name=code]").value = {json.dumps(text)}, answers.length = 0, 0)')
    page.click('button[data-hook="run"]')
    page.wait('window.answers.some((text) => text.includes("faked"))')
    page.pause(0.3)  # for what must not be
    assert page.run("window.ran === undefined")
