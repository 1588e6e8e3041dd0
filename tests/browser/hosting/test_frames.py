"""The widget in every kind of frame that hosts make: what steps, what hears the address, where Python runs.

The table of docs/embedding.md is this one; a test compares them. In a frame of opaque origin WebKit's driver can do
nothing but press and look, so there a step is a change of pixels, and what its scripts do is seen from outside: the
height that they tell, the files that the server is asked for.
"""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from build import build
from tests.browser.conftest import Open
from tests.browser.hosts import with_policy
from tests.browser.live import soon
from tools.browsers import Page, PlaywrightPage, WebKitPage
from tools.server import serving

ROOT = Path(__file__).resolve().parents[3]
NAME = "embed/kv-cache.html"
HOST = """<!doctype html><meta charset="utf-8"><title>host</title><link rel="icon" href="data:,">
<style>iframe {{ width: 720px; height: 460px; border: 0 }}</style>{}<script src="listen.js"></script>"""
LISTEN = "window.heard = []; addEventListener('message', ({ data }) => data.height && window.heard.push(data.height))"
STEPS, ADDRESS, PYTHON = "steps", "address", "Python"


class Kind(NamedTuple):
    """A kind of frame: its attributes, how its page is served, and what must work in it, by engine."""

    name: str
    frame: str = 'src="{url}"'
    csp: str = ""
    readable: bool = True  # from any origin, as the server says
    works: tuple[str, ...] = (STEPS, ADDRESS, PYTHON)
    webkit: tuple[str, ...] | None = None  # where that differs

    def must(self, engine: str) -> tuple[str, ...]:
        return self.webkit if engine == "webkit" and self.webkit is not None else self.works


KINDS = (
    Kind("plain"),
    Kind('sandbox=""', 'sandbox="" src="{url}"', works=(STEPS,)),
    Kind("allow-scripts", 'sandbox="allow-scripts" src="{url}"', webkit=(STEPS, ADDRESS)),
    Kind("allow-scripts, with --base-url", 'sandbox="allow-scripts" src="{url}"'),
    Kind("allow-scripts allow-same-origin", 'sandbox="allow-scripts allow-same-origin" src="{url}"'),
    Kind("srcdoc", 'srcdoc="{html}"', works=(STEPS,)),
    Kind("CSP sandbox allow-scripts", csp="sandbox allow-scripts", webkit=(STEPS, ADDRESS)),
    Kind("allow-scripts, no CORS", 'sandbox="allow-scripts" src="{url}"', readable=False, works=(STEPS, ADDRESS)),
    Kind("file://", works=(STEPS, ADDRESS)),
)


class Served(NamedTuple):
    """Where the page is, and what has been asked of its server."""

    url: str
    seen: list[str]


@contextmanager
def served(kind: Kind, site: Path, folder: Path) -> Iterator[Served]:
    """The site as a kind of frame needs it: in the folder, where it is built for an address of its own."""
    seen, named = list[str](), "base-url" in kind.name
    fault = with_policy(site, kind.csp, NAME) if kind.csp else None
    with serving(folder if named else site, fault, seen, readable=kind.readable) as url:
        if named:
            build(folder / "site", url + "site/")
            url += "site/"
        yield Served(url, seen)


OWN = pytest.mark.engines("what a frame may do is the engine's own", "webkit")
FILE = pytest.mark.engines("what a file may do is the engine's own", "firefox")
AGAIN = pytest.mark.thorough("a frame that is laxer, or one of a site that is built for it")
MARKS: dict[str, Any] = {"allow-scripts": OWN, "file://": FILE, 'sandbox=""': (), "srcdoc": ()}
CASES = [pytest.param(kind, id=kind.name, marks=MARKS.get(kind.name, AGAIN)) for kind in KINDS]


@pytest.mark.parametrize("kind", CASES)
def test_what_must_work_in_this_kind_of_frame_works_and_nothing_else(
    new_tab: Open, engine: str, site: Path, tmp_path: Path, kind: Kind
) -> None:
    page, must = new_tab(), set(kind.must(engine))
    if kind.name == "file://":
        page.open((site / NAME).as_uri() + "?step=2")
        inside = isinstance(page, PlaywrightPage)
        works = seen_inside(page, page.tab.main_frame, must) if inside else driven(page, must)  # type: ignore[attr-defined]
    else:
        (named := tmp_path / "named").mkdir()
        with served(kind, site, named) as at, serving(tmp_path) as host:
            url = f"{at.url}{NAME}?step=2"
            html = escape((site / NAME).read_text("utf-8"))
            plain = f'<iframe src="{at.url}{NAME}"></iframe>' if engine == "webkit" else ""
            frame = f"<iframe {kind.frame.format(url=url, html=html)}></iframe>"
            (tmp_path / "host.html").write_text(HOST.format(plain + frame), "utf-8")
            (tmp_path / "listen.js").write_text(LISTEN)
            page.open(host + "host.html")
            if isinstance(page, PlaywrightPage):
                works = seen_inside(page, page.tab.frames[-1], must)
            else:
                works = seen_outside(page, at, must) if opaque(kind) else driven(page, must, frame=1)
    assert works == must


