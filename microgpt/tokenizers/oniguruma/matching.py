"""Looking for a pattern in a text, with every step counted. Python's `re` cannot be stopped, and some patterns take for
ever: (a+)+$ doubles its time with each letter.

A part of a pattern is a function from a text and a place in it to the places where it may end there, the one to try
first first. Nothing is computed before it is asked for. Knows characters; does not know how patterns are written.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, TypeAlias

from microgpt.errors import UserError
from microgpt.tokenizers.oniguruma.unicode_classes import Runs, join

MOST_STEPS = 300_000  # for one text: a third of a second; the patterns in use take up to 100,000 for the longest text
RUN_LENGTH = 4  # characters of one class that are a step


class Matcher(NamedTuple):
    ends: Callable[[str, int], Iterator[int]]
    least: int  # characters that it takes at least,
    most: float  # and at most
    one: Callable[[str], bool] | None = None  # where it is a single character: which


Search: TypeAlias = Callable[[str, int], tuple[int, int] | None]  # the first find from there on: its begin and its end


def search_for(whole: Matcher) -> Search:
    def search(text: str, at: int) -> tuple[int, int] | None:
        for start in range(at, len(text) + 1):
            spend()
            for end in whole.ends(text, start):
                return start, end
        return None

    return search


class Budget:
    """How many steps are left. All the patterns that work on one text share them."""

    left = MOST_STEPS


def allow(steps: int = MOST_STEPS) -> None:
    """For the next text."""
    Budget.left = steps


def spend(steps: int = 1) -> None:
    Budget.left -= steps
    if Budget.left < 0:
        raise UserError(
            "The pattern by which this tokenizer cuts words takes more than %(steps)s steps on this text. Shorten "
            "the text, or take another model.",
            steps=format(MOST_STEPS, ","),
        )


# ---- what takes no character, or one --------------------------------------------------------------


def place(is_here: Callable[[str, int], bool]) -> Matcher:
    def ends(text: str, at: int) -> Iterator[int]:
        spend()
        if is_here(text, at):
            yield at

    return Matcher(ends, 0, 0)


def ahead(part: Matcher, wanted: bool) -> Matcher:
    return place(lambda text, at: (next(part.ends(text, at), None) is not None) is wanted)


def behind(part: Matcher, wanted: bool) -> Matcher:
    """What is looked for behind must always be of one length."""
    return place(
        lambda text, at: (at >= part.least and next(part.ends(text, at - part.least), None) is not None) is wanted
    )


def one(runs: Runs) -> Matcher:
    """A character of a class."""
    edges = [edge for first, last in join(runs) for edge in (first, last + 1)]

    def fits(letter: str) -> bool:
        return bisect_right(edges, ord(letter)) % 2 == 1

    def ends(text: str, at: int) -> Iterator[int]:
        spend()
        if at < len(text) and fits(text[at]):
            yield at + 1

    return Matcher(ends, 1, 1, fits)


# ---- what is made of others -----------------------------------------------------------------------


def series(parts: Sequence[Matcher]) -> Matcher:
    """One behind the other."""
    if len(parts) == 1:
        return parts[0]

    def ends(text: str, at: int) -> Iterator[int]:
        spend()
        going = [parts[0].ends(text, at)] if parts else []
        if not parts:
            yield at
        while going:
            end = next(going[-1], None)
            if end is None:
                going.pop()
            elif len(going) == len(parts):
                yield end
            else:
                going.append(parts[len(going)].ends(text, end))

    return Matcher(ends, sum(part.least for part in parts), sum(part.most for part in parts))


def either(parts: Sequence[Matcher]) -> Matcher:
    if len(parts) == 1:
        return parts[0]

    def ends(text: str, at: int) -> Iterator[int]:
        for part in parts:
            yield from part.ends(text, at)

    return Matcher(ends, min(part.least for part in parts), max(part.most for part in parts))


def repeat(part: Matcher, least: int, most: float, lazy: bool = False) -> Matcher:
    """From `least` to `most` times: as often as can be, or if `lazy` as seldom."""
    ends = match_run(part.one, least, most, lazy) if part.one else rounds(part, least, most, lazy)
    return Matcher(ends, least * part.least, most * part.most if most and part.most else 0)


def match_run(fits: Callable[[str], bool], least: int, most: float, lazy: bool) -> Callable[[str, int], Iterator[int]]:
    def ends(text: str, at: int) -> Iterator[int]:
        end = last = int(min(len(text), at + most))
        for end in range(at, last + 1):
            if end == last or not fits(text[end]):
                break
        spend(1 + (end - at) // RUN_LENGTH)
        lengths = range(at + least, end + 1)
        yield from lengths if lazy else reversed(lengths)

    return ends


def rounds(part: Matcher, least: int, most: float, lazy: bool) -> Callable[[str, int], Iterator[int]]:
    def ends(text: str, at: int) -> Iterator[int]:
        spend()
        places = [at]  # where each round begins
        going: list[Iterator[int]] = []
        fresh = True  # whether the last place is a new one
        while places:
            done = len(places) - 1
            if fresh:
                if done >= least and (lazy or done == most):
                    yield places[-1]
                going.append(part.ends(text, places[-1]) if done < most else iter(()))
            end = next(going[-1], None)
            fresh = end is not None
            if end is not None:
                places.append(end)
                continue
            going.pop()
            last = places.pop()
            if done >= least and not lazy and done != most:
                yield last

    return ends


def keep(part: Matcher) -> Matcher:
    """What was found first is not given back."""

    def ends(text: str, at: int) -> Iterator[int]:
        for end in part.ends(text, at):
            yield end
            return

    return Matcher(ends, part.least, part.most)
