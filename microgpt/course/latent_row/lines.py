"""Where the numbers of one head come from, both ways: a row and a matrix, a query and a row. Knows no HTML."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from microgpt.config import Array
from microgpt.viz.drawing.lens import Score, Share, Sum, add, score, shares

CALCULATIONS = "kvwxtou"  # of what can be asked: the fields of HeadLines
FINE_DIGITS = 3  # of numbers that the picture draws without figures


class Computed(NamedTuple):
    """What a head computes at one step over n rows."""

    query: Array  # [own]: its own part
    short_query: Array  # [turned]
    turned: Array  # [rank]: `query` for latents
    latents: Array  # [n, rank]
    short: Array  # [n, turned]
    keys: Array  # [n, own]
    values: Array  # [n, own]
    scores: Array  # [n]
    weights: Array
    mixed: Array  # [rank]: of latents
    out: Array  # [own]: of values
    up_k: Array  # [own, rank]
    up_v: Array


class Cells(NamedTuple):
    """The lines of a row, cell by cell; None is what no number of decimals makes true."""

    lines: list[Sum | None]
    most: int  # the place of the number that is farthest from zero


class HeadLines(NamedTuple):
    """By what is asked, in the order of the rows."""

    keys: list[Cells]
    values: list[Cells]
    met: list[Score | None]  # of the query and a key,
    read: list[Sum | None]  # of the turned query and a latent: that score without the short key, undivided
    weights: list[Share | None]
    turned: Cells
    of_values: Cells  # the mix
    of_latents: Cells

    def names(self) -> Iterator[str]:
        """What can be asked, of all ways."""
        for kind, rows in (("k", self.keys), ("v", self.values)):
            yield from (f"{kind}{i}-{j}" for i, row in enumerate(rows) for j in range(len(row.lines)))
        yield from (f"{kind}{i}" for kind in "wx" for i in range(len(self.weights)))
        yield from (f"t{j}" for j in range(len(self.turned.lines)))
        yield from (f"{kind}{j}" for kind in "ou" for j in range(len(self.of_values.lines)))


def lines_of(made: Computed, first: int) -> HeadLines:
    """The lines of the rows from the `first` on that are drawn."""
    rows = newest_first(made, first)
    read = multiply(made.latents, made.turned, made.keys @ made.query)
    share = shares(made.scores.tolist(), made.weights.tolist())
    return HeadLines(
        [multiply(made.up_k, made.latents[i], made.keys[i]) for i in rows],
        [multiply(made.up_v, made.latents[i], made.values[i]) for i in rows],
        [meet(made, i) for i in rows],
        [read.lines[i] for i in rows],
        [share[i] for i in rows],
        multiply(made.up_k.T, made.query, made.turned),
        multiply(made.values.T, made.weights, made.out),
        multiply(made.up_v, made.mixed, made.out),
    )


def newest_first(made: Computed, first: int) -> range:
    """The rows from the `first` on, as they lie in a pile."""
    return range(len(made.latents) - 1, first - 1, -1)


def multiply(matrix: Array, row: Array, found: Array) -> Cells:
    """A line for each number of what that matrix makes of that row."""
    taken = row.tolist()
    lines = [
        add(list(zip(taken, factors, strict=True)), one, FINE_DIGITS)
        for factors, one in zip(matrix.tolist(), found.tolist(), strict=True)
    ]
    return Cells(lines, int(abs(found).argmax()))


def meet(made: Computed, i: int) -> Score | None:
    """The score of row i by its key, whose last part is the short key."""
    query = np.concatenate([made.query, made.short_query])
    key = np.concatenate([made.keys[i], made.short[i]])
    return score(query.tolist(), key.tolist(), float(made.scores[i]))
