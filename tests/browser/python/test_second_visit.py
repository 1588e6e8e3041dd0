"""A later visit begins with the memory of a Python that has rehearsed: it gives the same answers, has nothing of the
reader's in it, and is not used where there is any doubt."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from microgpt.record import Recording
from microgpt.viz.course import PAGES
from microgpt.viz.drawing.picture import Picture
from microgpt.viz.rendering.render import widget
from microgpt.weights import shipped
from tests.browser.conftest import Open
from tests.browser.live import open_live, press
from tests.support.answers import stands
from tools.altered import altered
from tools.browsers import UNFOLD, Page
from tools.runtime.exercise import answers
from tools.runtime.used import EXERCISE
from tools.server import serving

BOOT = (Path(__file__).resolve().parents[3] / "site" / "boot.js").read_text("utf-8")
SOME = ["kv-cache", "kv-cache-words", "latent-row", "training", "own-model", "glossary"]  # of each kind of page
# The store is named after the site; what is in it after Python's folder.
FIND = """const store = await caches.open(new URL(".", location).href), keys = await store.keys();
  const at = keys.map(({ url }) => url).find((url) => url.endsWith("/memory"));"""
KEPT = f"(async () => {{ {FIND} return Boolean(at); }})()"
BEGUN = 'performance.getEntriesByName("boot-remembered").length'


def change(text: str) -> str:
    """A worker that makes a memory soon, says when it begins with one, and can be asked for everything at once."""
    place, end = "if (memory) FINDER.place(ARCHIVE);", "return pyodide.pyimport(module).receive;"
    assert place in text and end in text and "PAUSE = 5000" in text
    code = json.dumps(EXERCISE.read_text("utf-8") + f"import json\njson.dumps(answers({SOME}))\n")
    everything = f"""const {{ receive }} = pyodide.pyimport(module);
      return (message, files) => JSON.parse(message).fields.prompt !== "everything" ? receive(message, files)
        : JSON.stringify({{ state: null, patches: [], said: JSON.parse(pyodide.runPython({code})) }});"""
    told = place + ' if (memory) postMessage({ status: "remembered" });'
    return text.replace(place, told).replace(end, everything).replace("PAUSE = 5000", "PAUSE = 500")


def patient(path: str) -> tuple[int, dict[str, str], Iterator[bytes]] | None:
    text = BOOT.replace("START = 60", "START = 600").encode()
    return (200, {"Content-Type": "text/javascript"}, iter([text])) if path == "/boot.js" else None


@pytest.fixture(scope="module")
def telling(site: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The site with that worker."""
    copy = altered(site, tmp_path_factory.mktemp("telling") / "site", change)
    (copy / "framing.html").write_text('<!doctype html><title>host</title><iframe src="kv-cache.html"></iframe>')
    with serving(copy, patient) as url:
        yield url


@pytest.fixture
def visited(new_tab: Open, engine: str, telling: str) -> Page:
    """A page after a visit that has left a memory; a text of the reader's was in it."""
    page = open_live(new_tab(), telling + "kv-cache.html")
    if not page.run("Boolean(self.caches)"):
        pytest.skip(f"{engine} keeps nothing here")
    page.fill("#prompt", "zyxwvuts")
    assert press(page, "next")["state"]["n"] == 9
    page.wait(KEPT, 60)
    assert not page.run(BEGUN)
    return page


def test_it_begins_with_the_memory_and_answers_the_same(visited: Page, telling: str) -> None:
    page = open_live(visited, telling + "kv-cache.html")
    page.run("document.querySelectorAll('[name=layer],[name=head]').forEach((e) => e.value === '0' && e.click())")
    first = page.run("window.answers.length")
    press(page, "run")
    assert page.run(BEGUN) == 1
    shown = next(page for page in PAGES if page.name == "kv-cache")
    picture = Picture(Recording(shipped(shown.model), shown.prompt).run(), layer=0, head=0)
    answers = [json.loads(text)["patches"] for text in page.run(f"window.answers.slice({first})")]
    assert stands(answers) == widget("stepper", picture)
    open_live(page, telling + "kv-cache-words.html")  # what the second archive holds comes as ever
    before = press(page, "next")["state"]["n"]
    assert page.run(BEGUN) == 1 and press(page, "next")["state"]["n"] == before + 1
    assert not page.errors


@pytest.mark.timeout(600)
def test_every_hook_answers_as_it_does_here(visited: Page, telling: str, engine: str) -> None:
    if engine != "chromium":
        pytest.skip("it takes long, and the memory is the same")
    page = open_live(visited, telling + "kv-cache.html")
    page.fill("#prompt", "everything")
    page.click('button[data-hook="next"]')
    page.wait("window.answers.length", 400)
    there, here = json.loads(page.run("window.answers[0]"))["said"], answers(SOME)
    assert page.run(BEGUN) == 1
    assert len(there) == len(here) > 50
    assert [i for i, (a, b) in enumerate(zip(there, here, strict=True)) if a != b] == []


def test_nothing_of_the_readers_is_in_it(visited: Page) -> None:
    """As bytes of one, two or four to a letter, as Python and JavaScript keep text."""
    found = """new TextDecoder("latin1").decode(await (await store.match(at)).arrayBuffer());
      const spread = (n) => [..."zyxwvuts"].map((c) => c + "\\0".repeat(n - 1)).join("");"""
    script = f"(async () => {{ {FIND} const text = {found}"
    assert visited.run(f"{script} return [1, 2, 4].map((n) => text.includes(spread(n))); }})()") == [False] * 3
    assert visited.run(f'{script} return text.includes("microgpt.viz.session"); }})()')


@pytest.mark.in_turns
@pytest.mark.parametrize(
    "harm",
    [
        "bytes[bytes.length >> 1] ^= 1;",
        "bytes = bytes.slice(0, -65536);",
        "about = about.replace(/^./, 'x');",
        "await store.put(at.replace(/memory$/, 'tried'), new Response());",
    ],
    ids=["a bit is another", "the end is missing", "of another browser", "the last visit got no answer"],
)
def test_on_any_doubt_it_begins_anew_and_the_memory_is_made_again(visited: Page, telling: str, harm: str) -> None:
    visited.run(
        f"""(async () => {{ {FIND} const answer = await store.match(at);
        let bytes = new Uint8Array(await answer.arrayBuffer()), about = answer.headers.get("about");
        {harm} await store.put(at, new Response(bytes, {{ headers: {{ about }} }})); return 0; }})()"""
    )
    page = open_live(visited, telling + "kv-cache.html")
    assert press(page, "next")["state"]["n"] == 4
    assert not page.run(BEGUN)
    page.wait(KEPT, 60)
    open_live(page, telling + "kv-cache.html")
    assert press(page, "next")["state"]["n"] == 4
    assert page.run(BEGUN) == 1


def test_a_page_in_a_frame_keeps_nothing(new_tab: Open, engine: str, telling: str) -> None:
    if engine == "webkit":
        pytest.skip("its driver enters a frame in another way")
    page = new_tab()
    page.open(telling + "framing.html")
    inner = next(frame for frame in page.tab.frames if frame.url.endswith("/kv-cache.html"))  # type: ignore[attr-defined]
    inner.wait_for_load_state()
    inner.evaluate(UNFOLD)
    inner.locator('button[data-hook="next"]').click()
    inner.locator('[data-boot][data-state="ready"]').wait_for(timeout=60000)
    page.pause(6)  # in less than that it is made on a page of its own
    assert not inner.evaluate(KEPT)
