"""The workbench in a browser: a bug is loaded, seen and undone; what is typed runs, is marked and stays; a link brings
an edit; a frame tells its host that a task is done."""

import re
from pathlib import Path

import pytest

from microgpt.apps.workbench.link import link_of
from microgpt.workbench.original import original
from microgpt.workbench.shelf import BUGS
from tests.browser.conftest import Open
from tests.browser.live import STATE, soon
from tools.browsers import Page, PlaywrightPage
from tools.server import serving

VALUE = 'document.querySelector("[name=code]").value'
INSIDE = 'document.querySelector("#code .editor").shadowRoot'
FOCUS = f'({INSIDE}.querySelector(".cm-content").focus(), 0)'
MARKED = f'[...{INSIDE}.querySelectorAll(".cm-lintRange-error")].map((e) => e.textContent).join("")'
TOP = f"""(() => {{ const at = {INSIDE}.querySelector(".cm-scroller").getBoundingClientRect().top + 8;
const lines = [...{INSIDE}.querySelectorAll(".cm-line")];
return lines.find((e) => e.getBoundingClientRect().bottom > at).textContent; }})()"""
FINDINGS = 'document.querySelector("#findings").textContent'
VERDICT = 'document.querySelector("#verdict").textContent'
UNDO = ".bench button[type=reset]"
HOST = """<!doctype html><title>host</title><link rel="icon" href="data:,"><script src="listen.js"></script>
<iframe sandbox="allow-scripts" src="{}" width="700" height="900"></iframe>"""
LISTEN = "heard = []; addEventListener('message', ({ data }) => data.type === 'microgpt:goal' && heard.push(data))"
BUG = next(one for one in BUGS if one.name == "mask-corner")


def said(page: Page) -> str:
    return re.sub(r"\s+", " ", page.run(VERDICT)).strip()


def until(page: Page, word: str, seconds: float = 90) -> None:
    """Wait for an answer with this word in its verdict."""
    assert soon(page, lambda: word in said(page) and page.run(STATE) == "ready", seconds), said(page)


def test_from_a_bug_in_an_address_to_code_of_one_s_own(new_tab: Open, address: str) -> None:
    page = new_tab(f"{address}workbench.html?bug={BUG.name}")
    assert isinstance(page, PlaywrightPage)
    until(page, BUG.title)
    assert "in_threes" in said(page) and page.run(VALUE).strip() == BUG.text().strip()
    changed = next(line for line in BUG.text().splitlines() if line not in original().splitlines())
    assert page.run(MARKED) in changed.strip() and page.run(MARKED)
    page.click(UNDO)
    until(page, "All 1")
    assert page.run(VALUE).strip() == original().strip() and page.run(MARKED) == ""
    page.run("history.replaceState(null, '', 'workbench.html')")  # which asks for no bug when it is loaded anew
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
    assert soon(page, lambda: bool(page.run(TOP).startswith("# ---- the cache")))  # no reader needs to see the imports
    page.click(UNDO)
    assert page.run(VALUE).strip() == original().strip()
    assert page.errors == []


@pytest.mark.thorough("what hooks say: tests/workbench/test_hooks.py")
def test_a_hook_runs_beside_the_program_and_says_its_own_line(new_tab: Open, address: str) -> None:
    page = new_tab(f"{address}workbench.html")
    assert isinstance(page, PlaywrightPage)
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
    page.click(UNDO)
    assert soon(page, lambda: "ZeroDivisionError" not in said(page))
    page.reload()
    assert soon(page, lambda: bool(page.run(VALUE).strip() == original().strip()))
    assert page.errors == []


@pytest.mark.thorough("runs nothing: tests/workbench/test_links.py; an undo: tests/browser/apps/test_editor.py")
def test_a_link_shows_what_it_changes_and_nothing_of_it_runs_before_a_press(new_tab: Open, address: str) -> None:
    """What stands in the editor stays until then, and is there again after an undo."""
    page = new_tab(f"{address}workbench.html")
    assert isinstance(page, PlaywrightPage)
    page.run(FOCUS)
    page.press("ControlOrMeta+Home")
    page.tab.keyboard.type("# mine ")
    before = [page.run(f"document.querySelector('#{name}').innerHTML") for name in ("verdict", "widget", "findings")]
    page.open(f"{address}workbench.html{link_of(BUG.text(), prompt='zoe')}")
    assert soon(
        page, lambda: page.run(f"document.querySelectorAll('#edit ins').length === 1 && {STATE} === 'ready'"), 90
    )
    added = next(line.strip() for line in BUG.text().splitlines() if line not in original().splitlines())
    assert page.run("document.querySelector('#edit ins').textContent").endswith(added)
    assert page.run(VALUE).startswith("# mine ")
    after = [page.run(f"document.querySelector('#{name}').innerHTML") for name in ("verdict", "widget", "findings")]
    assert after == before
    page.click("button[data-hook=take]")
    until(page, "in_threes")
    assert (
        page.run(VALUE).strip() == BUG.text().strip() and page.run("document.querySelector('#prompt').value") == "zoe"
    )
    page.run(FOCUS)
    page.press("ControlOrMeta+z")
    assert page.run(VALUE).startswith("# mine ")
    assert page.errors == []


@pytest.mark.thorough("what it is told, and when: tests/workbench/test_links.py")
def test_a_frame_tells_its_host_once_the_task_is_done(new_tab: Open, address: str, tmp_path: Path) -> None:
    """In a sandbox, where only what is open has an editor."""
    url = f"{address}embed/workbench.html?open=causal_mask&goal=in_threes&bug={BUG.name}"
    (tmp_path / "host.html").write_text(HOST.format(url.replace("&", "&amp;")), "utf-8")
    (tmp_path / "listen.js").write_text(LISTEN, "utf-8")
    with serving(tmp_path) as host:
        page = new_tab(f"{host}host.html")
        assert isinstance(page, PlaywrightPage)
        inner = page.tab.frames[1]
        said = inner.locator("#verdict")
        inner.get_by_text("Your task").wait_for(timeout=90_000)
        assert inner.locator("textarea").count() == inner.locator(".cm-content").count() == 1
        inner.locator(".cm-content").click()
        page.press("ControlOrMeta+Enter")
        said.get_by_text("checks fail").wait_for(timeout=90_000)
        assert page.run("heard") == []
        lines = original().split("\n")
        begin = lines.index(next(line for line in lines if line.startswith("def causal_mask")))
        end = next(i for i in range(begin + 1, len(lines)) if lines[i][:1].strip(" )"))
        inner.locator(".cm-content").click()
        page.press("ControlOrMeta+a")
        page.press("Delete")  # or the engine styles what takes its place, which the policy forbids
        page.tab.keyboard.insert_text("\n".join(lines[begin:end]).strip())
        page.press("ControlOrMeta+Enter")
        said.get_by_text("Done").wait_for(timeout=90_000)
        page.wait("heard.length > 0")
        assert page.run("heard") == [{"type": "microgpt:goal", "goal": "in_threes"}]
        assert page.errors == []
