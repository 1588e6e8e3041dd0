"""The editor, on a page made for it, with the policy, the style and the keys of all pages."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe

from microgpt.viz.rendering.policy import policy
from microgpt.viz.rendering.style import read_site, style
from tests.browser.conftest import Open
from tests.browser.hosts import WATCH
from tests.support.sampled import sampled
from tools.browsers import Page, PlaywrightPage
from tools.editor.script import EDITOR, editor_script
from tools.runtime.fetch import default_cache
from tools.runtime.npm import Unavailable
from tools.server import serving

TEXT = "def mix(weights, v):\n    return weights @ v\n"
TEXTS = {"page.html": TEXT, "other.html": "pass\n"}
FIELD = (
    '<textarea id="code" name="code" data-editor="python" aria-describedby="hint" autocomplete="off">\n{}</textarea>'
)
PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>A page</title>
<meta http-equiv="Content-Security-Policy" content="{policy}">
<link rel="stylesheet" href="style.css"><script src="first.js"></script><script src="host.js" defer></script>
<script src="editor.js" defer></script><main><h1>A page</h1><form data-scope>
<label for="code">Your code</label> <span id="hint">Tab leads on.</span><div id="place">{field}</div>
<button class="button" type="button" data-run>Run</button> <button class="button" type="reset">Reset</button>
<button class="button" type="button" data-key="Space x">Play</button></form><div id="said"></div></main></html>"""
# counts presses, places what an answer brings, and stops CodeMirror where the address says so
FIRST = """window.ran = window.played = 0;
document.addEventListener("click", ({ target }) => {
  window.ran += target.matches("[data-run]"), window.played += target.matches("[data-key]"); });
const policy = window.trustedTypes?.createPolicy("microgpt", { createHTML: (text) => text });
function put(place, html) {
  document.querySelector(place).innerHTML = policy ? policy.createHTML(html) : html;
  return new Promise((done) => setTimeout(done, 0));
}
if (location.search === "?none") Element.prototype.attachShadow = () => { throw new Error("none here"); };"""
FRAME = '<!doctype html><title>host</title><iframe sandbox="allow-scripts" src="page.html" height="600"></iframe>'
VALUE = 'document.querySelector("textarea").value'
INSIDE = 'document.querySelector(".editor").shadowRoot'
FOCUS = f'({INSIDE}.querySelector(".cm-content").focus(), 0)'
MARKED = f'[...{INSIDE}.querySelectorAll(".cm-lintRange-error")].map((e) => e.textContent)'
DRAFTS = "Object.keys(localStorage).length"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("editor")
    try:
        (out / EDITOR).write_bytes(editor_script(default_cache()))
    except Unavailable as why:
        if os.environ.get("CI"):
            raise
        pytest.skip(f"the editor cannot be made: {why}")
    pages = {name: PAGE.format(policy=policy(), field=FIELD.format(text)) for name, text in TEXTS.items()}
    scripts = {name: read_site(name) for name in ("host.js", "offline.js")}
    for name, text in {**pages, **scripts, "first.js": FIRST, "style.css": style(), "host.html": FRAME}.items():
        (out / name).write_text(text, "utf-8")
    return out


@pytest.fixture(scope="module")
def url(folder: Path) -> Iterator[str]:
    with serving(folder) as address:
        yield f"{address}page.html"


def opened(page: Page, url: str) -> PlaywrightPage:
    page.open(url)
    page.run(WATCH)
    page.wait("document.querySelector('textarea').hidden")
    page.run(FOCUS)
    assert isinstance(page, PlaywrightPage)
    return page


def answer(page: Page, *lines: tuple[int, str]) -> list[str]:
    """The lines that are marked, when Python has said this of lines."""
    told = "".join(f'<p data-editor-line="{n}" data-editor-for="code">{text}</p>' for n, text in lines)
    page.run(f"put('#said', `{told}`)")
    found: list[str] = page.run(MARKED)
    return found


@pytest.mark.engines("shadow roots, their styles under a policy, and keys are the engine's own", "webkit")
def test_what_is_typed_is_what_the_field_holds(new_tab: Open, url: str) -> None:
    """Nothing is forbidden, no key of the page is pressed by it, and Tab leads on."""
    page = new_tab(url)
    page.run(WATCH)
    page.wait("document.querySelector('textarea').hidden")
    page.run(FOCUS)
    for key in ("x", " " if "WebKit" in type(page).__name__ else "Space", "="):
        page.press(key)
    page.press("Enter")
    page.wait(f"{VALUE}.includes('\\n')")
    assert page.run(VALUE) == f"x =\n{TEXT}"
    page.press("Tab")
    assert page.run("document.activeElement.textContent") == "Run"
    assert page.run("[played, ran, violations]") == [0, 0, []] and page.errors == []
    colours = page.run(f"[...{INSIDE}.querySelectorAll('.cm-line span')].map((e) => getComputedStyle(e).color)")
    assert len(set(colours)) > 2  # its own style is there


def test_keys_run_undo_and_reset(new_tab: Open, url: str) -> None:
    page = opened(new_tab(), url)
    page.press("ControlOrMeta+Enter")
    assert page.run("[ran, played]") == [1, 0] and page.run(VALUE) == TEXT  # and no line is added
    page.press("ControlOrMeta+End")
    page.tab.keyboard.type("if v:\nw")
    assert page.run(VALUE) == f"{TEXT}if v:\n    w"
    page.press("ControlOrMeta+z")
    assert page.run(VALUE) != f"{TEXT}if v:\n    w"
    page.click("[type=reset]")
    assert page.run(VALUE) == TEXT and page.run(f"{INSIDE}.querySelectorAll('.cm-line').length") == 3
    page.tab.get_by_text("Your code").click()
    assert page.run("document.activeElement.className") == "editor"
    assert page.errors == [] and page.run("violations") == []


