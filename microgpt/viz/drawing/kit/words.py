"""Text that has to fit: how wide it is, where it is cut, and how a sentence is broken into lines.

SVG breaks no lines. How wide a text is depends on the reader's fonts, so it is judged by a wide one. Knows no figure.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from microgpt.viz.drawing.kit.paint import SMALL

WIDTHS = (  # of characters, in parts of the size of the text: those of DejaVu Sans, the widest font of the usual ones
    (0.33, " \u202f.,|il'’:;"),
    (0.42, '!ftjrI()[]-“”"·'),
    (0.55, "scz/"),
    (0.84, "−+×<>=→"),
    (1.0, "mwMW%@—…"),
)
KNOWN = {character: width for width, characters in WIDTHS for character in characters}

BOLD, TOKEN, END = ("\ue000", "\ue001", "\ue002")  # around a run of a sentence; formats.show lets none into a token
RUN_KINDS = {BOLD: "bold", TOKEN: "tok bold"}


def extent(text: str, size: int = SMALL, kind: str = "") -> float:
    """How wide a text is at most, in any of the fonts that may draw it."""
    if "tok" in kind.split():
        em = sum(1.0 if wide(c) else 0.61 for c in text)
    else:
        em = sum(KNOWN[c] if c in KNOWN else 1.0 if wide(c) else 0.75 if c.isupper() else 0.64 for c in text)
    return em * size * (1.1 if "bold" in kind.split() else 1.0)


def wide(c: str) -> bool:
    return unicodedata.east_asian_width(c) in "WF" or ord(c) > 0xFFFF


def fit(text: str, width: int, size: int = SMALL, kind: str = "") -> str:
    """The text, or as much of its beginning as fits."""
    if extent(text, size, kind) <= width:
        return text
    while text and extent(text + "…", size, kind) > width:
        text = text[:-1]
    return text + "…"


class TextRun(NamedTuple):
    """A piece of a line in one kind of text."""

    text: str
    kind: str


def runs(sentence: str) -> list[TextRun]:
    """A sentence as runs: what stands between one of RUN_KINDS and END has its look."""
    found, kinds = [], [""]
    for part in re.split(f"([{BOLD}{TOKEN}{END}])", sentence):
        if part in RUN_KINDS:
            kinds.append(RUN_KINDS[part])
        elif part == END:
            kinds.pop()
        elif part:
            found.append(TextRun(re.sub(r"[^\S\u202f]+", " ", part), kinds[-1]))  # but what stands between thousands
    return found


def token(text: str) -> str:
    """A token, to stand in a sentence."""
    return f"{TOKEN}{text}{END}"


def bold(text: str) -> str:
    return f"{BOLD}{text}{END}"


def strike(text: str) -> list[TextRun]:
    """The first word struck through, the rest of it soft."""
    gone, _, said = text.partition(" ")
    return [TextRun(gone, "q slant struck"), TextRun(f" {said}", "soft")]


def balance(sentence: str, width: int, size: int, kind: str = "") -> list[list[TextRun]]:
    """The sentence in as few lines as there can be, of much the same length."""
    found = lines(sentence, width, size, kind)
    while len(found) > 1 and len(closer := lines(sentence, width := width - 10, size, kind)) == len(found):
        found = closer
    return found


def lines(sentence: str, width: int, size: int = SMALL, kind: str = "") -> list[list[TextRun]]:
    """The sentence in lines that are no wider than `width`; a word is broken only where it must."""
    parts = [
        TextRun(word, f"{kind} {run.kind}".strip())
        for run in runs(sentence)
        for word in re.findall(r" |[^ ]+", run.text)
    ]
    found: list[list[TextRun]] = [[]]
    used = 0.0
    for glued in words(parts):
        w = sum(extent(run.text, size, run.kind) for run in glued)
        if found[-1] and used + w > width:
            found.append([])
            used = 0.0
        for run in glued:
            if run.text == " " and not found[-1]:
                continue
            found[-1].append(run._replace(text=fit(run.text, width, size, run.kind)))
        used += w
    return [join(line) for line in found if line]


def words(parts: Sequence[TextRun]) -> list[list[TextRun]]:
    """What must stay together: everything between two spaces, with the space before it."""
    found: list[list[TextRun]] = [[]]
    for run in parts:
        if run.text == " " and found[-1]:
            found.append([])
        found[-1].append(run)
    return [glued for glued in found if glued]


def join(line: Sequence[TextRun]) -> list[TextRun]:
    """Neighbours of one kind as one run."""
    found: list[TextRun] = []
    for run in line:
        if found and found[-1].kind == run.kind:
            found[-1] = TextRun(found[-1].text + run.text, run.kind)
        else:
            found.append(run)
    return found


def roomy(texts: Iterable[str], width: int, size: int = SMALL, kind: str = "") -> bool:
    """Whether each of these fits."""
    return all(extent(text, size, kind) <= width for text in texts)
