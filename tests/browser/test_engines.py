"""What other tests rely on: an error in a page, and what a page asks for, are seen in every engine."""

from __future__ import annotations

from tests.browser.conftest import Open


def test_errors_and_requests_are_seen(new_tab: Open, address: str) -> None:
    page = new_tab()
    page.open(f"{address}kv-cache.html")
    assert not page.errors
    page.run("(console.error('told by the page'), 0)")
    page.run("(setTimeout(() => { throw new Error('thrown by the page'); }), 0)")
    page.run("fetch('icon.svg?asked').then(() => 0)")
    page.pause(0.2)
    for what in ("told by the page", "thrown by the page"):
        assert any(what in error for error in page.errors), page.errors
    assert f"{address}icon.svg?asked" in page.requests
    assert f"{address}style.css" in page.requests
