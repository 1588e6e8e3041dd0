"""All text can be translated: the catalogue is complete, and the templates hold no text outside it."""

import io
import re
from pathlib import Path
from typing import Any

import pytest
from babel.messages import Catalog
from babel.messages.mofile import read_mo, write_mo
from babel.messages.pofile import read_po, write_po
from hypothesis import given, settings
from hypothesis import strategies as st

from microgpt.course import LESSONS
from microgpt.viz import views
from microgpt.viz.drawing.phases import PHASES
from microgpt.viz.rendering.render import HERE, render_baked, render_embed, render_page
from microgpt.viz.text.language import LANGUAGES, language
from microgpt.viz.text.po import compile_po
from microgpt.workbench.exercises import EXERCISES, exercise
from microgpt.workbench.exercises import messages as messages_of_exercise
from tests.support.catalogue import extracted, marked, messages_of
from tests.support.examples import examples
from tests.support.templates import templates

ROOT = Path(__file__).resolve().parents[1]
TRANSLATIONS = sorted((ROOT / "locale").glob("*/LC_MESSAGES/messages.po"))


def messages(text: str) -> dict[Any, Any]:
    """The messages of a .pot or a .po, each by its id: one string, or both of a plural."""
    return {message.id: message for message in read_po(io.StringIO(text)) if message.id}


def singly(catalogue: dict[Any, Any]) -> set[str]:
    return {text for id in catalogue for text in ((id,) if isinstance(id, str) else id)}


@pytest.mark.parametrize("path", TRANSLATIONS, ids=lambda p: p.parts[-3])
def test_a_translation_holds_every_text_of_python_and_of_templates_and_no_other(path: Path) -> None:
    python = {text for path in sorted((ROOT / "microgpt").rglob("*.py")) for text in marked(path)}
    python |= {text for name in EXERCISES for text in messages_of_exercise(exercise(name))}
    written = {text for path in TEMPLATES for text in messages_of(path.read_text("utf-8"))}
    assert {phase.sentence for phase in PHASES} <= python and len(python) > 400 and len(written) > 700
    assert python | written == singly(messages(path.read_text("utf-8"))), (
        "run: make messages, and translate what is new"
    )


TEMPLATES = templates("html", "svg")


def unmarked(source: str) -> set[str]:
    no_text = r"<code>.*?</code>|<style>.*?</style>|\{#.*?#\}|\{% trans.*?endtrans %\}|\{%.*?%\}|\{\{.*?\}\}"
    text = re.sub(no_text, "", source, flags=re.S)
    said = re.findall(r"\b(?:aria-label|title|alt|placeholder)=\"([^\"]*)\"", text)
    text = re.sub(r"<!?[a-z/][^>]*>", "\n", text, flags=re.I | re.S)
    return {line.strip(' .,;·:±×÷=+<>"[]()') for line in [*text.splitlines(), *said]} - {""}


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_templates_hold_no_text_outside_the_catalogue(path: Path) -> None:
    """What reaches a page or a figure some other way is found in tests/viz/test_untranslated.py."""
    signs = "‹ › ▶ ▶▶ ❚❚ ✕ ← → ↑ ↓ ≤ ≠ ✓ ✗ ■ ? … % −∞"
    allowed = {*f"SVG exp(s PNG B K V T d e s q k v x S Q W F {signs}".split(), "K ", "V "}
    examples = {
        "https://example.org/course/",
        "temperature=…&amp;seed=…",
        "q · Kᵀ / √d) · V",
    }  # of what a field is for, and a formula
    assert unmarked(path.read_text("utf-8")) - allowed - examples == set()


def test_text_outside_the_catalogue_is_found() -> None:
    assert unmarked('<text x="1">left {{ n }}</text><g>{% trans %}known{% endtrans %}</g>') == {"left"}
    assert unmarked('<i title="left"></i><i aria-label="{{ gettext("known") }}"></i>') == {"left"}


@pytest.mark.parametrize("path", TRANSLATIONS, ids=lambda p: p.parts[-3])
def test_a_translation_is_complete(path: Path) -> None:
    there = messages(path.read_text("utf-8"))
    assert not [
        m.id for m in there.values() if m.fuzzy or not all([m.string] if isinstance(m.string, str) else m.string)
    ]
    for message in there.values():
        assert not list(message.check()), message.id


@pytest.mark.thorough("by day the texts are read here, by syntax")
@pytest.mark.parametrize("path", TRANSLATIONS, ids=lambda p: p.parts[-3])
def test_a_translation_holds_what_babel_extracts(path: Path) -> None:
    assert messages(path.read_text("utf-8")).keys() == messages(extracted()).keys(), "run: make messages"


@pytest.mark.parametrize("path", TRANSLATIONS, ids=lambda p: p.parts[-3])
def test_placeholders_and_tags_survive_translation(path: Path) -> None:
    def marks(text: str) -> list[str]:
        return sorted(re.findall(r"%\(\w+\)[sd]|\{\w+\}|</?\w[^>]*>|&\w+;", text))

    for message in messages(path.read_text("utf-8")).values():
        ids, strings = ((x,) if isinstance(x, str) else x for x in (message.id, message.string))
        for string in strings:
            assert marks(string) in [marks(i) for i in ids], message.id


@pytest.mark.parametrize("path", TRANSLATIONS, ids=lambda p: p.parts[-3])
def test_a_translation_is_read_as_babel_reads_it(path: Path) -> None:
    po = path.read_text("utf-8")
    assert texts(compile_po(po)) == texts(by_babel(po)) and len(texts(compile_po(po))) > 1000


TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0"))


@given(st.dictionaries(TEXT.filter(bool), st.tuples(TEXT, st.booleans())))
@settings(max_examples=examples(40))
def test_any_translation_is_read_as_babel_reads_it(entries: dict[str, tuple[str, bool]]) -> None:
    """Also one that waits for its words, or is not sure yet."""
    written = io.BytesIO()
    catalogue = Catalog("de")  # which has two forms
    for text, (translation, fuzzy) in entries.items():
        catalogue.add(text, translation, flags=["fuzzy"] if fuzzy else [])
        catalogue.add((f"one {text}", f"more {text}"), (f"uno {translation}", f"más {translation}"))
    write_po(written, catalogue, width=79)
    po = written.getvalue().decode()
    assert texts(compile_po(po)) == texts(by_babel(po))


def by_babel(po: str) -> bytes:
    made = io.BytesIO()
    write_mo(made, read_po(io.StringIO(po)))
    return made.getvalue()


def texts(mo: bytes) -> dict[object, object]:
    return {str(message.id): message.string for message in read_mo(io.BytesIO(mo)) if message.id}


def test_every_language_of_the_site_has_its_translation() -> None:
    assert {path.parts[-3] for path in TRANSLATIONS} == LANGUAGES.keys() - {"en"}


@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_page_says_which_language_it_is_in(lang: str) -> None:
    """Else it is read aloud as if it were another one."""
    lesson = LESSONS[0]
    with language(lang):
        view = views.of(lesson)
        pages = render_page(lesson, view), render_embed(lesson, view), render_baked(lesson, view, HERE, False, "")
    assert [re.findall(r"<html\b[^>]* lang=\"(.*?)\"", page) for page in pages] == [[lang]] * 3
