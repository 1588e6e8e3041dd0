"""The glossary's letters: each leads to its first word, which the row of letters does not cover."""

import pytest

from tests.browser.conftest import Open

FIRST = """((href) => {
  const [word, bar] = [href, ".letters"].map((one) => document.querySelector(one));
  const top = (e) => e.getBoundingClientRect();
  const under = getComputedStyle(bar).position === "sticky" ? top(bar).bottom : 0;
  return [location.hash === href, top(word).top >= under - 1, top(word).top < innerHeight];
})"""


@pytest.mark.parametrize("folder", ["", "es/"])
def test_a_letter_leads_to_its_word_in_sight(new_tab: Open, address: str, folder: str) -> None:
    page = new_tab()
    page.open(f"{address}{folder}glossary.html")
    links = page.run("[...document.querySelectorAll('.letters a')].map((e) => e.getAttribute('href'))")
    assert len(links) == len(set(links)) > 10
    for href in (links[0], links[-1], links[len(links) // 2]):
        page.click(f".letters a[href='{href}']")
        page.wait(f"location.hash === '{href}'")
        assert page.run(f"{FIRST}('{href}')") == [True, True, True], href
    assert not page.errors
