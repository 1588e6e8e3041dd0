"""Training in the page, by the Python that runs there: it stops when told, goes on from there and begins anew."""

from microgpt.course.training.live import AT_ONCE
from microgpt.viz.session import dispatch
from tests.browser.live import html, press, turn
from tools.browsers import Page

STEPS = 'Number(document.querySelector("#trained").textContent.match(/Step ([\\d,]+)/)?.[1].replace(",", "") ?? 0)'


def test_the_model_is_trained_in_the_page(started: Page) -> None:
    page = started
    turn(page, "training.html")
    for more in (1, 60):
        page.click('button[data-hook="train"]')
        page.wait(f"{STEPS} >= {more}", 90)
        press(page, "pause")
        paused = page.run(STEPS)
        assert more <= paused < 1000
        page.pause(0.3)
        assert page.run(STEPS) == paused  # it rests
    fields = {"page": "training", "model": "names", "prompt": "emma"}
    _, patches = dispatch({"steps": paused - AT_ONCE}, "train", fields)
    said = page.run('document.querySelector("#trained").innerHTML')
    assert html({"patches": patches}, "#trained").strip() == said.strip()  # the loss, to four digits, as here
    points = page.run(
        '[...document.querySelectorAll("#loss-lines .each")].map((e) => e.points.length).reduce((a, b) => a + b, 0)'
    )
    assert points >= paused
    press(page, "watch")
    assert page.run('document.querySelectorAll("#watch .step").length') >= 4
    press(page, "reset")
    assert page.run(STEPS) == 0
    assert page.run('document.querySelector("#loss-lines").childElementCount') == 0
