"""What is measured in the page: seconds of this browser, and ratios that are theirs. The race has the same clock:
tests/course/with_and_without/test_race.py."""

import re

from tests.browser.live import turn
from tools.browsers import Page


def numbers(pattern: str, text: str) -> list[float]:
    return [float(found.replace(",", "")) for found in re.findall(pattern, text)]


def test_grown_and_reserved_are_timed_by_the_browsers_clock(started: Page) -> None:
    turn(started, "in-your-code.html")
    started.click('button[data-hook="grow"]')
    told = 'document.querySelector("#grown").textContent'
    for word in ("Lap", "Milliseconds per text"):
        started.wait(f'{told}.includes("{word}")', 90)
    said = " ".join(str(started.run(told)).split())
    assert "Measured in: " + str(started.run("navigator.userAgent")) in said
    grown, reserved, _ = numbers(r"([\d,.]+) ms", said)
    (ratio,) = numbers(r"Concatenating takes ([\d.,]+) times", said)
    assert 0 < reserved < grown
    assert abs(ratio - grown / reserved) <= 0.05 * ratio + 0.1  # the figures are rounded
