r"""The patterns by which tokenizers cut a text into words, in the words of Python's `re`.

Published patterns speak of Unicode's classes (\p{L}: letters, \p{N}: numbers), which `re` does not know, and mean
Unicode's white space by \s, where Python means a little more. Both become ranges of characters here. Knows patterns;
knows no tokens.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Iterable
from functools import cache

from microgpt.errors import N_, UserError

# each of these stands inside the brackets of a class
SPACE = r"\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
# what Unicode counts to a word besides letters, marks, digits and connectors: joiners, letters in circles
JOINED = ((0x200C, 0x200D), (0x24B6, 0x24E9), (0x1F130, 0x1F149), (0x1F150, 0x1F169), (0x1F170, 0x1F189))
PART = re.compile(r"\\[pP]\{\^?\w+\}|\\[pP]\w|\\.|\[\^?|.", re.DOTALL)


def translated(pattern: str) -> re.Pattern[str]:
    """The same pattern for `re`. Raises UserError for what cannot be translated."""
    out, inside = [], False
    for part in PART.findall(pattern):
        out.append(piece(part, inside))
        inside = part != "]" if inside else part.startswith("[")
    try:
        return re.compile("".join(out))
    except (re.error, OverflowError) as error:
        raise unreadable(str(error)) from None


def piece(part: str, inside: bool) -> str:
    """One character or escape of a pattern; `inside` a class, ranges stand without brackets of their own."""
    if part[:2] not in (r"\s", r"\S", r"\p", r"\P"):
        return rf"\{part}" if inside and part == "[" else part
    name = part[2:].strip("{}")
    ranges = SPACE if part[1] in "sS" else category(name.removeprefix("^"))
    without = part[1].isupper() != name.startswith("^")
    if inside and without:
        raise unreadable(part)
    return ranges if inside else f"[^{ranges}]" if without else f"[{ranges}]"


def unreadable(why: str) -> UserError:
    return UserError(N_("The tokenizer cuts words by a pattern that cannot be read here (%(why)s)."), why=why)


@cache
def category(*names: str) -> str:
    """The characters of general categories ("L", "Nd"), as ranges."""
    runs = categories()
    spans = [span for kind, held in runs.items() if kind in names or kind[0] in names for span in held]
    if not spans:
        raise unreadable(rf"\p{{{names[0]}}}")
    return ranges(spans)


@cache
def categories() -> dict[str, list[tuple[int, int]]]:
    """General category -> runs of characters, first and last."""
    found: dict[str, list[tuple[int, int]]] = {}
    for code, kind in enumerate(map(unicodedata.category, map(chr, range(sys.maxunicode + 1)))):
        runs = found.setdefault(kind, [])
        if runs and runs[-1][1] == code - 1:
            runs[-1] = (runs[-1][0], code)
        else:
            runs.append((code, code))
    return found


def ranges(spans: Iterable[tuple[int, int]]) -> str:
    """Neighbours are one range: the fewer there are, the quicker the class."""
    joined: list[list[int]] = []
    for first, last in sorted(spans):
        if joined and first <= joined[-1][1] + 1:
            joined[-1][1] = max(joined[-1][1], last)
        else:
            joined.append([first, last])
    return "".join(rf"\U{first:08x}-\U{last:08x}" for first, last in joined)


def digits() -> str:
    return category("N")


@cache
def letters() -> str:
    return category("L", "M", "Nd", "Nl", "Pc") + ranges(JOINED)
