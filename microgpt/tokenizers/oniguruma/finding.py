"""Looking for the pattern of a normalizer or a pre-tokenizer in a text: a text of its own, or a regular expression."""

from __future__ import annotations

import re
from collections.abc import Iterator

from microgpt.tokenizers.oniguruma.matching import Search
from microgpt.tokenizers.oniguruma.patterns import translate
from microgpt.tokenizers.parts import Part, setting


def literal(wanted: str) -> Search:
    """For a text."""

    def search(text: str, at: int) -> tuple[int, int] | None:
        start = text.find(wanted, at)
        return None if start < 0 else (start, start + len(wanted))

    return search


def of_re(pattern: str) -> Search:
    """For a pattern of our own, for which Python's engine is quick on any text."""
    compiled = re.compile(pattern)

    def search(text: str, at: int) -> tuple[int, int] | None:
        match = compiled.search(text, at)
        return match and match.span()

    return search


def pattern_of(part: Part) -> Search:
    """The pattern of a step: a text, or a regular expression."""
    pattern = part["pattern"]
    if "String" in pattern:
        return literal(setting(pattern, "String", str))
    return translate(setting(pattern, "Regex", str))


def spans(pattern: Search, text: str) -> Iterator[tuple[int, int, bool]]:
    """What the pattern finds and what stands between: from, to, whether it was found.

    Where nothing is found behind the last find, it is looked for one letter further on.
    """
    at = end = 0
    last = -1
    while at <= len(text) and (found := pattern(text, at)):
        start, stop = found
        if start == stop == last:
            at += 1
            continue
        yield end, start, False
        yield start, stop, True
        at = end = last = stop
    yield end, len(text), False
