"""Every page and every figure in a language of which each word is known: whatever is left in English is not translated.

In this language every word of two letters or more is a row of é. Single letters stay, as q, k, v and x do everywhere.
"""

import gettext
import re
from collections.abc import Iterable, Iterator
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import pytest

from microgpt.apps.model_that_talks import app as talks
from microgpt.apps.records import record
from microgpt.apps.who_is_she import app as refers
from microgpt.architectures.known import PRESETS
from microgpt.course import LESSONS, PAGES
from microgpt.course.no_cache.questions import HEARD
from microgpt.viz import views
from microgpt.viz.controls import figure_values
from microgpt.viz.figures import card, of_view
from microgpt.viz.page import Page
from microgpt.viz.rendering import render
from microgpt.viz.settings import Settings
from microgpt.viz.text import language
from microgpt.weights import TRAINED, shipped
from tests.support.pages import by_name, parse
from tests.support.sampled import sampled

KEPT = r"%\(\w+\)[sd]|\{\w*\}|<[^>]*>|&#?\w+;"  # in a message: what is filled in, tags, characters by name
CODE = {"code", "pre", "script", "style", "textarea"}
SAID = ("aria-label", "alt", "placeholder", "title")  # attributes that are read aloud or shown
# what has one name in all languages
FAMILIES = ("gpt2", "llama", "mistral", "qwen2", "qwen3")
OTHERS = ("Gemma", "Qwen3", HEARD, "SmolLM2-135M-Instruct", "Hugging Face")
NAMES = sorted([*PRESETS, *TRAINED, *language.LANGUAGES.values(), *FAMILIES, *OTHERS], key=len)
UNITS = r"[kMGT]B|GiB|BF16|b?float\d+"
SHORT = "exp|GQA|MHA|MIT|MLA|MLP|MQA|PNG|SVG|SnapKV"
PARTS = "wte|wpe|wq|wk|wv|wo|fc1|fc2|lm_head"  # of a model, as model.py calls them
PLACES = r"https?://\S+|huggingface\.co/\S+|[\w/-]+\.html|config\.json|temperature=…&seed=…"
PLACES += r"|--[a-z][a-z-]+( fp8)?|GPU KV cache size: [\d,]+ tokens"  # options of a command, a line of its log
GIVEN = "format|pt"  # what the makers of a file have written into it, on the page that looks inside
SAME = re.compile("|".join([PLACES, *map(re.escape, reversed(NAMES)), *(rf"\b({x})\b" for x in (UNITS, SHORT, PARTS))]))


class Known(gettext.NullTranslations):
    """A translation that has every message."""

    def gettext(self, message: str) -> str:
        parts = re.split(f"({KEPT})", message)
        parts[::2] = [re.sub(r"[A-Za-z]{2,}", lambda m: "é" * len(m[0]), part) for part in parts[::2]]
        return "".join(parts)

    def ngettext(self, one: str, more: str, n: int) -> str:
        return self.gettext(one if n == 1 else more)


@pytest.fixture(scope="module", autouse=True)
def spoken() -> Iterator[None]:
    found = language.catalogue
    with pytest.MonkeyPatch.context() as patch:
        for module in (language, render):
            patch.setattr(module, "catalogue", lambda lang: Known() if lang == "xx" else found(lang))
        patch.setitem(language.LANGUAGES, "xx", "Éé")
        with language.language("xx"):
            yield


def words_of(texts: Iterable[str], page: Page) -> set[str]:
    """What of them is English: no names, no tokens of the page's models."""
    tokens = {token for name in {page.model, *page.models} - {""} for token in shipped(name).tokenizer.vocabulary}
    if page.still:
        told = (talks.picture(text).about["vocabulary"] for text in talks.TEXTS)
        tokens |= {word for vocabulary in told for token in vocabulary for word in re.findall(r"[A-Za-z]+", token)}
        tokens |= {one["word"].strip() for sentence in record(refers.REFERS)["sentences"] for one in sentence["words"]}
    same = re.compile(rf"{SAME.pattern}|\b({GIVEN})\b") if page.name == "look-inside" else SAME
    return {*re.findall(r"[A-Za-z]{2,}", same.sub(" ", "\n".join({*texts})))} - tokens


def texts(element: Element) -> list[str]:
    """What is read and what is said, without code and tokens."""
    token = "tok" in element.get("class", "").split() or element.get("lang") == "en"  # so are titles of papers
    if token or not isinstance(element.tag, str) or element.tag.rpartition("}")[2] in CODE:
        return []
    found = [element.text or "", *(element.get(name, "") for name in SAID)]
    for child in element:
        found += [*texts(child), child.tail or ""]
    return found


@pytest.mark.parametrize("page", sampled(PAGES, PAGES[1::2], "tests/test_messages.py reads all sources"), ids=by_name)
def test_nothing_on_a_page_is_left_untranslated(page: Page) -> None:
    tree = parse(render.render_page(page, views.of(page)))
    said = texts(tree)
    assert any("éé" in text for text in said)
    assert words_of(said, page) == set()


@pytest.mark.slow("draws every figure")
@pytest.mark.parametrize("page", sampled(LESSONS, LESSONS[::5], "other figures"), ids=by_name)
def test_nothing_in_a_figure_is_left_untranslated(page: Page) -> None:
    view = views.of(page)
    film = of_view(page, Settings(page.model, page.prompt), view, figure_values(view, None), moves=True)
    for svg in (film, card(page)):
        said = texts(ElementTree.fromstring(svg))
        assert any("éé" in text for text in said)
        assert words_of(said, page) == set()


def test_what_is_not_translated_is_found() -> None:
    page = next(one for one in LESSONS if one.model == "names")._replace(models=())
    said = ["éé the Llama-3-8B, 1.2 GiB; see kv-cache.html.", "Forgotten, as x and K are not"]
    assert words_of(said, page) == {"the", "see", "Forgotten", "as", "and", "are", "not"}
    tree = ElementTree.fromstring('<p title="Forgotten">éé <b class="tok">emma</b> too<code>x = softmax(y)</code></p>')
    assert words_of(texts(tree), page) == {"Forgotten", "too"}
