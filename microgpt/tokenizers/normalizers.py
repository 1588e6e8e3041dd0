"""Normalizers: what a tokenizer changes in the whole text, before it is cut into words.

One function for each type that a tokenizer.json may name, made of its settings. Knows texts; knows no tokens.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from functools import partial

from microgpt.tokenizers.limits import check_made
from microgpt.tokenizers.oniguruma.finding import pattern_of, spans
from microgpt.tokenizers.parts import Part, refuse, setting

Normalizer = Callable[[str], str]


def lowercase(text: str) -> str:
    """Letter by letter: Python would make the last Σ of a word a ς."""
    return "".join(map(str.lower, text))


def replace(part: Part) -> Normalizer:
    pattern, content = pattern_of(part), setting(part, "content", str)

    def change(text: str) -> str:
        found = list(spans(pattern, text))
        if any(start == stop for start, stop, is_match in found if is_match):
            refuse("Replace “”", ["Replace “…”"])  # where there is nothing, the library itself does not always know
        check_made(sum(len(content) if is_match else stop - start for start, stop, is_match in found))
        return "".join(content if is_match else text[start:stop] for start, stop, is_match in found)

    return change


def prepend(part: Part) -> Normalizer:
    first = setting(part, "prepend", str) or refuse("Prepend “”", ["Prepend “…”"])
    return lambda text: first + text if text else text


NORMALIZERS: dict[str, Callable[[Part], Normalizer]] = {
    "NFC": lambda part: partial(unicodedata.normalize, "NFC"),
    "NFD": lambda part: partial(unicodedata.normalize, "NFD"),
    "NFKC": lambda part: partial(unicodedata.normalize, "NFKC"),
    "NFKD": lambda part: partial(unicodedata.normalize, "NFKD"),
    "Lowercase": lambda part: lowercase,
    "Replace": replace,
    "Prepend": prepend,
}