def test_a_draft_survives_a_reload_and_no_reset(new_tab: Open, url: str) -> None:
    """It is of the text that the page came with: neither another text nor another page gets it."""
    page = opened(new_tab(), url)
    assert page.run(DRAFTS) == 0
    page.tab.keyboard.type("# mine ")
    page.reload()
    page.wait(f"{VALUE} !== undefined && document.querySelector('textarea').hidden")
    assert page.run(VALUE) == f"# mine {TEXT}" and page.run(f"{INSIDE}.querySelector('.q, .v').textContent") == "v"
    opened(page, url.replace("page", "other"))
    assert page.run(VALUE) == "pass\n"
    opened(page, url)
    page.click("[type=reset]")
    page.reload()
    assert page.run(VALUE) == TEXT and page.run(DRAFTS) == 0
    page.run(FOCUS)
    page.tab.keyboard.type("# mine ")
    page.run("(localStorage[Object.keys(localStorage)[0]] = JSON.stringify(['older', 'x']), 0)")
    page.reload()
    assert page.run(VALUE) == TEXT  # the page has another text since
    assert page.errors == []


def test_lines_that_an_answer_names_are_marked_as_long_as_it_stands(new_tab: Open, url: str) -> None:
    page = opened(new_tab(), url)
    assert answer(page, (2, "NameError: no such name")) == ["return weights @ v"]
    page.press("Enter")
    assert page.run(MARKED) == ["return weights @ v"]  # the line that it was
    assert answer(page, (2, "SyntaxError"), (99, "at the end")) == ["def mix(weights, v):"]
    page.tab.locator(".cm-lint-marker-error").first.hover()
    page.tab.get_by_text("SyntaxError").nth(1).wait_for()
    assert answer(page) == []
    assert page.run("document.activeElement.className") == "editor" and page.errors == []


def test_an_editor_comes_and_goes_with_its_field(new_tab: Open, url: str) -> None:
    """A text that an answer brings is shown; the draft is that of the page's own."""
    page = opened(new_tab(), url)
    page.tab.keyboard.type("# mine ")
    assert page.run("put('#place', '').then(() => document.querySelectorAll('.editor').length)") == 0
    page.run(f"put('#place', `{FIELD.format('another = 1')}`)")
    assert page.run(f"{INSIDE}.querySelector('.cm-content').innerText") == "another = 1" == page.run(VALUE)
    page.run(f"put('#place', `{FIELD.format(TEXT)}`)")
    assert page.run(VALUE) == f"# mine {TEXT}" and page.run("document.querySelectorAll('.editor').length") == 1
    assert page.errors == [] and page.run("violations") == []


def test_without_codemirror_the_field_does_it(new_tab: Open, url: str) -> None:
    page = new_tab(f"{url}?none")
    assert isinstance(page, PlaywrightPage)
    page.click("textarea")
    page.press("ControlOrMeta+Home")
    page.tab.keyboard.type("# mine ")
    page.press("ControlOrMeta+Enter")
    assert page.run("[ran, played]") == [1, 0]
    page.reload()
    assert page.run(VALUE) == f"# mine {TEXT}" and page.errors == []
    page.click("[type=reset]")
    assert page.run(VALUE) == TEXT and page.run(DRAFTS) == 0


def test_a_frame_without_an_origin_has_it_too(new_tab: Open, url: str, folder: Path) -> None:
    """There nothing can be kept; from a file it is."""
    page = new_tab(url.replace("page", "host"))
    assert isinstance(page, PlaywrightPage)
    frame = page.tab.frames[1]
    frame.locator(".cm-content").click()
    page.tab.keyboard.type("x")
    assert "x" in frame.evaluate(VALUE) and page.errors == []
    opened(page, (folder / "page.html").as_uri())
    page.tab.keyboard.type("# mine ")
    page.reload()
    assert page.run(VALUE) == f"# mine {TEXT}" and page.errors == []


@pytest.mark.parametrize("dark", sampled([False, True], {True}, "the other colours"))
def test_it_has_a_name_and_the_colours_of_the_page(new_tab: Open, url: str, dark: bool) -> None:
    page = opened(new_tab(dark=dark), url)
    field = page.tab.get_by_role("textbox", name="Your code")
    assert field.count() == 1 and field.evaluate("(e) => e.ariaDescribedByElements[0].textContent") == "Tab leads on."
    seen = """(e) => [e.querySelector(".cm-line"), e.querySelector(".v"), e.closest(".cm-editor")]
        .map((e) => getComputedStyle(e)).flatMap(({ color, backgroundColor }) => [color, backgroundColor])"""
    ink, _, hue, _, _, ground = field.evaluate(seen)
    wanted = (
        ["rgb(233, 233, 228)", "rgb(79, 207, 166)", "rgb(28, 31, 35)"]
        if dark
        else ["rgb(27, 29, 33)", "rgb(0, 105, 78)", "rgb(255, 255, 255)"]
    )
    assert [ink, hue, ground] == wanted
    answer(page, (1, "NameError"))
    wrong = Axe().run(page.tab).response["violations"]
    assert [(one["id"], node["html"], node["failureSummary"]) for one in wrong for node in one["nodes"]] == []
