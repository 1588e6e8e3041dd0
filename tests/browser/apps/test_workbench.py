"""The workbench in a browser: a bug is loaded, seen and undone; what is typed runs, is marked and stays."""

import re

from microgpt.workbench.original import original
from microgpt.workbench.shelf import BUGS
from tests.browser.conftest import Open
from tests.browser.live import STATE, soon
from tools.browsers import Page, PlaywrightPage

VALUE = 'document.querySelector("[name=code]").value'
INSIDE = 'document.querySelector("#code .editor").shadowRoot'
FOCUS = f'({INSIDE}.querySelector(".cm-content").focus(), 0)'
MARKED = f'[...{INSIDE}.querySelectorAll(".cm-lintRange-error")].map((e) => e.textContent).join("")'
FINDINGS = 'document.querySelector("#findings").textContent'
VERDICT = 'document.querySelector("#verdict").textContent'
BUG = next(one for one in BUGS if one.name == "mask-corner")


def said(page: Page) -> str:
    return re.sub(r"\s+", " ", page.run(VERDICT)).strip()


def until(page: Page, word: str, seconds: float = 90) -> None:
    """Wait for an answer with this word in its verdict."""
    assert soon(page, lambda: word in said(page) and page.run(STATE) == "ready", seconds), said(page)


def test_from_a_bug_in_an_address_to_code_of_one_s_own(new_tab: Open, address: str) -> None:
    page = new_tab()
    assert isinstance(page, PlaywrightPage)
    page.open(f"{address}workbench.html?bug={BUG.name}")
    until(page, BUG.title)
    assert "in_threes" in said(page) and page.run(VALUE).strip() == BUG.text().strip()
    changed = next(line for line in BUG.text().splitlines() if line not in original().splitlines())
    assert page.run(MARKED) in changed.strip() and page.run(MARKED)
    page.click("button[data-hook=undo]")
    until(page, "All 1")
    assert page.run(VALUE).strip() == original().strip() and page.run(MARKED) == ""
    page.run(FOCUS)
    page.press("ControlOrMeta+Home")
    page.tab.keyboard.type("print(1)  # ")
    page.press("ControlOrMeta+Enter")
    until(page, "Line 3: Python cannot read this line")
    assert page.run(MARKED) == "from __future__ import annotations"
    assert page.run('document.querySelectorAll("#tokens .T").length') > 3  # the machine stays
    page.reload()
    assert soon(page, lambda: bool(page.run(VALUE).startswith("print(1)  # ")))  # and nothing has run by itself
    assert "Line 3" not in said(page)
    page.click("button[data-hook=undo]")
    until(page, "All 1")
    page.tab.locator(".own-hook > summary").click()
    page.tab.select_option("[name=prepared]", "csv")
    assert soon(page, lambda: "weights.csv" in page.run(FINDINGS))
    with page.tab.expect_download() as saved:
        page.click("button[data-hook=save-files]")
    assert saved.value.path().read_text("utf-8").startswith("step,layer,head,row,weight\n1,0,0,0,1.0\n")
    page.run(FOCUS.replace("#code", "#own-hook"))
    page.press("ControlOrMeta+Home")
    page.tab.keyboard.type("print(6 * 7)\n1 / 0\n")
    page.press("ControlOrMeta+Enter")
    until(page, "hook.py: Line 2: Python stops here: ZeroDivisionError")
    assert page.run(MARKED.replace("#code", "#own-hook")) == "1 / 0" and page.run(MARKED) == ""
    until(page, "All 1")  # the program is as it was
    assert "42" in page.run(FINDINGS) and page.run('document.querySelectorAll("#tokens .T").length') > 3
    page.click("button[data-hook=undo]")
    assert soon(page, lambda: "ZeroDivisionError" not in said(page))
    page.reload()
    assert soon(page, lambda: bool(page.run(VALUE).strip() == original().strip()))
    assert page.errors == []
