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

# the last and the first case of each choice that is on show, chosen one after another: the choices that do not show the
# chosen panel alone then
CHOSEN = """(() => {
  const shown = (e) => e.checkVisibility({ visibilityProperty: true }), all = [...document.querySelectorAll(".cases")];
  const seen = (e) => getComputedStyle(e).display === "contents" ? shown(e.parentElement) : shown(e);
  const fails = (cases) => {
    const panels = [...cases.querySelectorAll(":scope > .panels > .C")].filter(seen);
    const { value } = cases.querySelector(":scope > .pick :checked");
    return panels.length !== 1 || !panels[0].classList.contains("C" + value);
  };
  return all.flatMap((cases) => {
    const picks = seen(cases) ? [...cases.querySelectorAll(":scope > .pick [type=radio]")] : [];
    return !picks.length ? [] : [picks.at(-1), picks[0]].flatMap((pick) => {
      pick.click();
      return all.filter(seen).filter(fails).map((e) => `${e.className} at ${pick.name} ${pick.value}`);
    });
  });
})()"""

# of each question: what is shown of its answer, and the place of the option whose reason is
TOLD = """asks.map((ask) =>
  [...ask.querySelectorAll(".why, .verdict")].filter((e) => e.getClientRects().length)
    .map((e) => e.className + (e.closest(".right") ? " right" : e.closest(".wrong") ? " wrong" : "")))"""
REASON = """asks.map((ask) => [...ask.querySelectorAll(".why")].findIndex((e) => e.getClientRects().length))"""
# the same at first, with a wrong option and with the right one of each; how many options they have; the reason of each
ANSWERS = f"""(() => {{
  const asks = [...document.querySelectorAll(".ask")], told = () => {TOLD}, none = told();
  const press = (option) => asks.forEach((ask) => option(ask)?.click());
  const kinds = ["wrong", "right"].map((kind) => (press((ask) => ask.querySelector(`.${{kind}} input`)), told()));
  const counts = asks.map((ask) => ask.querySelectorAll("input").length);
  const reasons = [...Array(Math.max(...counts)).keys()]
    .map((i) => (press((ask) => ask.querySelectorAll("input")[i]), {REASON}));
  return [none, ...kinds, counts, reasons];
}})()"""


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
    assert run(CHOSEN) == []


def assert_questions_answer(run: Run) -> None:
    """A question shows its verdict and the reason of the option that is chosen, and nothing before."""
    none, wrong, right, counts, reasons = run(ANSWERS)
    assert len(none) >= 2 and not any(none)
    assert all(found == ["verdict wrong", "why"] for found in wrong)
    assert all(found == ["verdict right", "why true"] for found in right)
    for i, told in enumerate(reasons):  # the reason is that of the option, by its place
        assert all(found == i for found, n in zip(told, counts, strict=True) if i < n)


def strictest(tab: Tab, url: str, folder: Path, sandbox: str = 'sandbox=""') -> Frame:
    """A page in the strictest host there is: in a frame that may do nothing, on a page that is a file, in a tab whose
    scripts are off. What works there works in those that are laxer. Only Chromium's driver looks into it."""
    frame = f'<iframe {sandbox} width="1300" height="900" src="{url}"></iframe>'
    (folder / "host.html").write_text(f"<!doctype html><title>host</title>{frame}")
    tab.goto((folder / "host.html").as_uri())
    return tab.frames[1]
