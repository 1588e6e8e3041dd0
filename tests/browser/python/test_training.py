"""Training in the page: real Pyodide, the published losses and names; it stops when told and goes on from there."""

from tests.browser.conftest import Open
from tests.browser.live import STATE, open_live, press
from tools.browsers import Page

STEPS = 'Number(document.querySelector("#trained").textContent.match(/Step ([\\d,]+)/)?.[1].replace(",", "") ?? 0)'


def wait(page: Page, condition: str) -> None:
    page.wait(condition, 90)


def test_the_model_is_trained_in_the_page(new_tab: Open, address: str) -> None:
    page = new_tab()
    open_live(page, address + "training.html")
    page.click('button[data-hook="train"]')
    wait(page, f"{STEPS} >= 100")
    press(page, "pause")
    paused = page.run(STEPS)
    assert 100 <= paused < 1000
    page.pause(0.3)
    assert page.run(STEPS) == paused  # it rests
    page.click('button[data-hook="train"]')
    wait(page, f'{STEPS} === 1000 && {STATE} === "ready"')
    written = page.run('document.querySelector("#written").lastElementChild.textContent')
    assert "kamon, ann, karai, jaire, vialan, karia" in written  # the first of the published samples
    points = page.run(
        '[...document.querySelectorAll("#loss-lines .each")].map((e) => e.points.length).reduce((a, b) => a + b, 0)'
    )
    assert points >= 1000
    press(page, "watch")
    assert page.run('document.querySelectorAll("#watch .step").length') >= 4
    press(page, "reset")
    assert page.run(STEPS) == 0
    assert page.run('document.querySelector("#loss-lines").childElementCount') == 0
    assert not page.errors
