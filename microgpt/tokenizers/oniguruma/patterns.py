r"""The patterns by which tokenizers cut a text into words, taken apart for matching.py.

They are written for Oniguruma, as Ruby has it. There \p{L} is a class, $ ends any line, {1,3}+ is a repetition
repeated. Only what is known to mean the same here is let through. Knows patterns; knows no tokens.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable, Iterator
from typing import NamedTuple

from microgpt.errors import UserError
from microgpt.files import DEPTH
from microgpt.tokenizers.oniguruma.matching import (
    Matcher,
    Search,
    ahead,
    behind,
    either,
    keep,
    one,
    place,
    repeat,
    search_for,
    series,
)
from microgpt.tokenizers.oniguruma.unicode_classes import SPACE, Runs, category, others

ESCAPED = r"\\[nrtfv]|\\[ !-/:-@\[-`{-~]|\\x[0-7][0-9A-Fa-f]|\\x\{[0-9A-Fa-f]{1,6}\}|\\u[0-9A-Fa-f]{4}"
CONTROLS = dict(zip("nrtfv", "\n\r\t\f\v", strict=True))
MANY = r"\\[sSdD]|\\[pP]\{\^?[A-Z][a-z]?\}"
ONE = rf"(?:{ESCAPED}|[^\\\[\]&-]|&(?!&))"  # in a class; there, [ begins a class inside it, and && is an intersection
ITEM = re.compile(rf"(?P<many>{MANY})|(?P<first>{ONE})(?:-(?P<last>{ONE}))?|-", re.DOTALL)
# letters that have the same capitals to both: not the i, and no pair that is also a character of its own, as ss is ß
FOLDED = r"(?:(?:(?![Ss][SsTt]|[Ff][FfLl])[A-HJ-Za-hj-z'’])+|\[[A-HJ-Za-hj-z'’]+\])"
PIECES = {
    # there, {3}? may also be nothing
    "repeated": r"(?:[*+?]|\{\d{1,4},\d{0,4}\}|\{,\d{1,4}\})[+?]?|\{\d{1,4}\}\+?(?!\?)",
    "begun": r"\((?:\?(?:[:=!]|<[=!])|(?!\?))",
    "ended": r"\)",
    "either": r"\|",
    "folded": rf"\(\?i:{FOLDED}(?:\|{FOLDED})*\)",
    "place": r"[\^$]|\\[AZz]",
    "any": r"\.",
    "held": rf"{MANY}|\[\^?(?:-|-?(?:{MANY}|{ONE}(?:-{ONE})?)+-?)\]",
    "one": rf"{ESCAPED}|[^\\\[({{]",
}
PART = re.compile("|".join(f"(?P<{kind}>{part})" for kind, part in PIECES.items()), re.DOTALL)
# there, any newline ends a line, but the last one begins none; \Z may stand before the last one
ANCHORS: dict[str, Callable[[str, int], bool]] = {
    "^": lambda text, at: at < len(text) and (at == 0 or text[at - 1] == "\n"),
    "$": lambda text, at: at == len(text) or text[at] == "\n",
    r"\A": lambda text, at: at == 0,
    r"\Z": lambda text, at: text[at:] in ("", "\n"),
    r"\z": lambda text, at: at == len(text),
}
ALSO = {"k": "\u212a", "s": "\u017f"}  # the sign of kelvins, the long s


class Open(NamedTuple):
    """A group that is being read: how it began, and its alternatives."""

    begun: str
    found: list[list[Matcher]]


def translate(pattern: str) -> Search:
    """What looks for it. Raises UserError for what cannot be translated."""
    groups = [Open("(", [[]])]
    free = False  # whether a repetition may follow
    for kind, part in pieces_of(pattern):
        here = groups[-1].found[-1]
        if kind == "repeated":
            if not free:
                raise unreadable(part)
            here[-1] = many_times(here[-1], part)
        elif kind == "begun":
            groups.append(Open(part, [[]]))
        elif kind == "either":
            groups[-1].found.append([])
        elif kind == "ended":
            if len(groups) == 1:
                raise unreadable(part)
            group = groups.pop()
            groups[-1].found[-1].append(close_group(group))
            free = group.begun in ("(", "(?:")  # a place cannot be repeated
            continue
        else:
            here.append(matcher_of(kind, part))
        free = kind in ("folded", "any", "held", "one")
        if len(groups) > DEPTH:
            raise unreadable("(" * DEPTH)
    if len(groups) > 1:
        raise unreadable(groups[-1].begun)
    return search_for(close_group(groups[0]))


def close_group(group: Open) -> Matcher:
    inner = either([series(found) for found in group.found])
    if group.begun in ("(", "(?:"):  # none refers to what a group found
        return inner
    if "<" in group.begun and inner.least != inner.most:
        raise unreadable(group.begun)
    return (behind if "<" in group.begun else ahead)(inner, "=" in group.begun)


def many_times(part: Matcher, how: str) -> Matcher:
    """A part, repeated as `how` says: "*", "{1,3}?"."""
    sign = re.match(r"[*+?]|\{(\d*)(,?)(\d*)\}", how)
    assert sign
    if part.least == 0:
        raise unreadable(how)  # how often there is nothing, is told in several ways
    if how[0] == "{":
        least = int(sign[1] or 0)
        most: float = int(sign[3]) if sign[3] else math.inf if sign[2] else least
    else:
        least, most = {"*": (0, math.inf), "+": (1, math.inf), "?": (0, 1)}[how[0]]
    if least > most or how[-2:] == "}+" and not least:
        raise unreadable(how)
    found = repeat(part, least, most, lazy=how[1:].endswith("?"))
    if not how[1:].endswith("+"):
        return found
    return many_times(found, "+") if how[0] == "{" else keep(found)


def pieces_of(pattern: str) -> Iterator[tuple[str, str]]:
    """The pieces of a pattern: what kind each is, and how it reads."""
    at = 0
    while at < len(pattern):
        match = PART.match(pattern, at)
        if match is None:
            raise unreadable(pattern[at:])
        yield str(match.lastgroup), match[0]
        at = match.end()


def matcher_of(kind: str, part: str) -> Matcher:
    """What looks for one piece."""
    if kind == "place":
        return place(ANCHORS[part])
    if kind == "any":
        return one(others(((10, 10),)))
    if kind == "one":
        return one(((code(part), code(part)),))
    if kind == "folded":
        ways = part[len("(?i:") : -1].split("|")
        return either([series([one(fold(letter)) for letter in re.findall(r"\[.*?\]|.", way)]) for way in ways])
    without = part.startswith("[^")
    runs = class_runs(part[1 + without : -1]) if part[0] == "[" else many(part)
    return one(others(runs) if without else runs)


def fold(letters: str) -> Runs:
    """Letters, small and capital."""
    found = {c for letter in letters.strip("[]") for c in (letter.upper(), letter.lower(), ALSO.get(letter.lower()))}
    return tuple((ord(c), ord(c)) for c in found if c)


def class_runs(items: str) -> Runs:
    """The characters of a class, by what stands between its brackets."""
    found: list[tuple[int, int]] = []
    for match in ITEM.finditer(items):
        if match["many"]:
            found += many(match["many"])
        else:
            first = code(match["first"] or "-")
            found.append((first, code(match["last"]) if match["last"] else first))
            if found[-1][0] > found[-1][1]:
                raise unreadable(match[0])
    return tuple(found)


def many(escape: str) -> Runs:
    r"""The characters of \s, \d, \p{...} and their opposites."""
    name = escape[2:].strip("{}")
    runs = {"s": SPACE, "d": category("Nd")}.get(escape[1].lower()) or category(name.removeprefix("^"))
    if not runs:
        raise unreadable(escape)
    return others(runs) if escape[1].isupper() != name.startswith("^") else runs


def code(one: str) -> int:
    """The character that stands for itself, or behind a backslash."""
    if one[0] == "\\" and one[1] in "ux":
        number = int(one[2:].strip("{}"), 16)
        if number > sys.maxunicode:
            raise unreadable(one)
        return number
    return ord(CONTROLS.get(one[-1], one[-1]) if one[0] == "\\" else one)


def unreadable(part: str) -> UserError:
    return UserError(
        "The tokenizer cuts words by a pattern with “%(part)s”, which cannot be followed here. Try it at the "
        "command line: python build.py --model FOLDER --prompt TEXT --out lesson.",
        part=part[:40],
    )
