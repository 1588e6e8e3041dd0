"""Tasks of a lesson for the sheets of exercises, and calculations with their numbers. Knows no HTML."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any, NamedTuple

from microgpt.errors import N_

KINDS = {
    "compute": N_("calculate"),
    "predict": N_("predict"),
    "explain": N_("explain"),
    "bug": N_("find the bug"),
    "plan": N_("plan"),
    "write": N_("write code"),
}


class Calc(NamedTuple):
    """A calculation as it is written: the places of `form` are its numbers; those that are not whole get `digits`."""

    form: str
    values: tuple[float, ...]
    digits: int = 2


class Task(NamedTuple):
    """A task of a lesson. Its words, and those of its answer, are the macro of that key in the lesson's words.html.

    It stands on the sheet of the last lesson that it needs.
    """

    key: str
    title: str
    place: int  # on its sheet; of two with the same, that of the earlier lesson comes first
    kind: str
    minutes: int
    lines: int  # that the answer needs on paper
    numbers: Callable[[], Any] = SimpleNamespace  # what it gives, and what its answer comes to
    also: tuple[str, ...] = ()  # later lessons that it needs besides its own

    @property
    def label(self) -> str:
        return KINDS[self.kind]


def calc(form: str, *values: float, digits: int = 2) -> Calc:
    """A calculation with all its numbers, those that it comes to among them."""
    return Calc(form, values, digits)


def chain(values: Sequence[float], sign: str) -> Calc:
    """Numbers joined by + or ×, and what they come to: 2 × 3 = 6."""
    result = sum(values) if sign == "+" else math.prod(values)
    return Calc(f" {sign} ".join(["{}"] * len(values)) + " = {}", (*values, result))


def ratio(one: float, other: float, digits: int = 2) -> Calc:
    """A quotient: 7 ÷ 2 = 3.50."""
    return calc("{} ÷ {} = {}", one, other, one / other, digits=digits)


def fits(room: int, each: int) -> Calc:
    """How often `each` fits into `room`, rounded down."""
    return calc("{} ÷ {} = {}", room, each, room // each)


def unlike(*found: float | Sequence[float]) -> None:
    """Raise ValueError where two of these are the same: a question that has them compared must have a difference to
    find."""
    if len(set(found)) < len(found):
        raise ValueError(f"An exercise asks to compare {', '.join(map(str, found))}; choose other numbers for it.")


def triangle(n: int) -> int:
    """The sum of the numbers from 1 to n."""
    return n * (n + 1) // 2
