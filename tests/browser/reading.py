"""What a reader does on a page, and what is seen then: steps, choices, questions. The page's scripts may be off."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from playwright.sync_api import Frame
from playwright.sync_api import Page as Tab

Run = Callable[[str], Any]  # the value of a JavaScript expression in a page

# what the reader sees, read from the computed styles: the step, the rows, the newest row
SEEN = """(() => {
  const root = document.querySelector(".stepper");
  const shows = (e) => getComputedStyle(e).visibility === "visible" && e.getClientRects().length > 0;
  const row_opacity = (e) => Number(getComputedStyle(e.querySelector(".c-pos")).opacity);
  const rows = [...root.querySelectorAll(".row")].filter(shows);
  return {
    narration: [...root.querySelectorAll(".narration, .narration-played")].filter(shows).map((e) => e.textContent),
    rows: rows.length,
    fresh: rows.flatMap((e, i) => (shows(e.querySelector(".new")) ? [i] : [])),
    visible: rows.every((e) => row_opacity(e) > 0.9),
    meets: [...root.querySelectorAll(".meets")].filter((e) => shows(e.querySelector("b")))
      .map((e) => e.tBodies[0].rows.length),
    code: [...root.querySelectorAll(".phase")].filter(shows).map((e) => e.querySelector("code").textContent),
  };
})()"""
# what has begun to move is brought to its end, if it has one
SETTLED = """document.getAnimations().filter((one) => one.effect.getComputedTiming().endTime < Infinity)
  .forEach((one) => one.finish())"""

# for each choice on the page: how many panels are on show, and whether it is the chosen one
SHOWN = """[...document.querySelectorAll(".cases")].map((cases) => {
  const chosen = cases.querySelector(":scope > .pick :checked").value;
  const panels = [...cases.querySelectorAll(":scope > .panels > .C")].filter((e) => e.getClientRects().length);
  return panels.length === 1 && panels[0].classList.contains("C" + chosen); })"""
# the choices of the page in the order in which they stand: for each, how many cases it has
CHOICES = """[...document.querySelectorAll(".cases > .pick")].map((e) => e.querySelectorAll("[type=radio]").length)"""
VISIBLE = '[...document.querySelectorAll(".cases")].map((e) => e.getClientRects().length > 0)'

# of each question: what is shown of its answer, and the place of the option whose reason is
TOLD = """[...document.querySelectorAll(".ask")].map((ask) =>
  [...ask.querySelectorAll(".why, .verdict")].filter((e) => e.getClientRects().length)
    .map((e) => e.className + (e.closest(".right") ? " right" : e.closest(".wrong") ? " wrong" : "")))"""
REASON = """[...document.querySelectorAll(".ask")].map((ask) =>
  [...ask.querySelectorAll(".why")].findIndex((e) => e.getClientRects().length))"""


def settle(run: Run) -> dict[str, Any]:
    """What is seen once transitions are over."""
    run(SETTLED)
    seen: dict[str, Any] = run(SEEN)
    return seen


def assert_steps_through(run: Run) -> None:
    """Every token, chosen in an order that goes back and forth, shows its own step."""
    n = run('document.querySelectorAll("#tokens input").length')
    assert n >= 5
    run("""[...document.querySelectorAll(".stop input")].at(-1).click()""")  # the whole of each
    for i in (n - 1, 0, n // 2):
        run(f'document.querySelector("#tokens .R{i} span").click()')
        seen = settle(run)
        assert seen["rows"] == i + 1
        assert seen["fresh"] == [i]
        assert seen["visible"]
        assert seen["meets"] == [i + 1]
        assert len(seen["narration"]) == 1
        assert f"Step {i + 1}:" in str(seen["narration"][0])


def assert_choices_work(run: Run) -> None:
    """Each choice shows the chosen case alone, back and forth."""
    for which, n in enumerate(run(CHOICES)):
        if not run(f'document.querySelectorAll(".cases")[{which}].getClientRects().length'):
            continue  # inside of a case that is not on show
        for i in (n - 1, 0):
            run(f'document.querySelectorAll(".cases")[{which}].querySelector(".pick .c-{i}").click()')
            assert all(fits for fits, seen in zip(run(SHOWN), run(VISIBLE), strict=True) if seen)


def assert_questions_answer(run: Run) -> None:
    """A question shows its verdict and the reason of the option that is chosen, and nothing before."""
    assert run('document.querySelectorAll(".ask").length') >= 2
    assert not any(run(TOLD))
    for kind, why in (("wrong", "why"), ("right", "why true")):
        run(f'document.querySelectorAll(".ask").forEach((e) => e.querySelector(".{kind} input").click())')
        assert all(found == [f"verdict {kind}", why] for found in run(TOLD))
    counts = run('[...document.querySelectorAll(".ask")].map((e) => e.querySelectorAll("input").length)')
    for i in range(max(counts)):  # the reason is that of the option, by its place
        run(f'document.querySelectorAll(".ask").forEach((e) => e.querySelectorAll("input")[{i}]?.click())')
        assert all(found == i for found, n in zip(run(REASON), counts, strict=True) if i < n)


def strictest(tab: Tab, url: str, folder: Path, sandbox: str = 'sandbox=""') -> Frame:
    """A page in the strictest host there is: in a frame that may do nothing, on a page that is a file, in a tab whose
    scripts are off. What works there works in those that are laxer. Only Chromium's driver looks into it."""
    frame = f'<iframe {sandbox} width="1300" height="900" src="{url}"></iframe>'
    (folder / "host.html").write_text(f"<!doctype html><title>host</title>{frame}")
    tab.goto((folder / "host.html").as_uri())
    return tab.frames[1]
