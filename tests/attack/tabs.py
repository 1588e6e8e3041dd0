"""Many tabs at once, in three engines: while one waits, another goes on."""

import json
import re
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import groupby
from typing import Any

from playwright.sync_api import Browser, Playwright, sync_playwright

from tests.attack.part import Seen
from tests.browser.live import LINE, STATE
from tools.browsers import ENGINES, Page, own, tab, which

AT_ONCE = {"chromium": 4, "firefox": 4, "webkit": 1}  # WebKit's driver knows one tab; it is opened anew for each case
PATIENCE = 120  # seconds for anything to come to an end

ROWS = """[...document.querySelectorAll(".stepper .row")].filter(
  (e) => getComputedStyle(e).visibility === "visible" && e.getClientRects().length > 0).length"""

Wait = Generator[None, None, Any]
Trial = Callable[[Page, str], Wait]  # what one case does in a tab; what it returns is the kind of its end


def engines() -> list[str]:
    """Those that are here."""
    with sync_playwright() as playwright:
        return [name for name in ENGINES if which(name) or own(playwright, name)]


def tried(cases: Sequence[str], trial: Trial) -> Iterator[Seen]:
    """All cases, each in a tab of its own. The engine is the first word of a case."""
    with sync_playwright() as playwright:
        for engine, names in groupby(sorted(cases), lambda case: case.split(":")[0]):
            with ExitStack() as stack:
                running: dict[str, Browser] = {}
                yield from in_turns(list(names), trial, AT_ONCE[engine], opener(playwright, engine, running, stack))
                for browser in running.values():
                    browser.close()


def opener(playwright: Playwright, engine: str, running: dict[str, Browser], stack: ExitStack) -> Any:
    """How a case gets its tab: a fresh profile, or in WebKit, which takes a second for one, a fresh address."""
    if engine != "webkit":
        return lambda: tab(playwright, engine, running=running)
    page = stack.enter_context(tab(playwright, engine))

    @contextmanager
    def again() -> Iterator[Page]:
        yield page

    return again


def in_turns(names: list[str], trial: Trial, most: int, open_tab: Any) -> Iterator[Seen]:
    going: list[tuple[str, Wait, ExitStack]] = []
    while names or going:
        while names and len(going) < most:
            stack = ExitStack()
            page = stack.enter_context(open_tab())
            going.append((names[0], trial(page, names.pop(0)), stack))
        for one in list(going):
            name, wait, stack = one
            try:
                next(wait)
                continue
            except StopIteration as end:
                seen = Seen(name, kind=end.value)
            except Exception as error:
                seen = Seen(name, f"{type(error).__name__}: {str(error).splitlines()[0][:200]}", "failures")
            going.remove(one)
            stack.close()
            yield seen
        time.sleep(0.02)


# ---- what is done in a tab --------------------------------------------------------------------------


def until(page: Page, condition: str, seconds: float = PATIENCE) -> Wait:
    end = time.monotonic() + seconds
    while not page.holds(condition):
        if time.monotonic() > end:
            raise AssertionError(f"not within {seconds:.0f} s: {condition} (the line says “{page.run(LINE)}”)")
        yield


def pressed(page: Page, hook: str) -> Wait:
    """Press a button, and wait for the end: the answer, or None when the page says why there is none."""
    before = page.run("window.answers.length")
    page.click(f'button[data-hook="{hook}"]')
    over = f'{STATE} === "failed" || (window.answers.length > {before} && {STATE} === "ready")'
    yield from until(page, over)
    if page.run(STATE) == "failed":
        return None
    return json.loads(page.run("window.answers.at(-1)"))


def readable(line: str) -> str:
    """What is wrong with a line that says why Python is not there."""
    quoted = r"(?<=ended with an error )\(.{3,200}\)(?=\. Press)"  # whatever the error says
    ours = re.sub(quoted, "", line)
    wrong = [part for part in ("undefined", "null", "NaN", "[object", "{", "}", "…") if part in ours]
    if "keeps working" not in line or wrong:
        return f"an unreadable line: {line}"
    return ""


def stepping(page: Page) -> Wait:
    """The page steps, whatever became of Python: the first and the last token show their rows."""
    n = page.run('document.querySelectorAll("#tokens input").length')
    for i in (n - 1, 0, n - 1):
        page.click(f"#tokens .R{i} span")
        yield from until(page, f"{ROWS} === {i + 1}", 10)
