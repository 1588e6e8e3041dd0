"""A link that carries a program: the lines that differ from the original, compressed, as text that an address can hold.

Lines that go travel along with those that come, so that a link finds its places in a later version of the original, or
says which is gone. What a link holds is anybody's: it is bounded, and nothing here runs it.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Iterator
from difflib import SequenceMatcher
from urllib.parse import urlencode

from microgpt.errors import N_, UserError, printable
from microgpt.workbench.original import original

LONGEST_LINK = 8_000  # letters of a link: some ways to send one cut what is longer
MOST_HELD, MOST_LINES_HELD = 200_000, 2_000  # of what it holds
DAMAGED = N_(
    "The edit in this link is damaged: a part is missing, or was changed on its way. Ask for the link once more."
)


def link_of(text: str, **fields: str) -> str:
    """The end of an address that opens this program, and sets these fields; "" where it would be too long."""
    told = "\n".join(difference_to(text)) if text.count("\n") < MOST_LINES_HELD else " " * MOST_HELD
    data = told.encode("utf-8", "surrogatepass")
    edit = base64.urlsafe_b64encode(zlib.compress(data, 9)).decode().rstrip("=")
    fits = len(data) < MOST_HELD and len(edit) <= LONGEST_LINK
    return f"{'?' if fields else ''}{urlencode(fields)}#edit={edit}" if fits else ""


def difference_to(text: str) -> Iterator[str]:
    """The places in which the program differs from the original: @ and the line, lines that go (-), that come (+).

    Lines that only come have the line before them in both, which tells where they belong.
    """
    before, after = original().split("\n"), text.replace("\r\n", "\n").split("\n")
    for kind, i, i_end, j, j_end in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if kind != "equal":
            led = kind == "insert" and i > 0
            yield f"@{i - led}"
            yield from (f"-{line}" for line in before[i - led : i_end])
            yield from (f"+{line}" for line in after[j - led : j_end])


def program_in(edit: str) -> str:
    """The program that a link carries. Raises UserError for one that is damaged, or fits the original no longer."""
    try:
        if len(edit) > LONGEST_LINK:
            raise ValueError
        unpacker = zlib.decompressobj()
        data = base64.b64decode(edit + "=" * (-len(edit) % 4), b"-_", validate=True)
        told = unpacker.decompress(data, MOST_HELD).decode("utf-8", "surrogatepass")
        if not unpacker.eof or unpacker.unused_data:
            raise ValueError
        return apply_difference(told) if told else original()
    except UserError:
        raise
    except (ValueError, zlib.error):
        raise UserError(DAMAGED) from None


def apply_difference(told: str) -> str:
    """The original with what `difference_to` has told. Raises ValueError for what it never tells."""
    before, after, done = original().split("\n"), list[str](), 0
    first, *places = f"\n{told}".split("\n@")
    for number, *lines in (place.split("\n") for place in places):
        signs = "".join(line[:1] for line in lines)
        old, new = ([line[1:] for line in lines if line[:1] == sign] for sign in "-+")
        if first or not lines or signs != "-" * len(old) + "+" * len(new) or len(signs) < len(lines):
            raise ValueError
        at = find_lines(old, before, int(number), done)
        after += [*before[done:at], *new]
        done = at + len(old)
    after += before[done:]
    if first or len(after) > MOST_LINES_HELD:
        raise ValueError
    return "\n".join(after)


def find_lines(old: list[str], before: list[str], at: int, done: int) -> int:
    """Where these lines stand: at that place, or else at the only one. Raises UserError where they are gone."""
    n = len(old)
    if done <= at <= len(before) and before[at : at + n] == old:
        return at
    places = [i for i in range(done, len(before) - n + 1) if before[i : i + n] == old]
    if len(places) == 1 and n:
        return places[0]
    sentence = N_("This link changes “%(line)s”, which is not in the program any more: it is of another version.")
    raise UserError(sentence, line=printable("".join(old[:1]).strip())) if n else ValueError
