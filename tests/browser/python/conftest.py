"""One Python for all tests of this folder that do not try its start."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Playwright

from tests.browser.live import open_live, press, turn
from tools.browsers import ONE_COMPILER, Page, tab

FIRST = "kv-cache.html"


@pytest.fixture(scope="package")
def started(playwright: Playwright, engine: str, running: dict[str, Any], address: str) -> Iterator[Page]:
    """A tab in which Python is up: started once, it serves one page after the other (`turn`)."""
    with tab(playwright, engine, running=running, flags=[ONE_COMPILER]) as opened:
        open_live(opened, address + FIRST)
        press(opened, "next")
        yield opened
        assert not [
            error for error in opened.errors if "inline style" not in error
        ]  # of other pages: this one's policy
        assert all(url.startswith((address, "blob:")) for url in opened.requests)


@pytest.fixture
def page(started: Page) -> Page:
    """That tab at the stepper; each test sets what it needs."""
    if started.run(f"window.turned && window.turned !== '{FIRST}'"):
        turn(started, FIRST)
        press(started, "next")
    return started
