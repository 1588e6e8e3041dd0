"""The languages of the site: which there are, where their pages lie, and which is spoken now.

All text is English in the source and looked up when it is rendered. A language is a catalogue in `locale/`;
CONTRIBUTING.md says how to add one. Knows no page.
"""

from __future__ import annotations

import gettext
import io
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache

from microgpt.viz.text import place

LANGUAGES = {"en": "English", "es": "Español"}  # each in its own words; English first, at the root of the site
# of numbers: between thousands, for decimals, and from how many digits on; of all others , and . and four
MARKS = {"es": ("\u202f", ",", 5)}
LANG = ContextVar("LANG", default="en")


@contextmanager
def language(lang: str) -> Iterator[None]:
    """What is rendered within is in that language; one that does not exist is English."""
    token = LANG.set(lang if lang in LANGUAGES else "en")
    try:
        yield
    finally:
        LANG.reset(token)


@cache
def catalogue(lang: str) -> gettext.NullTranslations:
    """The messages of one language; what it lacks stays English. Raises FileNotFoundError where they are not there."""
    written = place.ROOT / "locale" / lang / "LC_MESSAGES" / "messages.po"
    if written.is_file():  # everywhere but in the browser
        from microgpt.viz.text.po import compile_po

        return gettext.GNUTranslations(io.BytesIO(compile_po(written.read_text("utf-8"))))
    return gettext.translation("messages", place.ROOT / "locale", [lang], fallback=lang == "en")


def translate(texts: Iterable[str]) -> list[str]:
    """Each of them in the language that is set."""
    return [catalogue(LANG.get()).gettext(text) for text in texts]


def folder(lang: str) -> str:
    """Where the pages of a language lie, seen from the root of the site."""
    return "" if lang == "en" else f"{lang}/"


def say(message: str, **fields: object) -> str:
    """A message in the language that is set, its %(name)s filled in."""
    text = catalogue(LANG.get()).gettext(message)
    return text % fields if fields else text
