r"""The patterns by which tokenizers cut a text into words, in the words of Python's `re`.

They are written for Oniguruma, as Ruby has it. There \p{L} is a class, $ ends any line, {1,3}+ is a repetition
repeated: some of it Python has not, and some it reads as something else. So a pattern is taken apart, and only what is
known to mean the same, or can be said in Python's way, is let through. Knows patterns; knows no tokens.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator

from microgpt.characters import SPACE, Runs, category, others, written
from microgpt.errors import N_, UserError
from microgpt.nesting import DEPTH

ESCAPED = r"\\[nrtfv]|\\[ !-/:-@\[-`{-~]|\\x[0-7][0-9A-Fa-f]|\\x\{[0-9A-Fa-f]{1,6}\}|\\u[0-9A-Fa-f]{4}"
CONTROLS = dict(zip("nrtfv", "\n\r\t\f\v", strict=True))
MANY = r"\\[sSdD]|\\[pP]\{\^?[A-Z][a-z]?\}"
ONE = rf"(?:{ESCAPED}|[^\\\[\]&-]|&(?!&))"  # in a class; there, [ begins a class inside it, and && is an intersection
ITEM = re.compile(rf"(?P<many>{MANY})|(?P<first>{ONE})(?:-(?P<last>{ONE}))?|-", re.DOTALL)
# letters that have the same capitals to both: not the i, and no pair that is also a character of its own, as ss is ß
FOLDED = r"(?:(?:(?![Ss][SsTt]|[Ff][FfLl])[A-HJ-Za-hj-z'’])+|\[[A-HJ-Za-hj-z'’]+\])"
PARTS = {
    "repeated": r"(?:[*+?]|\{\d+,\d*\}|\{,\d+\})[+?]?|\{\d+\}\+?(?!\?)",  # there, {3}? may also be nothing
    "begun": r"\((?:\?(?:[:=!]|<[=!])|(?!\?))",
    "ended": r"\)",
    "either": r"\|",
    "folded": rf"\(\?i:{FOLDED}(?:\|{FOLDED})*\)",
    "place": r"[\^$]|\\[AZz]",
    "any": r"\.",
    "held": rf"{MANY}|\[\^?(?:-|-?(?:{MANY}|{ONE}(?:-{ONE})?)+-?)\]",
    "one": rf"{ESCAPED}|[^\\\[({{]",
}
PART = re.compile("|".join(f"(?P<{kind}>{part})" for kind, part in PARTS.items()), re.DOTALL)
# there, any newline ends a line, but the last one begins none; \Z may stand before the last one
PLACES = {"^": r"(?m:^(?!\Z))", "$": "(?m:$)", r"\A": r"\A", r"\Z": r"(?=\n?\Z)", r"\z": r"\Z"}


def translated(pattern: str) -> re.Pattern[str]:
    """The same pattern for `re`. Raises UserError for what cannot be translated."""
    out: list[str] = []
    open_groups: list[int] = []  # where they begin in `out`
    last: int | None = None  # where begins what a repetition would repeat
    for kind, part in parts(pattern):
        if kind == "repeated":
            if last is None or (part[1:] == "+" and last < len(out) - 1):  # of groups, older Pythons have it wrong
                raise unreadable(part)
            if part[0] == "{" and part[-1] == "+":
                out[last:] = ["(?:", *out[last:], part[:-1], ")+"]
            else:
                out.append(part)
            last = None
        elif kind == "ended":
            if not open_groups:
                raise unreadable(part)
            last = open_groups.pop()
            out.append(part)
            last = last if out[last] == "(?:" else None  # a place cannot be repeated
        elif kind == "begun":
            open_groups.append(len(out))
            out.append("(?:" if part == "(" else part)  # none refers to what a group found
            last = None
        else:
            last = None if kind in ("either", "place") else len(out)
            out.append(said(kind, part))
        if len(open_groups) > DEPTH:
            raise unreadable("(" * DEPTH)
    try:
        return re.compile("".join(out))
    except (re.error, OverflowError):
        raise unreadable(pattern) from None


def parts(pattern: str) -> Iterator[tuple[str, str]]:
    """The pieces of a pattern: what kind each is, and how it reads."""
    at = 0
    while at < len(pattern):
        match = PART.match(pattern, at)
        if match is None:
            raise unreadable(pattern[at:])
        yield str(match.lastgroup), match[0]
        at = match.end()


def said(kind: str, part: str) -> str:
    """What a piece is for `re`."""
    if kind == "held":
        without = part.startswith("[^")
        return f"[{'^' * without}{written(held(part[1 + without : -1]) if part[0] == '[' else many(part))}]"
    if kind == "one":
        return re.escape(chr(code(part)))
    return PLACES[part] if kind == "place" else part


def held(items: str) -> Runs:
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
        N_("The tokenizer cuts words by a pattern with “%(part)s”, which cannot be followed here. Try it at the "
           "command line: python build.py --model FOLDER --prompt TEXT --out lesson."),
        part=part[:40],
    )  # fmt: skip
