"""The built site, served; a tab in each engine."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack, nullcontext
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Playwright, sync_playwright

from build import build
from tools.browsers import ENGINES, Page, own, screen, tab, which
from tools.server import serving

Open = Callable[..., Page]
CRASHED = [
    "^InvalidSessionIdException: ",
    "^WebDriverException: ",
]  # the driver's; of scripts and elements it has others


def engine_of(item: pytest.Item) -> str:
    """The browser's engine that a test is run in, or nothing."""
    case = getattr(item, "callspec", None)
    return str(case.params.get("engine", "")) if case else ""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Of tests that are `in_turns` Chromium takes all cases, Firefox and WebKit a fourth each, not the same one.

    WebKitGTK 2.50 now and then crashes in its own interpreter of WebAssembly, when a page is left whose Python is at
    work, and its driver now and then loses an answer. Then, and for no other failure, the test is run once more, which
    the summary tells: what a page throws, says or shows has other names.
    """
    crashed = pytest.mark.flaky(reruns=1, only_rerun=CRASHED)
    cases: dict[tuple[str, str], list[pytest.Item]] = defaultdict(list)
    for item in items:
        if engine_of(item) == "webkit":
            item.add_marker(crashed)
        if item.get_closest_marker("in_turns"):
            cases[item.nodeid.partition("[")[0], engine_of(item)].append(item)
    left: set[pytest.Item] = set()
    for (_, engine), some in cases.items():
        if engine != "chromium" and len(some) >= 4 and not os.environ.get("ALL_CASES"):
            left |= {item for i, item in enumerate(some) if i % 4 != ENGINES.index(engine)}
    config.hook.pytest_deselected(items=[item for item in items if item in left])
    items[:] = [item for item in items if item not in left]


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The real site, built once."""
    out = tmp_path_factory.mktemp("build") / "site"
    build(out)
    return out


@pytest.fixture(scope="session")
def address(site: Path) -> Iterator[str]:
    with serving(site) as url:
        yield url


@pytest.fixture(scope="session")
def playwright() -> Iterator[Playwright]:
    with sync_playwright() as started:
        yield started


@pytest.fixture(scope="session", params=ENGINES)
def engine(request: pytest.FixtureRequest, playwright: Playwright) -> str:
    """Each engine that is there; in CI all of them must be."""
    name: str = request.param
    if not which(name) and not own(playwright, name):
        if os.environ.get("CI"):
            pytest.fail(f"{name} is missing; CI tests all three engines")
        pytest.skip(f"{name} is not installed")
    return name


@pytest.fixture(scope="session")
def running(playwright: Playwright) -> Iterator[dict[str, Browser]]:
    """The browsers that tests share, each test with a profile of its own; and a screen for those that need one."""
    browsers: dict[str, Browser] = {}
    with screen() if which("webkit") else nullcontext():
        yield browsers
        for browser in browsers.values():
            browser.close()


@pytest.fixture
def new_tab(playwright: Playwright, engine: str, running: dict[str, Browser]) -> Iterator[Open]:
    """new_tab(width=390, ...) opens a tab; all are closed after the test."""
    with ExitStack() as stack:
        yield lambda **options: stack.enter_context(tab(playwright, engine, running=running, **options))
