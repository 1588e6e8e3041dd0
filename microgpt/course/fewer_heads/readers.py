"""Which query heads read which keys and values, in every way, and what that keeps. Knows no HTML."""

from __future__ import annotations

from typing import NamedTuple

from microgpt.config import Config
from microgpt.course.fewer_heads.variants import Group, Variant
from microgpt.experiments.shared_heads import choices
from microgpt.viz.drawing.lens import Sum, add


class Readers(NamedTuple):
    """Query heads side by side, from `first` to `last`, that share a pair in some way."""

    first: int
    last: int

    @property
    def name(self) -> str:
        return f"q{self.first}-{self.last}"

    def meet(self, other: Readers) -> bool:
        return self.first <= other.last and other.first <= self.last


class Line(NamedTuple):
    """What they read in one way: so many pairs, each of so many numbers of a token; and how a number of k is made."""

    readers: Readers
    pairs: int
    each: int
    cell: Sum | None  # the first number of the newest key, where it is an average

    @property
    def numbers(self) -> int:
        return self.pairs * self.each


def readers(config: Config) -> list[Readers]:
    sizes = [config.n_head // n for n in choices(config)]
    return [Readers(at, at + size - 1) for size in sizes for at in range(0, config.n_head, size)]


def readers_of(group: Group) -> Readers:
    heads = [head for head, *_ in group.queries]
    return Readers(heads[0], heads[-1])


def lines(config: Config, way: Variant, own: Variant, digits: int) -> list[Line]:
    """A line for all that can be asked, in that way."""
    found = []
    for one in readers(config):
        read = [group for group in way.groups if one.meet(readers_of(group))]
        cell = average(read[0], own, digits) if way.origin == "averaged" and len(read) == 1 else None
        found.append(Line(one, len(read), way.row // len(way.groups), cell))
    return found


def average(group: Group, own: Variant, digits: int) -> Sum | None:
    parts = [first_number(one) for one in own.groups if readers_of(one).meet(readers_of(group))]
    return add([(1 / len(parts), part) for part in parts], first_number(group), digits)


def first_number(group: Group) -> float:
    """Of the newest key of the group."""
    _, rows = group.held[0]
    return float(rows[-1].cells[0].value)