def comes(page: Page, what: str, must: set[str], holds: Callable[[], bool]) -> set[str]:
    """That it works, if it does: what must is waited for however late it is, what must not for two seconds."""
    return {what} if soon(page, holds, 30 if what in must else 2) else set()


def opaque(kind: Kind) -> bool:
    return kind.name.startswith(("sandbox", "CSP")) or kind.name.startswith("allow-scripts") and "same" not in kind.name


def seen_inside(page: Page, frame: object, must: set[str]) -> set[str]:
    """What works, by pressing and looking inside the frame; Playwright can."""
    inner = frame
    inner.wait_for_load_state()  # type: ignore[attr-defined]
    find = inner.locator  # type: ignore[attr-defined]
    works = comes(page, ADDRESS, must, find(".step.S2 .narration").is_visible)
    find(".T.R1 .face").click()
    works |= comes(page, STEPS, must, find(".step.S1 .narration").is_visible)
    button = find('button[data-hook="next"]')
    if button.is_visible():
        button.click()
        find('[data-boot]:is([data-state="ready"], [data-state="failed"])').wait_for(timeout=60000)
        if find('[data-boot][data-state="ready"]').count():
            works.add(PYTHON)
        else:
            assert "keeps working" in find("[data-boot]").inner_text()
    return works


def driven(page: Page, must: set[str], frame: int | None = None) -> set[str]:
    """The same through WebKit's driver, in a frame that it may enter."""
    assert isinstance(page, WebKitPage)
    if frame is not None:
        page.driver.switch_to.frame(frame)
    narrated = "document.querySelector('.step.S{} .narration')?.checkVisibility()"
    page.wait("document.readyState === 'complete'")
    works = comes(page, ADDRESS, must, lambda: page.holds(narrated.format(2)))
    page.click(".T.R1 .face")
    works |= comes(page, STEPS, must, lambda: page.holds(narrated.format(1)))
    if page.run("document.querySelector('button[data-hook=\"next\"]').checkVisibility()"):
        page.click('button[data-hook="next"]')
        state = "document.querySelector('[data-boot]').dataset.state"
        page.wait(f"['ready', 'failed'].includes({state})")
        works |= {PYTHON} if page.run(state) == "ready" else set()
    return works


def seen_outside(page: Page, at: Served, must: set[str]) -> set[str]:
    """What can be told from outside: pixels that change, the height that is told, files that are asked for."""
    assert isinstance(page, WebKitPage)
    from selenium.webdriver import ActionChains

    page.pause(2)  # no event tells when WebKit has painted
    driver = page.driver
    frames = driver.find_elements("css selector", "iframe")
    driver.switch_to.frame(0)  # a plain one of the same size, to learn where the token stands
    page.wait("document.readyState === 'complete' && !!document.querySelector('.T.R1 .face')")
    x, y, tall = page.run(
        "(({ x, y, width, height }) => [x + width / 2, y + height / 2, document.documentElement.offsetHeight])"
        "(document.querySelector('.T.R1 .face').getBoundingClientRect())"
    )
    driver.switch_to.default_content()
    size = frames[1].size
    before = driver.get_screenshot_as_png()
    dx, dy = round(x - size["width"] / 2), round(y - size["height"] / 2)
    ActionChains(driver).move_to_element_with_offset(frames[1], dx, dy).click().perform()
    works = comes(page, STEPS, must, lambda: driver.get_screenshot_as_png() != before)
    # the plain frame has told its height, and so has the other
    works |= comes(page, ADDRESS, must, lambda: page.holds("window.heard.length >= 2"))
    if ADDRESS in works:
        asked = len([path for path in at.seen if path.endswith(".wasm")])
        longer = "&prompt=annabella"  # so that its page is of another height
        page.run(f"(document.querySelectorAll('iframe')[1].src += '{longer}', 0)")
        for half_seconds in range(80):
            page.pause(0.5)
            again = len([path for path in at.seen if path.endswith(".wasm")])
            if again > asked and page.run("window.heard.at(-1)") != tall:
                return works | {PYTHON}
            if again == asked and half_seconds > 6 and PYTHON not in must:  # nobody asks for it
                break
    return works


def test_the_documented_table_is_this_one() -> None:
    rows = []
    for kind in KINDS:
        cells = [", ".join(kind.must(engine)) for engine in ("chromium", "firefox", "webkit")]
        rows.append(f"| `{kind.name}` | {' | '.join(cells)} |")
    text = (ROOT / "docs" / "embedding.md").read_text("utf-8")
    table = re.search(r"\| frame \| Chromium \| Firefox \| WebKit \|\n\|[-| ]+\|\n((?:\|.*\n)*)", text)
    assert table
    assert table[1].splitlines() == rows
