"""The same answer in shorter numbers: what data/exactness.json says of the models that ship, ready to be placed."""

import numpy as np

from microgpt.experiments.exactness.measure import SHORTEST, load_exactness
from microgpt.experiments.exactness.rounding import LANES
from microgpt.viz.text.formats import show

__all__ = ["LANES", "Tested"]  # and what the templates read

FORMAT, SUMS = SHORTEST.partition(" ")[0], "float32"  # the shortest, and what sums are kept in where not rounded
DECIMALS = {"float64": None, "float32": 6}  # behind the point, if not 4; what is of rounding size is printed as a bound
BINARY_DIGITS = {"bfloat16": 8}  # binary, of a number in that format


class Tested:
    """One model, in all formats, and the choice that flips."""

    def __init__(self, model: str) -> None:
        self.model, self.found = model, load_exactness(model)
        # format, whether sums are rounded too, digits of the difference, and what was found
        kinds = [(name.split()[0], "sums" in name, one) for name, one in self.found.formats.items()]
        self.lines = [(kind, sums, DECIMALS.get(kind, 4), one) for kind, sums, one in kinds]
        self.flips = len(self.found.formats[SHORTEST].flipped)  # in the shortest format
        # flips in all formats whose sums are kept in more digits
        self.kept = sum(len(one.flipped) for _, sums, one in kinds if not sums)
        text, tokens, cached, again, exact = self.found.example
        self.text = [show(token) for token in text]
        # the tokens between which the choice flips, each with its logit with the cache, without it, and in float64
        self.contenders = [*zip(map(show, tokens), cached, again, exact, strict=True)]
        self.gap = abs(exact[0] - exact[1])  # between the two, in float64
        # between neighbours in the shortest format, at that size
        self.spacing = float(2.0 ** (np.floor(np.log2(max(exact))) + 1 - BINARY_DIGITS[FORMAT]))
