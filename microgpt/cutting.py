"""What a tokenizer does to a text before its model: normalise it and cut it into words.

One function for each type of step that a tokenizer.json may name, made of the step's settings. Knows texts; knows no
tokens.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, NamedTuple, NoReturn, TypeAlias, TypeVar

from microgpt.characters import SPACE, category, letters, written
from microgpt.checkpoint_tokenizer import BYTES
from microgpt.errors import N_, UserError
from microgpt.matching import Pattern
from microgpt.patterns import translated
from microgpt.tokenizer_limits import check_made

Part = dict[str, Any]
T = TypeVar("T")
Normalize = Callable[[str], str]
Cut = Callable[[str, bool], Iterable[tuple[str, bool]]]  # a piece, whether the text begins with it -> smaller ones

LETTERS = {byte: letter for letter, byte in BYTES.items()}
# how GPT-2 cuts: endings, then letters, digits or other marks with the space before them, then spaces
GPT2_WORDS = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"


def steps(part: Part | None) -> list[Part]:
    """A part of the file as a list: itself, or what its sequence holds, or nothing."""
    if part is None:
        return []
    if part["type"] != "Sequence":
        return [part]
    held = [value for value in part.values() if isinstance(value, list)][0]
    return [step for one in held for step in steps(one)]


def setting(part: Part, name: str, kind: type[T], default: T | None = None) -> T:
    """What a step says under `name`, at once, so that nothing is missing when there is a text."""
    value = part[name] if default is None else part.get(name, default)
    if type(value) is not kind:  # True would be an int
        raise TypeError(f"{name} is {value!r}")
    str(value).encode()  # raises for half a character
    return value


def kind_of(part: Part) -> str:
    return str(part["type"])


def one_of(known: dict[str, Callable[[Part], Any]], part: Part) -> Any:
    """What does this part's work. Raises UserError when it is not `known`."""
    return known[kind_of(part)](part) if kind_of(part) in known else refuse(kind_of(part), known)


def refuse(what: str, known: Iterable[str]) -> NoReturn:
    raise UserError(
        N_("tokenizer.json asks for “%(what)s”, which cannot be done here. What can: %(known)s."),
        what=what[:40], known=", ".join(known),
    )  # fmt: skip


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


def looked_for(part: Part) -> Looked:
    """The pattern of a step: a text, or a regular expression."""
    pattern = part["pattern"]
    if "String" in pattern:
        return Literal(setting(pattern, "String", str))
    return translated(setting(pattern, "Regex", str))


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


# ---- normalise ------------------------------------------------------------------------------------


def lowercase(text: str) -> str:
    """Letter by letter: Python would make the last Σ of a word a ς."""
    return "".join(map(str.lower, text))


def replace(part: Part) -> Normalize:
    pattern, content = looked_for(part), setting(part, "content", str)

    def change(text: str) -> str:
        found = list(spans(pattern, text))
        if any(start == stop for start, stop, is_match in found if is_match):
            refuse("Replace “”", ["Replace “…”"])  # where there is nothing, the library itself does not always know
        check_made(sum(len(content) if is_match else stop - start for start, stop, is_match in found))
        return "".join(content if is_match else text[start:stop] for start, stop, is_match in found)

    return change


def prepend(part: Part) -> Normalize:
    first = setting(part, "prepend", str) or refuse("Prepend “”", ["Prepend “…”"])
    return lambda text: first + text if text else text


NORMALIZERS: dict[str, Callable[[Part], Normalize]] = {
    "NFC": lambda part: partial(unicodedata.normalize, "NFC"),
    "NFD": lambda part: partial(unicodedata.normalize, "NFD"),
    "NFKC": lambda part: partial(unicodedata.normalize, "NFKC"),
    "NFKD": lambda part: partial(unicodedata.normalize, "NFKD"),
    "Lowercase": lambda part: lowercase,
    "Replace": replace,
    "Prepend": prepend,
}


# ---- cut ------------------------------------------------------------------------------------------


def isolated(pattern: Looked) -> Cut:
    """What the pattern finds, and what stands between."""
    return lambda text, begins: [(text[a:b], begins and a == 0) for a, b, _ in spans(pattern, text)]


def only(pattern: Looked, found: bool) -> Cut:
    """What the pattern finds alone, or what stands between alone."""
    return lambda text, begins: [
        (text[a:b], begins and a == 0) for a, b, is_it in spans(pattern, text) if is_it is found
    ]


def split(part: Part) -> Cut:
    ways: dict[str, Callable[[Looked], Cut]] = {
        "Isolated": isolated,
        "Removed": partial(only, found=setting(part, "invert", bool)),
    }
    behavior = setting(part, "behavior", str)
    return ways[behavior](looked_for(part)) if behavior in ways else refuse(behavior, ways)


def byte_level(part: Part) -> Cut:
    """Every byte becomes a letter that can be seen."""
    words = isolated(translated(GPT2_WORDS)) if setting(part, "use_regex", bool, True) else None
    spaced = setting(part, "add_prefix_space", bool)

    def in_letters(text: str, begins: bool) -> list[tuple[str, bool]]:
        text = " " + text if spaced and not text.startswith(" ") else text
        pieces = words(text, begins) if words else [(text, begins)]
        return [("".join(LETTERS[byte] for byte in piece.encode()), first) for piece, first in pieces]

    return in_letters


def metaspace(part: Part) -> Cut:
    """Spaces become marks that can be seen, and a word begins with its mark."""
    mark, scheme, whole = replacement(part), scheme_of(part), not setting(part, "split", bool, True)
    word = re.compile(f"{re.escape(mark)}[^{re.escape(mark)}]*|[^{re.escape(mark)}]+")

    def cut(text: str, begins: bool) -> list[tuple[str, bool]]:
        text = text.replace(" ", mark)
        if (scheme == "always" or (scheme == "first" and begins)) and not text.startswith(mark):
            text = mark + text
        return (
            [(text, begins)] if whole else [(found[0], begins and not found.start()) for found in word.finditer(text)]
        )

    return cut


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


CUTS: dict[str, Callable[[Part], Cut]] = {
    "ByteLevel": byte_level,
    "Split": split,
    "Metaspace": metaspace,
    "Digits": lambda part: isolated(
        OfRe(re.compile(f"[{written(category('N'))}]" + "+" * (not setting(part, "individual_digits", bool))))
    ),
    "Whitespace": lambda part: only(
        OfRe(re.compile(f"[{written(letters())}]+|[^{written((*letters(), *SPACE))}]+")), found=True
    ),
    "WhitespaceSplit": lambda part: only(OfRe(re.compile(f"[{written(SPACE)}]+")), found=False),
}
