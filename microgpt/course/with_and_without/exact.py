"""The same answer in shorter numbers: what data/exactness.json says of the models that ship, ready to be placed.

Knows no HTML and no run of a model.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from microgpt.experiments.exactness.measure import SHORTEST, Exactness, Found, measured
from microgpt.experiments.exactness.rounded import LANES
from microgpt.viz.text.formats import show
from microgpt.weights import SHIPPED

DIGITS = {"bfloat16": 8}  # binary, of a number in that format


class Line(NamedTuple):
    """One format: how far the logits of the two runs were apart, and how many texts went on with another token."""

    format: str
    sums: bool  # they are rounded too
    difference: float
    tiny: bool  # of rounding size: printed as a bound
    digits: int  # behind the point, where it is printed itself
    flips: int


class Contender(NamedTuple):
    """A token between which and another the choice flips, and its logit in three runs."""

    token: str
    with_cache: float
    without: float
    exact: float


class Tested(NamedTuple):
    """One model, in all formats, and the choice that flips."""

    model: str
    prompts: int
    choices: int
    lines: list[Line]
    flips: int  # in the shortest format
    kept: int  # flips in all formats whose sums are kept in more digits
    text: list[str]
    contenders: list[Contender]
    gap: float  # between the two, in float64
    spacing: float  # between neighbours in the shortest format, at that size
    format: str  # the shortest
    lanes: int = LANES
    sums: str = "float32"  # what sums are kept in where they are not rounded


def tested() -> list[Tested]:
    return [one_model(name, measured(name)) for name in SHIPPED]


def line(format: str, found: Found) -> Line:
    kind, _, sums = format.partition(" ")
    return Line(
        kind, bool(sums), found.difference, kind == "float64", 6 if kind == "float32" else 4, len(found.flipped)
    )


def one_model(name: str, found: Exactness) -> Tested:
    lines = [line(format, one) for format, one in found.formats.items()]
    text, tokens, cached, again, exact = found.example
    format = SHORTEST.partition(" ")[0]
    largest = max(exact)
    return Tested(
        model=name,
        prompts=found.prompts,
        choices=found.choices,
        lines=lines,
        flips=len(found.formats[SHORTEST].flipped),
        kept=sum(line.flips for line in lines if not line.sums),
        text=[show(token) for token in text],
        contenders=[
            Contender(show(token), *logits) for token, *logits in zip(tokens, cached, again, exact, strict=True)
        ],
        gap=abs(exact[0] - exact[1]),
        spacing=float(2.0 ** (np.floor(np.log2(largest)) + 1 - DIGITS[format])),
        format=format,
    )
