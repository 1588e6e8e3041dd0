"""Pre-tokenizers: how a tokenizer cuts a text into words, the pieces that its model then cuts into tokens.

One function for each type that a tokenizer.json may name, made of its settings. Knows texts; knows no tokens.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import partial

from microgpt.tokenizers.byte_alphabet import LETTERS
from microgpt.tokenizers.oniguruma.finding import of_re, pattern_of, spans
from microgpt.tokenizers.oniguruma.matching import Search
from microgpt.tokenizers.oniguruma.patterns import translate
from microgpt.tokenizers.oniguruma.unicode_classes import SPACE, category, letters, write_class
from microgpt.tokenizers.parts import Part, refuse, setting

PreTokenizer = Callable[[str, bool], Iterable[tuple[str, bool]]]  # (piece, is_first) -> [(piece, is_first), ...]

# how GPT-2 cuts: endings, then letters, digits or other marks with the space before them, then spaces
GPT2_WORDS = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"


def isolate(pattern: Search) -> PreTokenizer:
    """What the pattern finds, and what stands between."""
    return lambda text, is_first: [(text[a:b], is_first and a == 0) for a, b, _ in spans(pattern, text)]


def only(pattern: Search, found: bool) -> PreTokenizer:
    """What the pattern finds alone, or what stands between alone."""
    return lambda text, is_first: [
        (text[a:b], is_first and a == 0) for a, b, is_it in spans(pattern, text) if is_it is found
    ]


def split(part: Part) -> PreTokenizer:
    ways: dict[str, Callable[[Search], PreTokenizer]] = {
        "Isolated": isolate,
        "Removed": partial(only, found=setting(part, "invert", bool)),
    }
    behavior = setting(part, "behavior", str)
    return ways[behavior](pattern_of(part)) if behavior in ways else refuse(behavior, ways)


def byte_level(part: Part) -> PreTokenizer:
    """Every byte becomes a letter that can be seen."""
    words = isolate(translate(GPT2_WORDS)) if setting(part, "use_regex", bool, True) else None
    spaced = setting(part, "add_prefix_space", bool)

    def pre_tokenize(text: str, is_first: bool) -> list[tuple[str, bool]]:
        text = " " + text if spaced and not text.startswith(" ") else text
        pieces = words(text, is_first) if words else [(text, is_first)]
        return [("".join(LETTERS[byte] for byte in piece.encode()), first) for piece, first in pieces]

    return pre_tokenize


def metaspace(part: Part) -> PreTokenizer:
    """Spaces become marks that can be seen, and a word begins with its mark."""
    mark, scheme, split_words = replacement(part), scheme_of(part), setting(part, "split", bool, True)
    word = re.compile(f"{re.escape(mark)}[^{re.escape(mark)}]*|[^{re.escape(mark)}]+")

    def pre_tokenize(text: str, is_first: bool) -> list[tuple[str, bool]]:
        text = text.replace(" ", mark)
        if (scheme == "always" or (scheme == "first" and is_first)) and not text.startswith(mark):
            text = mark + text
        if not split_words:
            return [(text, is_first)]
        return [(found[0], is_first and not found.start()) for found in word.finditer(text)]

    return pre_tokenize


def replacement(part: Part) -> str:
    """The mark of a space: one letter."""
    mark = setting(part, "replacement", str)
    if len(mark) != 1:
        raise ValueError(f"replacement is {mark!r}")
    return mark


def scheme_of(part: Part) -> str:
    """Which pieces get a mark in front. Old files say it by yes or no, and may say both."""
    scheme, schemes = setting(part, "prepend_scheme", str, "always"), ("always", "first", "never")
    if scheme != "never" and not setting(part, "add_prefix_space", bool, True):
        refuse("add_prefix_space", ["true"])
    return scheme if scheme in schemes else refuse(scheme, schemes)


PRE_TOKENIZERS: dict[str, Callable[[Part], PreTokenizer]] = {
    "ByteLevel": byte_level,
    "Split": split,
    "Metaspace": metaspace,
    "Digits": lambda part: isolate(
        of_re(f"[{write_class(category('N'))}]" + "+" * (not setting(part, "individual_digits", bool)))
    ),
    "Whitespace": lambda part: only(
        of_re(f"[{write_class(letters())}]+|[^{write_class((*letters(), *SPACE))}]+"), found=True
    ),
    "WhitespaceSplit": lambda part: only(of_re(f"[{write_class(SPACE)}]+"), found=False),
}
