"""One HTML file runs live wherever it is opened: from a double click, in a sandboxed frame, as the srcdoc of one."""

import re
from itertools import cycle
from pathlib import Path

import pytest

import build
from microgpt.viz import views
from microgpt.viz.rendering.render import Site
from microgpt.viz.rendering.style import read_site
from microgpt.viz.request import request
from tests.browser.conftest import Open
from tests.browser.hosts import WATCH, carrying, quickly, until_it_says
from tests.browser.live import LINE, STATE
from tests.support.sampled import sampled
from tools import build_lesson
from tools.browsers import UNFOLD
from tools.build_lesson import both_forms
from tools.server import serving

ORDER = ["--prompt", "The next day", "--model", "stories", "--single-file"]
# A frame without an origin cannot be looked into: the page itself tells its parent how it is, and presses when asked.
PROBE = """
{
  const violations = [], all = (selector) => document.querySelectorAll(selector);
  document.addEventListener("securitypolicyviolation", (e) => violations.push(e.violatedDirective + e.blockedURI));
  addEventListener("message", ({ data }) => data === "press" && all("button[data-hook=next]")[0].click());
  const tell = () => ({ state: all("[data-boot]")[0].dataset.state ?? "", line: all("[data-boot]")[0].textContent,
    rows: all("#rows .row").length, origin: self.origin, violations });
  setInterval(() => parent.postMessage({ probe: tell() }, "*"), 100);
}
"""
HOST = """<!doctype html><title>host</title><iframe width="1300" height="900"></iframe>
<script>
const frame = document.querySelector("iframe"), asked = new URLSearchParams(location.search);
addEventListener("message", ({ data }) => data.probe && (window.probe = data.probe));
if (asked.has("sandbox")) frame.sandbox = "allow-scripts";
if (asked.has("srcdoc")) fetch("page.html").then((answer) => answer.text()).then((text) => { frame.srcdoc = text; });
else frame.src = "page.html";
</script>
"""


@pytest.fixture(scope="session")  # once for all engines
def lesson(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """By the builder, but packed in haste: a browser unpacks either."""
    out = tmp_path_factory.mktemp("baked") / "lesson"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(build_lesson, "gzip", quickly)
        assert build.main([*ORDER, "--out", str(out)]) == 0
    return out


@pytest.fixture(scope="session")
def host(site: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page that frames the lesson, which here also tells its parent how it is."""

    def told(name: str) -> str:
        return read_site(name) + (PROBE if name == "host.js" else "")

    out = tmp_path_factory.mktemp("host")
    asked = request("stepper", "stories", "The next day")
    html = both_forms(asked, views.view("kv_cache", asked.settings), Site(), "", carrying(site, told))
    (out / "page.html").write_text(html["index.html"], "utf-8")
    (out / "host.html").write_text(HOST, "utf-8")
    return out


# WebKit takes half a minute to start Python out of a file
OWN = pytest.mark.engines("a file has other rights in each engine", "firefox")


@pytest.mark.parametrize(
    "form", [pytest.param("index.html", marks=OWN), *sampled(["embed.html"], {}, "the same file in a frame")]
)
def test_a_double_click_is_enough(new_tab: Open, engine: str, lesson: Path, form: str) -> None:
    page = new_tab((lesson / form).as_uri())
    page.run(WATCH)
    page.run(UNFOLD)
    rows = 'document.querySelectorAll("#rows .row").length'
    assert page.run(rows) == 12
    page.click('button[data-hook="next"]')
    page.wait(f'["ready", "failed"].includes({STATE})')
    assert page.run(STATE) == "ready", page.run(LINE)
    assert page.run(rows) == 4  # the prompt, from the start
    page.click('button[data-hook="next"]')
    page.wait(f"{rows} === 5")
    assert page.run("violations") == page.errors == []
    assert [url for url in page.requests if not url.startswith(("file:", "blob:", "data:"))] == []
    assert (
        page.run('performance.getEntriesByType("resource").filter(({ name }) => !/^(data|blob):/.test(name)).length')
        == 0
    )


@pytest.mark.thorough("as every page does: tests/browser/hosting/test_reload.py")
def test_it_loads_again_when_it_has_been_built(new_tab: Open, engine: str, lesson: Path, tmp_path: Path) -> None:
    """Though its own policy lets it load nothing."""
    (page := tmp_path / "index.html").write_bytes((lesson / "index.html").read_bytes())
    number = [1]
    with serving(tmp_path, built=lambda: number[0]) as url:
        tab = new_tab(url)
        page.write_text(page.read_text("utf-8").replace("</h1>", " again</h1>", 1), "utf-8")
        number[0] = 2
        until_it_says(tab, " again")
        assert tab.errors == []


@pytest.mark.thorough("such a frame with another page is opened in tests/browser/apps/test_look.py")
@pytest.mark.parametrize("how", ["sandbox", "sandbox&srcdoc", "srcdoc"])
def test_it_runs_in_a_frame(new_tab: Open, engine: str, host: Path, how: str) -> None:
    seen: list[str] = []
    with serving(host, seen=seen) as url:
        page = new_tab(f"{url}host.html?{how}")
        page.wait("window.probe?.rows === 12")
        assert (page.run("probe.origin") == "null") == ("sandbox" in how)
        page.run('(document.querySelector("iframe").contentWindow.postMessage("press", "*"), 0)')
        page.wait('["ready", "failed"].includes(probe.state)')
        assert page.run("probe.state") == "ready", page.run("probe.line")
        page.wait("probe.rows === 4")
        assert page.run("probe.violations") == []
        page.pause(0.2)
    assert set(seen) <= {"/host.html", "/page.html", "/favicon.ico"}


def test_without_javascript_it_is_the_lesson(new_tab: Open, engine: str, lesson: Path) -> None:
    page = new_tab((lesson / "index.html").as_uri(), javascript=False)
    if engine == "chromium":  # evaluates even so
        assert page.run('document.querySelectorAll("#rows .row").length') == 12
        assert page.run('getComputedStyle(document.querySelector(".no-js")).display') != "none"
    assert page.errors == []


CARRIED = re.compile(r'<script type="text/plain" data-file="([^"]+)">')
HARMS = [
    "data.slice(0, data.length / 2)",
    'data.slice(0, 200) + (data[200] === "A" ? "B" : "A") + data.slice(201)',
    "data.slice(0, 100) + data.slice(101)",
    '""',
]


def test_a_damaged_file_says_what_of_it_is_damaged(new_tab: Open, lesson: Path) -> None:
    """Each part of it, by one harm or another; it is read anew at each press."""
    page = new_tab((lesson / "embed.html").as_uri())
    page.run(UNFOLD)
    parts = CARRIED.findall((lesson / "embed.html").read_text("utf-8"))
    assert {"worker.js", "runtime.json", "pyodide.asm.wasm"} <= {*parts}
    parts.remove("more.wasm")  # which a first step does not need
    for part, harm in zip(parts, cycle(HARMS)):
        page.run(f"""(window.part = document.querySelector('[data-file="{part}"]').firstChild, window.data = part.data,
          part.data = {harm}, 0)""")
        page.click('button[data-hook="next"]')
        page.wait(f"{LINE}.includes('this file is damaged: what it carries as {part} cannot be read')")
        assert page.run(STATE) == "failed"
        page.run("(part.data = data, 0)")
