"""What a tokenizer does to a text around its model: normalise it, cut it into words, and put pieces together again.

One function for each type of step that a tokenizer.json may name, made of the step's settings. Knows texts; knows no
tokens.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, NoReturn

from microgpt.checkpoint_tokenizer import BYTES
from microgpt.errors import N_, UserError
from microgpt.patterns import SPACE, digits, letters, translated

Part = dict[str, Any]
Normalize = Callable[[str], str]
Cut = Callable[[str, bool], Iterable[str]]  # (a piece, whether the text begins with it) -> smaller pieces
Join = Callable[[list[str]], list[str]]

LETTERS = {byte: letter for letter, byte in BYTES.items()}
# how GPT-2 cuts: endings, then letters, digits or other marks with the space before them, then spaces
GPT2_WORDS = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"


def steps(part: Part | None) -> list[Part]:
    """A part of the file as a list: itself, or what its sequence holds, or nothing."""
    if part is None:
        return []
    if part["type"] != "Sequence":
        return [part]
    held = next(value for value in part.values() if isinstance(value, list))
    return [step for one in held for step in steps(one)]


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


def looked_for(part: Part) -> re.Pattern[str]:
    """The pattern of a step: a text, or a regular expression."""
    pattern = part["pattern"]
    return re.compile(re.escape(pattern["String"])) if "String" in pattern else translated(pattern["Regex"])


# ---- normalise ------------------------------------------------------------------------------------


def replace(part: Part) -> Normalize:
    pattern, content = looked_for(part), part["content"]
    return lambda text: pattern.sub(lambda _: content, text)


def prepend(part: Part) -> Normalize:
    return lambda text: part["prepend"] + text if text else text


NORMALIZERS: dict[str, Callable[[Part], Normalize]] = {
    "NFC": lambda part: partial(unicodedata.normalize, "NFC"),
    "NFD": lambda part: partial(unicodedata.normalize, "NFD"),
    "NFKC": lambda part: partial(unicodedata.normalize, "NFKC"),
    "NFKD": lambda part: partial(unicodedata.normalize, "NFKD"),
    "Lowercase": lambda part: str.lower,
    "Replace": replace,
    "Prepend": prepend,
}


# ---- cut ------------------------------------------------------------------------------------------


def isolated(pattern: re.Pattern[str]) -> Cut:
    """What the pattern finds, and what stands between."""

    def cut(text: str, begins: bool) -> list[str]:
        edges = [edge for match in pattern.finditer(text) for edge in match.span()]
        return [text[a:b] for a, b in zip([0, *edges], [*edges, len(text)], strict=True)]

    return cut


def found(pattern: re.Pattern[str]) -> Cut:
    """What the pattern finds alone."""
    return lambda text, begins: [match[0] for match in pattern.finditer(text)]


def between(pattern: re.Pattern[str]) -> Cut:
    """What stands between alone."""
    return lambda text, begins: isolated(pattern)(text, begins)[::2]  # type: ignore[index]


def split(part: Part) -> Cut:
    ways = {"Isolated": isolated, "Removed": found if part["invert"] else between}
    return ways[part["behavior"]](looked_for(part)) if part["behavior"] in ways else refuse(part["behavior"], ways)


def byte_level(part: Part) -> Cut:
    """Every byte becomes a letter that can be seen."""
    cut = isolated(translated(GPT2_WORDS)) if part.get("use_regex", True) else (lambda text, begins: [text])
    spaced = part["add_prefix_space"]

    def in_letters(text: str, begins: bool) -> list[str]:
        text = " " + text if spaced and not text.startswith(" ") else text
        return ["".join(LETTERS[byte] for byte in piece.encode()) for piece in cut(text, begins)]

    return in_letters


def metaspace(part: Part) -> Cut:
    """Spaces become marks that can be seen, and a word begins with its mark."""
    mark, scheme = part["replacement"], part.get("prepend_scheme", "always")
    word = re.compile(f"{re.escape(mark)}[^{re.escape(mark)}]*|[^{re.escape(mark)}]+")

    def cut(text: str, begins: bool) -> list[str]:
        text = text.replace(" ", mark)
        if (scheme == "always" or (scheme == "first" and begins)) and not text.startswith(mark):
            text = mark + text
        return word.findall(text) if part.get("split", True) else [text]

    return cut


CUTS: dict[str, Callable[[Part], Cut]] = {
    "ByteLevel": byte_level,
    "Split": split,
    "Metaspace": metaspace,
    "Digits": lambda part: isolated(re.compile(f"[{digits()}]" + "+" * (not part["individual_digits"]))),
    "Whitespace": lambda part: found(re.compile(f"[{letters()}]+|[^{letters()}{SPACE}]+")),
    "WhitespaceSplit": lambda part: found(re.compile(f"[^{SPACE}]+")),
}


# ---- together again -------------------------------------------------------------------------------


def from_letters(part: Part) -> Join:
    """Letters to bytes, bytes to text."""

    def join(pieces: list[str]) -> list[str]:
        raw = b"".join(
            bytes(BYTES[letter] for letter in piece) if all(letter in BYTES for letter in piece) else piece.encode()
            for piece in pieces
        )
        return [raw.decode("utf-8", "replace")]

    return join


def from_bytes(part: Part) -> Join:
    """Runs of tokens such as <0xE2> to the characters that they spell."""
    byte = re.compile("<0x([0-9A-F]{2})>")

    def join(pieces: list[str]) -> list[str]:
        out: list[str] = []
        run: list[int] = []
        for piece in [*pieces, ""]:
            match = byte.fullmatch(piece)
            if match:
                run.append(int(match[1], 16))
                continue
            out += spelled(bytes(run))
            run = []
            out.append(piece)
        return out[:-1]

    return join


def spelled(raw: bytes) -> list[str]:
    try:
        return [raw.decode()] if raw else []
    except UnicodeDecodeError:
        return ["\ufffd"] * len(raw)


def strip(part: Part) -> Join:
    content, start, stop = part["content"], part["start"], part["stop"]

    def one(piece: str) -> str:
        left = min(start, len(piece) - len(piece.lstrip(content)))
        piece = piece[left:]
        return piece[: len(piece) - min(stop, len(piece) - len(piece.rstrip(content)))]

    return lambda pieces: [one(piece) for piece in pieces]


def from_metaspace(part: Part) -> Join:
    mark, first = part["replacement"], "" if part.get("prepend_scheme", "always") != "never" else " "
    return lambda pieces: [piece.replace(mark, " " if i else first) for i, piece in enumerate(pieces)]


def replaced(part: Part) -> Join:
    change = replace(part)
    return lambda pieces: [change(piece) for piece in pieces]


DECODERS: dict[str, Callable[[Part], Join]] = {
    "ByteLevel": from_letters,
    "ByteFallback": from_bytes,
    "Metaspace": from_metaspace,
    "Replace": replaced,
    "Strip": strip,
    "Fuse": lambda part: lambda pieces: ["".join(pieces)],
}
