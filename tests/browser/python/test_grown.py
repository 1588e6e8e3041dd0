"""Grown or reserved, in the page: real Pyodide, seconds of this browser, and a ratio that is theirs."""

import re

from tests.browser.conftest import Open
from tests.browser.live import open_live
from tools.browsers import Page

TEXT = 'document.querySelector("#grown").textContent'
NOW = "performance.now()"


def test_both_ways_are_timed_by_the_browsers_clock(new_tab: Open, address: str) -> None:
    page: Page = new_tab()
    open_live(page, address + "in-your-code.html")
    page.click('button[data-hook="grow"]')
    page.wait(f'{TEXT}.includes("Milliseconds per text")', 90)
    said = " ".join(str(page.run(TEXT)).split())
    grown, reserved, _ = (float(found.replace(",", "")) for found in re.findall(r"([\d,.]+) ms", said))
    ratio = float(re.findall(r"Concatenating takes ([\d.,]+) times", said)[0].replace(",", ""))
    assert 0 < reserved < grown
    assert abs(ratio - grown / reserved) <= 0.05 * ratio + 0.1  # the figures are rounded
    assert "Measured in: " + str(page.run("navigator.userAgent")) in said
    began = float(str(page.run(NOW)))
    page.click('button[data-hook="grow"]')  # Python is there
    page.wait(f'{TEXT}.includes("Lap")')
    page.wait(f'{TEXT}.includes("Milliseconds per text")', 90)
    assert float(str(page.run(NOW))) - began < 10_000  # under two seconds alone
    assert not page.errors
