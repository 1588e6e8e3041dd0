"""The glossary: a letter leads to its first word, which the bar above does not cover; a word that is chosen stands
alone, without a script.
"""

import pytest

from tests.browser.conftest import Open
from tests.support.sampled import sampled

FIRST = """((href) => {
  const [word, bar] = [href, ".letters"].map((one) => document.querySelector(one));
  const top = (e) => e.getBoundingClientRect();
  const under = getComputedStyle(bar).position === "sticky" ? top(bar).bottom : 0;
  return [location.hash === href, top(word).top >= under - 1, top(word).top < innerHeight];
})"""


@pytest.mark.parametrize("folder", sampled(["", "es/"], {"es/"}, "other words"))
def test_a_letter_leads_to_its_word_in_sight(new_tab: Open, address: str, folder: str) -> None:
    page = new_tab(f"{address}{folder}glossary.html")
    links = page.run("[...document.querySelectorAll('.letters a')].map((e) => e.getAttribute('href'))")
    assert len(links) == len(set(links)) > 10
    for href in (links[0], links[-1], links[len(links) // 2]):
        page.click(f".letters a[href='{href}']")
        page.wait(f"location.hash === '{href}'")
        assert page.run(f"{FIRST}('{href}')") == [True, True, True], href
    assert not page.errors


def test_a_word_is_found_by_typing(new_tab: Open, engine: str, address: str) -> None:
    """Without a script one is chosen by its first letters; with one, all that have what is typed are left."""
    shown = "[...document.querySelectorAll('.glossary > div')].filter((e) => e.checkVisibility()).map((e) => e.id)"
    for scripts in (True, False) if engine == "chromium" else (True,):  # the others would need a browser of its own
        page = new_tab(f"{address}glossary.html", javascript=scripts)
        every = page.run(shown)
        assert len(every) > 30
        page.run(f"document.querySelector('{'[data-find]' if scripts else '[name=word]'}').focus()")
        for key in "soft":
            page.press(key)
        words = shown.replace("e.checkVisibility()", "/soft/i.test(e.textContent)")
        assert page.run(shown) == (page.run(words) if scripts else ["softmax"])
        for key in ["Backspace"] * 4 if scripts else []:
            page.press(key)
        page.run("document.querySelector('.letters [type=reset]').click()")
        assert page.run(shown) == every
