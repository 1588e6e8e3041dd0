"""Where a number of the machine comes from: the calculation in one line, with its numbers. Knows no HTML.

A line has as few decimals, two at least, as make it come true for who computes what is printed: each of its results,
rounded as it stands there, and the last one as the picture prints it. So the decimals of the factors are looked for.
What no number of decimals makes true has no line: the scores of families that do not simply multiply.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import exp, sqrt
from typing import NamedTuple

from microgpt.config import Array, Config, Params
from microgpt.model import NORMS
from microgpt.viz.text.formats import number

MOST_PRODUCTS = 7  # that a line shows; of more, the MOST_TERMS largest
MOST_CELLS = 4  # of a sum that can be asked for one by one; more are too narrow to be pointed at
MOST_TERMS = 2
ROUNDINGS = range(2, 8)
NOISE = 1e-9  # what is off by as little is rounded either way
HIGH = 4.0  # from here on, e is raised to how far a number lies below the largest
Pair = tuple[float, float]


def near(value: float, printed: float, digits: int) -> bool:
    """Whether `value`, rounded to so many decimals, may be what is printed."""
    return abs(value - as_printed(printed, digits)) <= 0.5 * 10.0**-digits + NOISE


def as_printed(value: float, digits: int) -> float:
    return round(value, digits)


class Sum(NamedTuple):
    """Products and what they come to; of many the largest, and the `rest` of the `others`."""

    pairs: list[Pair]
    others: int
    rest: float
    value: float
    digits: int  # decimals of the factors
    end: int  # and of the value

    @property
    def terms(self) -> str:
        """The products; no line ends within one."""
        return " + ".join(f"({number(a, self.digits)}\u00a0×\u00a0{number(b, self.digits)})" for a, b in self.pairs)

    @property
    def true(self) -> bool:
        products = sum(as_printed(a, self.digits) * as_printed(b, self.digits) for a, b in self.pairs)
        return near(products + as_printed(self.rest, self.digits), self.value, self.end)


class Score(NamedTuple):
    """q · k, then divided by the root of head_dim."""

    dot: Sum
    head_dim: int
    score: float
    end: int

    @property
    def true(self) -> bool:
        return self.dot.true and near(self.divide(self.dot.end), self.score, self.end)

    def divide(self, digits: int) -> float:
        """The score, of a product that is printed with so many decimals."""
        return as_printed(self.dot.value, digits) / sqrt(self.head_dim)


class Share(NamedTuple):
    """e to the power of a number, and what it is of all of them: a weight, or the probability of a token."""

    value: float  # a score, or a logit
    top: float  # taken from it before; 0 if it is not
    heat: float  # the temperature that it is divided by
    total: float
    share: float
    digits: int  # decimals of the power
    middle: int  # of what is raised, and of the total
    end: int  # of the share

    @property
    def power(self) -> str:
        """What e is raised to."""
        text = number(self.value, self.digits)
        if self.top:
            text += f" {'+' if self.top < 0 else '−'} {number(abs(self.top), self.digits)}"
        if self.heat == 1:
            return text
        return f"({text}) / {number(self.heat)}" if self.top else f"{text} / {number(self.heat)}"

    @property
    def exponential(self) -> float:
        return exp((self.value - self.top) / self.heat)

    @property
    def true(self) -> bool:
        return self.raises and self.divides

    @property
    def raises(self) -> bool:
        """Whether what is printed of the power gives what is printed of its exponential."""
        heat, value, top = (
            as_printed(self.heat, 2),
            as_printed(self.value, self.digits),
            as_printed(self.top, self.digits),
        )
        return heat > 0 and near(exp((value - top) / heat), self.exponential, self.middle)

    @property
    def divides(self) -> bool:
        """Whether that and the total give the share."""
        total = as_printed(self.total, self.middle)
        return total > 0 and near(as_printed(self.exponential, self.middle) / total, self.share, self.end)


def fewest(holds: Callable[[int], bool], least: int = ROUNDINGS[0]) -> int:
    """The least number of decimals with which that holds; the most, where it never does."""
    return next((digits for digits in range(least, ROUNDINGS[-1]) if holds(digits)), ROUNDINGS[-1])


def largest(pairs: Sequence[Pair]) -> tuple[list[Pair], int, float]:
    """Of many products the largest, in their order; how many others there are, and what these come to."""
    if len(pairs) <= MOST_PRODUCTS:
        return list(pairs), 0, 0.0
    products = [a * b for a, b in pairs]
    sizes = list(map(abs, products))
    by_size = sorted(range(len(pairs)), key=sizes.__getitem__, reverse=True)
    shown, others = sorted(by_size[:MOST_TERMS]), by_size[MOST_TERMS:]
    return [pairs[at] for at in shown], len(others), sum(map(products.__getitem__, others))


def logit_factors(params: Params, config: Config, stream: Array) -> tuple[Array, Array]:
    """What the logits are the product of: the stream [n, n_embd] as it enters the output head, and the head's matrix
    [vocab_size, n_embd]."""
    x = NORMS[config.norm](stream, params, "final_norm", config.norm_eps) if config.final_norm else stream
    return x, params.get("lm_head", params["wte"])


def add(pairs: Sequence[Pair], value: float, end: int) -> Sum | None:
    """The line of products that come to `value`; None where they do not."""
    return in_digits(Sum(*largest(pairs), value, 0, end))


def in_digits(line: Sum) -> Sum | None:
    """The line with its decimals."""
    line = line._replace(digits=fewest(lambda digits: line._replace(digits=digits).true))
    return line if line.true else None


def score(q: Sequence[float], k: Sequence[float], value: float, end: int = 2) -> Score | None:
    """The line of a score; None where it is not what q · k gives."""
    pairs = list(zip(q, k, strict=True))
    dot = Sum(*largest(pairs), sum(a * b for a, b in pairs), 0, 0)
    found = Score(dot, len(pairs), value, end)
    middle = fewest(lambda digits: near(found.divide(digits), value, end))
    summed = in_digits(dot._replace(end=middle))
    return found if summed and (found := found._replace(dot=summed)).true else None


def shares(values: Sequence[float], found: Sequence[float], heat: float = 1.0, end: int = 2) -> list[Share | None]:
    """The lines of what softmax has made of `values`. They need not be all: the total is that of which they have
    what is `found`. None for what has nothing."""
    known = [value for value, share in zip(values, found, strict=True) if share > 0]
    spread = max(map(abs, known), default=0.0) / heat
    top = max(known) if spread > HIGH else 0.0
    total = sum(exp((value - top) / heat) for value in known) / (sum(found) or 1.0)
    lines = [Share(value, top, heat, total, one, 0, 0, end) for value, one in zip(values, found, strict=True)]
    return [settle(line) if line.share > 0 else None for line in lines]


def settle(line: Share) -> Share | None:
    """The line with its decimals."""
    line = line._replace(middle=fewest(lambda digits: line._replace(middle=digits).divides))
    line = line._replace(digits=fewest(lambda digits: line._replace(digits=digits).raises))
    return line if line.true else None


class Lines(NamedTuple):
    """The lines of one head at one step; `where` are its classes. Each row that it reads has two, by its place."""

    where: str
    scores: list[tuple[int, Score]]
    weights: list[tuple[int, Share]]
    cells: list[tuple[int, Sum]]  # of the sum, by their places; none where they are too many to be pointed at


class Told(NamedTuple):
    """What the trace tells of one head at one step: of each row the score and the weight, and what is mixed."""

    scores: list[float]
    weights: list[float]
    out: list[float]


def of_head(where: str, rows: Sequence[int], q: Array, keys: Array, values: Array, told: Told, digits: int) -> Lines:
    """The lines of a head whose q [d] has met `keys` [n, d], with what the trace tells of it; of `values` [n, v]."""
    met = [score(q.tolist(), k, one) for k, one in zip(keys.tolist(), told.scores, strict=True)]
    taken = shares(told.scores, told.weights)
    pairs = [list(zip(told.weights, column, strict=True)) for column in values.T.tolist()]
    sums = [add(column, one, digits) for column, one in zip(pairs, told.out, strict=True)] if pairs else []
    return Lines(
        where,
        [(row, line) for row, line in zip(rows, met, strict=True) if line],
        [(row, line) for row, line in zip(rows, taken, strict=True) if line],
        [(at, line) for at, line in enumerate(sums) if line],
    )
