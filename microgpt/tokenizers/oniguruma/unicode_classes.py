"""Sets of characters as runs, first and last: Unicode's categories, white space, and what is not in a set.

Knows the version of Unicode that this Python has. The tokenizers library has others: a character of the last few years
may be a letter to one and nothing yet to the other. Knows no pattern and no text.
"""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Iterable
from functools import cache

Runs = tuple[tuple[int, int], ...]

# Unicode's white space. Python means a little more by \s, and \x1c to \x1f are none
SPACE: Runs = (
    (0x09, 0x0D), (0x20, 0x20), (0x85, 0x85), (0xA0, 0xA0), (0x1680, 0x1680), (0x2000, 0x200A), (0x2028, 0x2029),
    (0x202F, 0x202F), (0x205F, 0x205F), (0x3000, 0x3000),
)  # fmt: skip
# what Unicode counts to a word besides letters, marks, digits and connectors: joiners, letters in circles
JOINED: Runs = ((0x200C, 0x200D), (0x24B6, 0x24E9), (0x1F130, 0x1F149), (0x1F150, 0x1F169), (0x1F170, 0x1F189))


@cache
def category(*names: str) -> Runs:
    """The characters of general categories ("L", "Nd"). Empty where Unicode has none of the name."""
    return join(span for kind, held in categories().items() if {kind, kind[0]} & {*names} for span in held)


@cache
def categories() -> dict[str, list[tuple[int, int]]]:
    """General category -> runs of characters."""
    found: dict[str, list[tuple[int, int]]] = {}
    for code, kind in enumerate(map(unicodedata.category, map(chr, range(sys.maxunicode + 1)))):
        runs = found.setdefault(kind, [])
        if runs and runs[-1][1] == code - 1:
            runs[-1] = (runs[-1][0], code)
        else:
            runs.append((code, code))
    return found


def join(spans: Iterable[tuple[int, int]]) -> Runs:
    """In order, and neighbours as one run: the fewer there are, the quicker the class."""
    runs: list[tuple[int, int]] = []
    for first, last in sorted(spans):
        if runs and first <= runs[-1][1] + 1:
            runs[-1] = (runs[-1][0], max(runs[-1][1], last))
        else:
            runs.append((first, last))
    return tuple(runs)


def others(runs: Runs) -> Runs:
    """The characters that are not in `runs`."""
    edges = [-1, *(edge for run in join(runs) for edge in run), sys.maxunicode + 1]
    between = zip(edges[::2], edges[1::2], strict=True)
    return tuple((last + 1, first - 1) for last, first in between if last + 1 < first)


def write_class(runs: Runs) -> str:
    """What stands for `runs` between the brackets of a class."""
    return "".join(rf"\U{first:08x}-\U{last:08x}" for first, last in join(runs))


@cache
def letters() -> Runs:
    """What words are made of."""
    return join([*category("L", "M", "Nd", "Nl", "Pc"), *JOINED])
