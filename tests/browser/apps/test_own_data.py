"""Words of a reader's own in a browser: learned with a pause, kept, run in a lesson of another page, forgotten."""

import json
import os
import re

from tests.browser.conftest import Open
from tests.browser.live import STATE, open_live, press, soon
from tools.browsers import Page, PlaywrightPage

WORDS = (
    "Άννα Γιώργος Δήμητρα Ελένη Ζωή Θωμάς Ιωάννα Κώστας Λένα Μαρία Νίκος Ξένια Παύλος Ρένα Σοφία Τάσος Φώτης Χρήστος "
    "Ψάλτης Ωριάνα"
).split()
FILL = '(document.querySelector("[name=data]").value = {}, 0)'
COUNTED = 'document.querySelector("#run .counted").textContent'


def done(page: Page) -> int:
    return int(re.findall(r"Step ([\d,]+) of", page.run(COUNTED))[0].replace(",", ""))


def test_words_are_learned_kept_and_run_in_a_lesson(new_tab: Open, address: str) -> None:
    page = new_tab()
    assert isinstance(page, PlaywrightPage)
    open_live(page, f"{address}train-your-own.html")
    assert done(page) == 1000  # of the cities, without Python
    page.run(FILL.format(json.dumps("\n".join(WORDS))))
    page.click("button[data-hook=train]")
    assert soon(page, lambda: 0 < done(page) < 1000, 90)
    page.click("button[data-hook=stop]")
    assert soon(page, lambda: page.run(STATE) == "ready")
    before = done(page)
    assert 0 < before < 1000
    page.pause(0.5)
    assert done(page) == before
    page.click("button[data-hook=train]")
    assert soon(page, lambda: done(page) > before)
    page.click("button[data-hook=stop]")
    assert soon(page, lambda: page.run(STATE) == "ready")
    press(page, "watch")
    assert "Ά" in page.run('document.querySelector("#watch").textContent')
    press(page, "use")
    assert "Kept" in page.run('document.querySelector("#kept").textContent')
    assert page.run('document.querySelector("#prompt-error").textContent') == ""
    lesson = PlaywrightPage(page.tab.context.new_page())
    lesson.open(f"{address}kv-cache.html?model=own")  # with a Python of its own, which reads what is kept
    assert soon(page, lambda: lesson.run('document.querySelector("#prompt").value') == "Άνν", 90)
    assert "Ά" in lesson.run('document.querySelector("#widget").textContent')
    press(page, "forget")
    assert "No model of yours" in page.run('document.querySelector("#kept").textContent')
    if os.environ.get("EVERYTHING"):  # a third start of Python
        lesson.reload()
        told = 'document.querySelector("#prompt-error").textContent'
        assert soon(page, lambda: "keeps no model" in lesson.run(told), 90)
    assert page.errors == lesson.errors == []
