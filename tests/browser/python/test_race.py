"""The race in the page: real Pyodide, seconds of this browser, and a ratio that is theirs."""

import re

from tests.browser.conftest import Open
from tests.browser.live import open_live
from tools.browsers import Page

TEXT = 'document.querySelector("#race").textContent'


def test_the_race_is_run_by_the_browsers_clock(new_tab: Open, address: str) -> None:
    page: Page = new_tab()
    open_live(page, address + "with-and-without.html")
    page.run('document.querySelector("[name=race_length]").value = "64"')
    page.click('button[data-hook="race"]')
    page.wait(f'{TEXT}.includes("Lap")', 90)
    page.wait(f'{TEXT}.includes("Milliseconds per token")', 90)
    said = str(page.run(TEXT))
    cached, naive = (float(found.replace(",", "")) for found in re.findall(r"([\d,.]+) ms", said))
    ratio = float(re.findall(r"the cache is ([\d.,]+) times as quick", said)[0].replace(",", ""))
    assert 0 < cached < naive
    assert abs(ratio - naive / cached) <= 0.02 * ratio  # the figures are rounded
    assert "Measured in: " + str(page.run("navigator.userAgent")) in " ".join(said.split())
    assert not page.errors
