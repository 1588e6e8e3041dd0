"""What the address asks for is on the screen; what the page does not have is said, and nothing is lost."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

import pytest
from playwright.sync_api import Playwright
from pytest import TempPathFactory as Factory

from microgpt.course import LESSONS
from microgpt.course import page as page_named
from microgpt.viz import views
from microgpt.viz.controls import on_show
from microgpt.viz.settings import Settings
from tests.browser.conftest import Open
from tests.browser.hosts import sandboxed
from tests.browser.live import STATE, soon
from tests.support.sampled import sampled
from tools.browsers import ONE_COMPILER, UNFOLD, Page, tab
from tools.server import serving

CHECKED = """Object.fromEntries([...document.querySelectorAll("[type=radio]:checked")].map((e) => [e.name, e.value]))"""
WRONG = 'document.querySelector("[data-wrong]").textContent.replace(/[\u2068\u2069]/g, "")'
ROWS = 'document.querySelectorAll("#rows .row").length'
LETTERS = page_named("kv-cache")
# the head whose weights differ most
HEAD = str(on_show(views.view("kv_cache", Settings(LETTERS.model, LETTERS.prompt)))["head"])


@pytest.mark.parametrize("folder", ["", "es/embed/"])
def test_the_address_sets_the_controls_that_it_names(new_tab: Open, address: str, folder: str) -> None:
    page = new_tab(f"{address}{folder}kv-cache-words.html?step=4&layer=1&head=2&phase=3&theme=dark")
    shown = page.run(CHECKED)
    assert [shown[name] for name in ("step", "layer", "head", "phase", "theme")] == ["4", "1", "2", "3", "dark"]
    assert page.run("getComputedStyle(document.documentElement).colorScheme") == "dark"
    assert page.run("document.querySelectorAll('.step.S4').length") == 1
    assert page.run("getComputedStyle(document.querySelector('.step.S4')).display") == "contents"
    assert not page.run(WRONG)
    assert not page.errors


WRONG_ONES = {  # of one address, each its own control; what is said of it
    "step=99&theme=blue&lang=xx&lock=8-9&model=gpt-5&temperature=warm&seed=1e309&top_k=nan": (
        "step=99 (0 … 6)", "theme=blue (auto … dark)", "lang=xx (en … es)", "lock=8-9", "model=gpt-5 (names … own)",
        "temperature=warm (0 … 2)", "seed=1e309 (0 … 9007199254740991)", "top_k=nan (0 … 9007199254740991)",
    ),
    "phase=x&step=2&lock=3-2&seed=-1": ("phase=x (0 … 7)", "lock=3-2", "seed=-1 (0 … 9007199254740991)"),
    "temperature=1&temperature=0.7&lock=&seed=9007199254740993": (
        "temperature=0.7 (0 … 2)", "lock=", "seed=9007199254740993 (0 … 9007199254740991)",
    ),
    "step=%3Cb%3E": ("step=<b> (0 … 6)",),
    f"step={quote('שלום')}": ("(0 … 6)",),
}  # fmt: skip


def test_a_wrong_value_is_said_and_the_rest_holds(new_tab: Open, address: str) -> None:
    page = new_tab()
    for query, said in WRONG_ONES.items():
        page.open(f"{address}embed/kv-cache.html?{query}")
        step = "2" if "step=2" in query else "3"
        before = {"step": step, "phase": "0", "theme": "auto", "head": HEAD}
        told = page.run(WRONG)
        assert [one for one in said if one not in told] == []
        assert {name: page.run(CHECKED)[name] for name in before} == before
        assert page.run("document.querySelector('[name=model]').value") == "names"
        assert page.run("document.querySelector('[name=temperature]:checked').value") == "0"
    assert not page.errors


def test_what_hosts_add_to_an_address_is_let_pass(new_tab: Open, address: str) -> None:
    page = new_tab(f"{address}embed/kv-cache.html?utm_source=mail&page=inside&step=1&fbclid=x%5B%22")
    assert not page.run(WRONG)
    assert page.run(CHECKED)["step"] == "1"
    assert page.run("document.querySelector('[name=page]').value") == "kv-cache"


def test_a_lock_leaves_only_its_steps(new_tab: Open, address: str) -> None:
    page = new_tab(f"{address}embed/kv-cache.html?lock=4-5")
    seen = "[...document.querySelectorAll('.T')].filter((e) => e.getClientRects().length).map((e) => e.innerText[0])"
    assert len(page.run(seen)) == 2
    assert page.run(CHECKED)["step"] == "4"
    labels = (
        "[...document.querySelectorAll('.turn label')].filter((e) => e.checkVisibility({ visibilityProperty: true }))"
    )
    assert page.run(f"{labels}.map((e) => e.htmlFor).join()") == "step-5"
    page.click('label[for="step-5"].button')
    assert page.run(CHECKED)["step"] == "5"
    assert page.run(f"{labels}.map((e) => e.htmlFor).join()") == "step-4"


def test_the_address_goes_to_another_language_and_takes_the_rest_along(new_tab: Open, address: str) -> None:
    page = new_tab(f"{address}embed/kv-cache.html?lang=es&step=2")
    page.wait("document.documentElement.lang === 'es' && document.readyState === 'complete'")
    assert page.run("location.pathname") == "/es/embed/kv-cache.html"
    assert page.run(CHECKED)["step"] == "2"


def test_a_text_in_the_address_is_run_and_then_the_step_is_shown(new_tab: Open, address: str) -> None:
    """Its own, where another model is asked for and no text."""
    page = new_tab(f"{address}embed/kv-cache-words.html?model=names&lock=3-4&phase=4")
    page.wait(f'{STATE} === "ready"')
    assert page.run("document.querySelector('#live [name=prompt]').value") == LETTERS.prompt
    assert (page.run(CHECKED)["step"], page.run(CHECKED)["phase"]) == ("3", "4")
    assert not page.run(WRONG) and not page.errors


@pytest.mark.thorough("what is wrong is said as after a press: tests/browser/python/test_live.py")
def test_a_text_in_the_address_that_the_model_cannot_read_is_said(new_tab: Open, address: str) -> None:
    page = new_tab(f"{address}embed/kv-cache.html?prompt=%F0%9F%90%8D")
    page.wait('document.querySelector("#prompt-error").textContent !== ""')
    page.wait('document.querySelector("#prompt-error").checkVisibility()', seconds=5)  # its form is folded away no more
    assert page.run(ROWS) == 7


def test_the_link_leads_to_what_is_on_the_screen(new_tab: Open, engine: str, address: str) -> None:
    if engine == "webkit":
        pytest.skip("WebKitGTK's driver cannot hover")
    page = new_tab(f"{address}kv-cache-words.html")
    for name, value in {"step": 2, "layer": 1, "phase": 4}.items():
        page.run(f"(document.querySelector('[name={name}][value=\"{value}\"]').click(), 0)")
    page.run(UNFOLD)
    page.run("document.querySelector('.share a[data-view]').focus()")
    link = page.run("document.querySelector('.share a[data-view]').href")
    assert parse_qs(urlsplit(link).query) == {"step": ["2"], "layer": ["1"], "phase": ["4"]}
    page.open(link)
    shown = page.run(CHECKED)
    assert [shown[name] for name in ("step", "layer", "phase")] == ["2", "1", "4"]


HOST = """<!doctype html><title>host</title><link rel="icon" href="data:,">
<style>iframe {{ width: 700px; height: 300px }}</style>
<script src="host-page.js"></script>{frames}"""
ASK = "() => frames[0].postMessage('microgpt:height', '*')"
LISTEN = 'window.heard = []; addEventListener("message", ({ data, source }) => window.heard.push(data));'


def host_page(folder: Path, *frames: str) -> None:
    (folder / "host.html").write_text(HOST.format(frames="".join(frames)))
    (folder / "host-page.js").write_text(LISTEN)


@pytest.mark.engines("measures and tells in its own time", "webkit")
def test_a_host_learns_the_height_of_a_frame_and_may_ask_for_it(new_tab: Open, address: str, tmp_path: Path) -> None:
    host_page(tmp_path, f'<iframe src="{address}embed/why-q.html"></iframe>')
    with serving(tmp_path) as host:
        page = new_tab(host + "host.html")
        page.wait("window.heard.length >= 2")
        messages = page.run("window.heard")
        page.run(f"(window.heard.length = 0, ({ASK})(), 0)")
        page.wait("window.heard.length >= 2")
        answered = page.run("window.heard")
        page.run("(window.heard.length = 0, Array(2000).fill().forEach(ASK), 0)".replace("ASK", ASK))
        page.wait("window.heard.length >= 2")
        page.pause(0.5)
        often = page.run("window.heard.length")
    assert 2 <= often < 200, "measured and told once a frame at most, not once a message"
    lti = next(json.loads(m) for m in messages if isinstance(m, str))
    own = next(m for m in messages if isinstance(m, dict))
    assert lti["subject"] == "lti.frameResize"
    assert own == {"type": "microgpt:height", "height": lti["height"]}
    assert 300 < lti["height"] < 3000
    assert answered == messages[-2:]


def frame_of(page: Page, address: str) -> object:
    return next(f for f in page.tab.frames if f.url.startswith(address))  # type: ignore[attr-defined]


PLAYING = "document.querySelector('[name=play]').checked"


@pytest.fixture(scope="module")
def hosted(
    playwright: Playwright, engine: str, running: dict[str, Any], address: str, tmp_path_factory: Factory
) -> Iterator[tuple[Page, Callable[[str], object]]]:
    """A page of another host with a frame that may play; what evaluates in the frame."""
    if engine == "webkit":
        pytest.skip("WebKit's driver does not enter a frame of another host")
    host_page(folder := tmp_path_factory.mktemp("host"), f'<iframe src="{address}embed/kv-cache.html?play=1"></iframe>')
    with serving(folder) as host, tab(playwright, engine, running=running, flags=[ONE_COMPILER]) as page:
        page.open(host + "host.html")
        page.wait("window.heard.length >= 2")
        yield page, frame_of(page, address).evaluate  # type: ignore[attr-defined]


def test_a_slide_show_starts_and_stops_what_plays_and_nobody_else_does(
    hosted: tuple[Page, Callable[[str], object]],
) -> None:
    page, inside = hosted

    def shows(plays: bool) -> Callable[[], bool]:
        return lambda: inside(PLAYING) is plays

    send = "(document.querySelector('iframe').contentWindow.postMessage({}, '*'), 0)"
    for message, plays in (("slide:stop", False), ("slide:start", True), ("slide:stop", False), ("run", False)):
        page.run(send.format(json.dumps(message)))
        page.pause(0.1)
        assert soon(page, shows(plays)), message
    inside("postMessage('slide:start', '*')")  # from itself, not from its host
    page.pause(0.1)
    assert not inside(PLAYING)


def test_of_four_frames_only_the_one_that_is_used_loads_python(
    new_tab: Open, engine: str, stub: Path, tmp_path: Path
) -> None:
    if engine == "webkit":
        pytest.skip("WebKit's driver does not enter a frame of another host")
    seen: list[str] = []
    with serving(stub, seen=seen) as embeds:
        names = [lesson.name for lesson in LESSONS][:4]
        host_page(tmp_path, *[f'<iframe src="{embeds}embed/{name}.html"></iframe>' for name in names])
        with serving(tmp_path) as host:
            page = new_tab(host + "host.html")
            for frame in page.tab.frames[1:]:  # type: ignore[attr-defined]
                frame.wait_for_load_state("load")
            assert not [path for path in seen if "/runtime-" in path]
            inner = next(f for f in page.tab.frames if f.url.endswith("embed/kv-cache.html"))  # type: ignore[attr-defined]
            inner.locator('button[data-hook="next"]').click()
            inner.locator('[data-boot][data-state="ready"]').wait_for(timeout=60000)
            assert len([path for path in seen if path.endswith("/pyodide.asm.wasm")]) == 1
        assert not page.errors


ODD = (
    "", " ", "0", "-0", "00", "7", "-1", "+1", "1.5", ".5", "5.", "1e2", "1E2", "1e-320", "1e-400", "1e308", "1e309",
    "-1e309", "9007199254740991", "9007199254740993", "1000000000000000001", "9" * 400, "0." + "3" * 60, "1_000", "1,5",
    "0x10", "nan", "NaN", "inf", "Infinity", "null", "undefined", "true", "٣", "７", "½", "//x", "a=b&c", "<b>", "\"'`",
    "\\", "%00", "\x00", "a\nb", "\u202e", "\u2028", "__proto__", "x" * 1000,
)  # fmt: skip
CONTROLS = (
    "seed top_k temperature batch tokens memory step layer head phase play hold model prompt theme lang format "
    "preset size config known embed_page embed_size lock address __proto__ toString viewport x[y]"
).split()
UNSAID = """(([asked, said]) => Object.entries(asked).filter(([name, value]) => {
  const found = `:is(input, select, textarea)[name="${CSS.escape(name)}"]:not([type=hidden], [type=file])`;
  const all = [...document.querySelectorAll(found)], picked = (e) => e.checked || !/radio|checkbox/.test(e.type);
  return all.length && !all.some((e) => picked(e) && e.value === value) && !said.includes(`${name}=${value}`);
}))"""


@pytest.mark.parametrize("start", sampled([0, 3, 6], {0}, "other values"))
@pytest.mark.parametrize(
    "name", sampled(["embed/kv-cache-words", "embed/memory", "embed-builder"], {"embed/memory"}, "larger forms")
)
def test_whatever_stands_in_the_address_is_shown_or_said_and_the_console_stays_empty(
    new_tab: Open, engine: str, site: Path, name: str, start: int
) -> None:
    if engine == "webkit":
        pytest.skip("WebKit tells of no warnings")
    with serving(site, sandboxed(site)) as address:  # nothing is to be run here
        page = new_tab()
        for i in range(start, len(ODD), 9):  # each in turn
            asked = {control: ODD[(i + j) % len(ODD)] for j, control in enumerate(CONTROLS)}
            page.open(f"{address}{name}.html?" + "&".join(f"{quote(k)}={quote(v)}" for k, v in asked.items()))
            assert page.run(f"{UNSAID}({json.dumps([asked, page.run(WRONG)])})") == []
            assert not page.errors


def test_an_address_that_names_two_languages_does_not_go_back_and_forth(new_tab: Open, address: str) -> None:
    page = new_tab(f"{address}embed/kv-cache.html?lang=es&lang=en&step=2")
    page.pause(0.5)
    assert page.run("[location.pathname, document.readyState]") == ["/embed/kv-cache.html", "complete"]
    assert page.run(CHECKED)["step"] == "2"


def test_the_builder_takes_the_steps_that_stay_from_the_address(new_tab: Open, address: str) -> None:
    page = new_tab(f"{address}embed-builder.html?embed_page=kv-cache&lock=2-4")
    assert page.run("document.querySelector('[name=lock]').value") == "2-4"
    assert not page.run(WRONG)


MESSAGES = """[null, undefined, 0, 7n, NaN, true, "", "run", "microgpt:height ", ["microgpt:height"], ["slide:start"],
  ["slide:stop"], {}, { toString: 1 }, { toString: null, valueOf: null }, { type: "microgpt:height", height: 9 },
  Object.create(null), new Date(NaN), /x/, new Map([[1, 2]]), new ArrayBuffer(8), new Error("x"), [[[[]]]],
  "slide:start\\n", "x".repeat(5e6), { data: { data: "slide:start" } }, new Blob(["slide:start"])]"""


def quiet(page: Page) -> bool:
    """Whether its frame tells of no new height for a while."""
    before = page.run("window.heard.length")
    page.pause(0.3)
    return bool(page.run("window.heard.length") == before)


def test_a_frame_hears_its_two_kinds_of_messages_and_lets_all_others_pass(
    hosted: tuple[Page, Callable[[str], object]],
) -> None:
    page, inside = hosted
    page.run("(frames[0].postMessage('slide:start', '*'), 0)")
    assert soon(page, lambda: inside(PLAYING) is True and quiet(page))
    page.run(f"(window.heard.length = 0, {MESSAGES}.forEach((one) => frames[0].postMessage(one, '*')), 0)")
    page.pause(0.5)
    assert inside(PLAYING) is True
    assert page.run("window.heard") == []
    page.run("(frames[0].postMessage('slide:stop', '*'), frames[0].postMessage('microgpt:height', '*'), 0)")
    page.wait("window.heard.length >= 2", seconds=10)
    assert inside(PLAYING) is False
    assert not page.errors
