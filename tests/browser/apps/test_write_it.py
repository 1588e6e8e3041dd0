"""An exercise in a browser: it is written, run and solved, and all of that is there after a reload."""

import json

from microgpt.workbench.exercises import EXERCISES, exercise
from tests.browser.conftest import Open
from tests.browser.live import STATE, soon
from tools.browsers import PlaywrightPage

ONE = exercise("append")
EDITORS = 'document.querySelectorAll(".editor").length'
FOCUS = '(document.querySelector("#append .editor").shadowRoot.querySelector(".cm-content").focus(), 0)'
PASTE = f"""(() => {{ const data = new DataTransfer();
  data.setData("text/plain", {json.dumps(ONE.solution)});
  const event = new ClipboardEvent("paste", {{ clipboardData: data, bubbles: true, cancelable: true }});
  const {{ shadowRoot }} = document.querySelector("#append .editor");
  return shadowRoot.querySelector(".cm-content").dispatchEvent(event); }})()"""
VALUE = 'document.querySelector("[name=append]").value'
RESULT = 'document.querySelector("#result-append").textContent'
SOLVED = '[...document.querySelectorAll("[data-kept]:checked")].map((e) => e.name).join(" ")'
COUNT = """[getComputedStyle(document.querySelector(".exercise")).counterIncrement,
  document.querySelector("#tick-append").checkVisibility()].join(" ")"""


def test_an_exercise_is_solved_and_stays_so(new_tab: Open, address: str) -> None:
    page = new_tab(f"{address}write-it.html")
    assert isinstance(page, PlaywrightPage)
    assert soon(page, lambda: page.run(EDITORS) == 1)  # of the one that is open
    page.run(FOCUS)
    page.press("ControlOrMeta+Enter")
    assert soon(page, lambda: "still to be written" in page.run(RESULT), 90), page.run(RESULT)
    page.run(FOCUS)
    page.press("ControlOrMeta+a")
    page.run(PASTE)
    page.press("ControlOrMeta+Enter")
    passed = f"All {len(ONE.laws)} tests pass."
    assert soon(page, lambda: passed in page.run(RESULT) and page.run(STATE) == "ready", 30), page.run(RESULT)
    assert page.run(SOLVED) == "solved-append" and page.run(COUNT) == "solved 1 true"
    page.reload()
    assert soon(page, lambda: page.run(VALUE).strip() == ONE.solution.strip())
    assert page.run(SOLVED) == "solved-append" and page.run(COUNT) == "solved 1 true"
    assert passed not in page.run(RESULT)  # nothing runs by itself
    page.run('(document.querySelector("#attend").parentElement.open = true, 0)')
    assert soon(page, lambda: page.run(EDITORS) == 2 < len(EXERCISES))
    assert page.errors == []
