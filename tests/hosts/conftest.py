"""The site on one port; what a host builds around it, on another; a tab that has come to look."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from playwright.sync_api import Page as Tab
from playwright.sync_api import Playwright, sync_playwright

from tests.browser.conftest import address  # noqa: F401
from tools.browsers import own, tab, which
from tools.server import serving

Visit = Callable[[Path, str], Tab]


@pytest.fixture(scope="module")
def driver() -> Iterator[Playwright]:
    """One a module: a process has room for one at a time, and other modules here start their own."""
    with sync_playwright() as started:
        yield started


@pytest.fixture
def visit(driver: Playwright) -> Iterator[Visit]:
    """visit(folder, page) serves the folder and opens its page."""
    if not which("chromium") and not own(driver, "chromium"):
        pytest.skip("Chromium is not installed")
    with ExitStack() as stack:

        def open_page(folder: Path, page: str) -> Tab:
            url = stack.enter_context(serving(folder))
            opened = stack.enter_context(tab(driver, "chromium", width=1200))
            opened.open(url + page)
            found: Tab = opened.tab  # type: ignore[attr-defined]
            return found

        yield open_page
