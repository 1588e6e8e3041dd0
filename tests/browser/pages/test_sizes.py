"""A low frame holds the whole machine and its controls; on a phone a choice moves nothing below it."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.support.sampled import sampled


@pytest.mark.parametrize("name", sampled(["kv-cache", "kv-cache-words"], {"kv-cache-words"}, "a smaller machine"))
def test_a_low_frame_holds_the_whole_machine(chromium: Browser, site: Path, name: str) -> None:
    tab = chromium.new_page(viewport={"width": 750, "height": 450})
    tab.goto((site / "embed" / f"{name}.html").as_uri())
    for part in (".tokens", ".stage", ".phases", ".nav", ".heads"):
        box = tab.locator(part).bounding_box()
        assert box and box["y"] >= 0 and box["y"] + box["height"] <= 450, part
    tab.locator(".stop").nth(1).click()  # its sentence takes two lines, and lies on nothing
    said, plate = (tab.locator(f"{one}:visible").first.bounding_box() for one in (".captions .P2", ".plate.k"))
    assert said and plate and said["y"] > plate["y"] + 0.8 * plate["height"]
    tab.context.close()


@pytest.mark.parametrize("name", ["shared-prefixes", "fewer-heads", "full-cache", "pages", "memory"])
def test_on_a_phone_a_choice_moves_nothing_below_it(chromium: Browser, site: Path, name: str) -> None:
    tab = chromium.new_page(viewport={"width": 390, "height": 844}, reduced_motion="reduce")
    tab.goto((site / f"{name}.html").as_uri())
    highs = tab.locator("#widget").evaluate(
        """(widget) => [...widget.querySelectorAll(".cases > .pick input[type=radio]")].map((one) => {
            one.checked = true;
            return [one.id, Math.round(widget.getBoundingClientRect().height)];
        })"""
    )
    tab.context.close()
    assert len(highs) > 3 and max(high for _, high in highs) - min(high for _, high in highs) <= 16, highs
