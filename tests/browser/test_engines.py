"""What other tests rely on: an error in a page, and what a page asks for, are seen in every engine."""

import time

import pytest

from tests.browser.conftest import CRASHED, Open


def test_errors_and_requests_are_seen(new_tab: Open, address: str) -> None:
    page = new_tab(f"{address}kv-cache.html")
    assert not page.errors
    page.run("(console.error('told by the page'), 0)")
    page.run("(setTimeout(() => { throw new Error('thrown by the page'); }), 0)")
    page.run("fetch('icon.svg?asked').then(() => 0)")
    expected = ["told by the page", "thrown by the page", f"{address}icon.svg?asked", f"{address}style.css"]
    end = time.monotonic() + 20  # drivers tell of it a moment later
    while missing := [one for one in expected if one not in " ".join([*page.errors, *page.requests])]:
        assert time.monotonic() < end, missing
        page.pause(0.02)


@pytest.mark.engines("it is WebKit that crashes", "webkit")
def test_a_test_is_run_once_more_where_webkit_has_crashed_and_for_nothing_else(
    request: pytest.FixtureRequest, engine: str
) -> None:
    again = [(mark.args, mark.kwargs) for mark in request.node.iter_markers("flaky")]
    assert again == [((), {"reruns": 1, "only_rerun": CRASHED})] * (engine == "webkit")
