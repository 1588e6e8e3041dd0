"""The same answer in shorter numbers: what data/exactness.json says of the models that ship, ready to be placed.

Knows no HTML and no run of a model.
"""

from __future__ import annotations

import numpy as np

from microgpt.experiments.exactness.measure import SHORTEST, Found, load_exactness
from microgpt.experiments.exactness.rounding import LANES
from microgpt.viz.text.formats import show

__all__ = ["LANES", "Tested"]  # and what the templates read

FORMAT, SUMS = SHORTEST.partition(" ")[0], "float32"  # the shortest, and what sums are kept in where not rounded
BINARY_DIGITS = {"bfloat16": 8}  # binary, of a number in that format


class Tested:
    """One model, in all formats, and the choice that flips."""

    def __init__(self, model: str) -> None:
        self.model, self.found = model, load_exactness(model)
        self.lines = [FormatLine(format, one) for format, one in self.found.formats.items()]
        self.flips = len(self.found.formats[SHORTEST].flipped)  # in the shortest format
        # flips in all formats whose sums are kept in more digits
        self.kept = sum(line.flips for line in self.lines if not line.sums)
        text, tokens, cached, again, exact = self.found.example
        self.text = [show(token) for token in text]
        # the tokens between which the choice flips, each with its logit with the cache, without it, and in float64
        self.contenders = [*zip(map(show, tokens), cached, again, exact, strict=True)]
        self.gap = abs(exact[0] - exact[1])  # between the two, in float64
        # between neighbours in the shortest format, at that size
        self.spacing = float(2.0 ** (np.floor(np.log2(max(exact))) + 1 - BINARY_DIGITS[FORMAT]))


class FormatLine:
    """One format: how far the logits of the two runs were apart, and how many texts went on with another token."""

    def __init__(self, format: str, found: Found) -> None:
        kind, _, sums = format.partition(" ")
        self.format = kind
        self.sums = bool(sums)  # they are rounded too
        self.difference = found.difference
        self.tiny = kind == "float64"  # of rounding size: printed as a bound
        self.digits = 6 if kind == "float32" else 4  # behind the point, where it is printed itself
        self.flips = len(found.flipped)
