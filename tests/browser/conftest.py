"""The built site, served; a tab in each engine.

A browser test runs in Chromium. What another engine does of its own and has been seen to break (`:has`, keys, workers,
forms without permission) runs there by day too: in all three, or in those that are named after the reason. Such tests,
or single cases of them, bear `engines`.
`make everything` (EVERYTHING=1) runs every case in every engine.
"""

import os
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack, nullcontext
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Playwright, sync_playwright
from playwright.sync_api import Page as Tab

from tests.support.altered import STUB, altered
from tests.support.proved import LESSONS, lessons_of
from tools.browsers import CHROMIUM_FLAGS, ENGINES, ONE_COMPILER, Page, own, screen, tab, which
from tools.server import Handler, serving

Open = Callable[..., Page]
SCREEN: Any = {"width": 1440, "height": 1000}  # a driver tries for seconds to scroll to what a lower one leaves out
# the driver's; of scripts and elements it has others
CRASHED = ["^InvalidSessionIdException: ", "^WebDriverException: "]


def engine_of(item: pytest.Item) -> str:
    """The browser's engine that a test is run in, or nothing."""
    case = getattr(item, "callspec", None)
    return str(case.params.get("engine", "")) if case else ""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Firefox and WebKit take what bears `engines`, or everything.

    WebKitGTK 2.50 now and then crashes in its own interpreter of WebAssembly, when a page is left whose Python is at
    work, and its driver now and then loses an answer. Then, and for no other failure, the test is run once more, which
    the summary tells: what a page throws, says or shows has other names.
    """
    crashed = pytest.mark.flaky(reruns=1, only_rerun=CRASHED)
    left: list[pytest.Item] = []
    for item in items:
        if engine_of(item) == "webkit":
            item.add_marker(crashed)
        mark = item.get_closest_marker("engines")
        if mark and not mark.args:
            raise pytest.UsageError(f"{item.nodeid}: `engines` wants its reason")
        those = mark.args[1:] or ENGINES if mark else ()
        if engine_of(item) not in ("", "chromium", *those) and not os.environ.get("EVERYTHING"):
            left.append(item)
    config.hook.pytest_deselected(items=left)
    gone = set(left)
    items[:] = [item for item in items if item not in gone]


@pytest.fixture(scope="session")
def address(site: Path) -> Iterator[str]:
    with serving(site) as url:
        yield url


@pytest.fixture(scope="session")
def stub(site: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site with a worker that answers at once, without Python: for what the page does with any answer, or none."""
    return altered(site, tmp_path_factory.mktemp("built") / "stub", lambda _: STUB, 1_000_000)


@pytest.fixture(autouse=True)
def only_lessons_that_are_named(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A module that may count as proved (tests/support/proved.py) opens no page of a lesson that it does not name."""
    lessons, asked, get = lessons_of(request.path), set[str](), Handler.do_GET

    def do_GET(self: Handler) -> None:
        if "built" in self.directory:  # the site, and no folder of a test's own
            asked.add(self.path)
        get(self)

    if lessons is not None:
        monkeypatch.setattr(Handler, "do_GET", do_GET)
    yield
    found = {
        m[1].replace("-", "_") for path in asked if (m := re.match(r"/(?:es/)?(?:embed/)?([\w-]*)(?:\.html|$)", path))
    }
    assert lessons is None or not found & ({"", "index", *LESSONS} - lessons), "it opens a lesson that it does not name"


@pytest.fixture(scope="session")
def playwright() -> Iterator[Playwright]:
    with sync_playwright() as started:
        yield started


@pytest.fixture(scope="session", params=ENGINES)
def engine(request: pytest.FixtureRequest, playwright: Playwright) -> str:
    """Each engine that is there; in CI all of them must be."""
    name: str = request.param
    wanted(playwright, name)
    return name


def wanted(playwright: Playwright, name: str) -> None:
    """Skip the test where that engine is not installed; in CI it fails."""
    if not which(name) and not own(playwright, name):
        if os.environ.get("CI"):
            pytest.fail(f"{name} is missing; CI tests all three engines")
        pytest.skip(f"{name} is not installed")


@pytest.fixture(scope="session")
def chromium(playwright: Playwright) -> Iterator[Browser]:
    """Chromium itself, for what only its driver can do: paper, the tree of accessibility, forced colours."""
    wanted(playwright, "chromium")
    browser = playwright.chromium.launch(executable_path=which("chromium"), args=[*CHROMIUM_FLAGS, ONE_COMPILER])
    yield browser
    browser.close()


@pytest.fixture(scope="module")
def paper(chromium: Browser) -> Iterator[Tab]:
    """A tab that runs no scripts: to be printed (tests/browser/paper.py), or as the strictest host."""
    context = chromium.new_context(java_script_enabled=False, viewport=SCREEN)
    context.set_default_timeout(5000)
    yield context.new_page()
    context.close()


@pytest.fixture(scope="session")
def running(playwright: Playwright) -> Iterator[dict[str, Any]]:
    """The browsers that tests share, each test with a profile of its own; and a screen for those that need one."""
    browsers: dict[str, Any] = {}
    with screen() if which("webkit") else nullcontext():
        yield browsers
        for browser in browsers.values():
            browser.close() if isinstance(browser, Browser) else browser.quit()


@pytest.fixture
def new_tab(playwright: Playwright, engine: str, running: dict[str, Any]) -> Iterator[Open]:
    """new_tab(url, width=390, ...) opens a tab, with that page where one is named; all are closed after the test."""
    with ExitStack() as stack:

        def opened(url: str = "", **options: Any) -> Page:
            flags = {"flags": [ONE_COMPILER], **options}
            page = stack.enter_context(tab(playwright, engine, running=running, **flags))
            if url:
                page.open(url)
            return page

        yield opened
