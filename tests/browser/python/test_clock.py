"""What is measured in the page: seconds of this browser, and ratios that are theirs."""

import re

import pytest

from tests.browser.live import turn
from tools.browsers import Page


def measured(page: Page, name: str, hook: str, done: str) -> str:
    """What is said under that button when it has been pressed and its measurement is over."""
    turn(page, f"{name}.html")
    if hook == "race":
        page.run('document.querySelector("[name=race_length]").value = "64"')
    page.click(f'button[data-hook="{hook}"]')
    told = f'document.querySelector("#{"race" if hook == "race" else "grown"}").textContent'
    page.wait(f'{told}.includes("Lap")', 90)
    page.wait(f'{told}.includes("{done}")', 90)
    said = " ".join(str(page.run(told)).split())
    assert "Measured in: " + str(page.run("navigator.userAgent")) in said
    return said


def numbers(pattern: str, text: str) -> list[float]:
    return [float(found.replace(",", "")) for found in re.findall(pattern, text)]


@pytest.mark.thorough("the same clock as below, in four seconds in place of one")
def test_the_race_is_run_by_the_browsers_clock(started: Page) -> None:
    said = measured(started, "with-and-without", "race", "Milliseconds per token")
    cached, naive = numbers(r"([\d,.]+) ms", said)
    (ratio,) = numbers(r"the cache is ([\d.,]+) times as quick", said)
    assert 0 < cached < naive
    assert abs(ratio - naive / cached) <= 0.02 * ratio  # the figures are rounded


def test_grown_and_reserved_are_timed_by_the_browsers_clock(started: Page) -> None:
    said = measured(started, "in-your-code", "grow", "Milliseconds per text")
    grown, reserved, _ = numbers(r"([\d,.]+) ms", said)
    (ratio,) = numbers(r"Concatenating takes ([\d.,]+) times", said)
    assert 0 < reserved < grown
    assert abs(ratio - grown / reserved) <= 0.05 * ratio + 0.1  # the figures are rounded
