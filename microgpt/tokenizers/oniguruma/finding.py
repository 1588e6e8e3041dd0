"""Looking for the pattern of a normalizer or a pre-tokenizer in a text: a text of its own, or a regular expression."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

from microgpt.tokenizers.oniguruma.matching import Pattern
from microgpt.tokenizers.oniguruma.patterns import translate
from microgpt.tokenizers.parts import Part, setting


class Literal(NamedTuple):
    """A text to look for, as a pattern looks."""

    text: str

    def search(self, text: str, at: int = 0) -> tuple[int, int] | None:
        start = text.find(self.text, at)
        return None if start < 0 else (start, start + len(self.text))


class OfRe(NamedTuple):
    """A pattern of our own, for which Python's engine is quick on any text."""

    pattern: re.Pattern[str]

    def search(self, text: str, at: int = 0) -> tuple[int, int] | None:
        match = self.pattern.search(text, at)
        return match and match.span()


Looked: TypeAlias = Literal | OfRe | Pattern


def pattern_of(part: Part) -> Looked:
    """The pattern of a step: a text, or a regular expression."""
    pattern = part["pattern"]
    if "String" in pattern:
        return Literal(setting(pattern, "String", str))
    return translate(setting(pattern, "Regex", str))


def spans(pattern: Looked, text: str) -> Iterator[tuple[int, int, bool]]:
    """What the pattern finds and what stands between: from, to, whether it was found.

    Where nothing is found behind the last find, it is looked for one letter further on.
    """
    at = end = 0
    last = -1
    while at <= len(text) and (found := pattern.search(text, at)):
        start, stop = found
        if start == stop == last:
            at += 1
            continue
        yield end, start, False
        yield start, stop, True
        at = end = last = stop
    yield end, len(text), False
