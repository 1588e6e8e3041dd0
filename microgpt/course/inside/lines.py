"""Where numbers on the way come from, in one line each: all those of a row of the stream, of a longer one the largest.

Knows no HTML. A line that does not come true by what it prints is left out, as of q that is turned by its position.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

import numpy as np

from microgpt.config import Array
from microgpt.course.inside.path import MADE_WITH, QKV, Stop
from microgpt.viz.drawing.lens import (
    ROUNDINGS,
    Score,
    Share,
    Sum,
    add,
    as_printed,
    logit_factors,
    near,
    score,
    shares,
)
from microgpt.viz.text.formats import number
from microgpt.weights import Model

MOST_ASKED = 16  # numbers of a row that can be pointed at one by one
ROUNDED = 2  # of what a line comes to
NORMED = ("attn_norm", "mlp_norm")
JOINED = ("resid_mid", "resid_pre", "resid_final")  # the stream, and what was added to it


class Worked(NamedTuple):
    """A sum or a quotient of few numbers, and what it comes to."""

    text: str
    value: float
    digits: int = ROUNDED


Reason: TypeAlias = Sum | Score | Share | Worked
Told: TypeAlias = list[tuple[int, Reason]]  # of one stop: a place in its row, and where the number there comes from


def work(value: float, first: float, *others: tuple[str, float]) -> Worked | None:
    """The line of numbers and the signs before them, with as few decimals as make it come true; None where none do."""
    for digits in ROUNDINGS:
        found = as_printed(first, digits)
        for sign, x in others:
            by = as_printed(x, digits)
            found = found + by if sign == "+" else found * by if sign == "×" else found / by if by else math.inf
        if near(found, value, ROUNDED):
            parts = [number(first, digits), *(f"{sign} {number(x, digits)}" for sign, x in others)]
            return Worked(" ".join(parts), value)
    return None


def lines_of(model: Model, ids: list[int], ways: list[list[Stop]]) -> dict[str, list[Told]]:
    """Of each token that is followed, by state, the lines of all its stops."""
    return {f"t{at}": list(Calculation(model, ids[at], ways[: at + 1]).reasons(way)) for at, way in enumerate(ways)}


class Calculation:
    """The lines of one token's way; `ways` are those of all tokens up to it, whose keys and values it reads."""

    def __init__(self, model: Model, token_id: int, ways: list[list[Stop]]) -> None:
        self.params, self.config, self.id, self.pos = model.params, model.config, token_id, len(ways) - 1
        self.values = [{(stop.name, stop.layer): stop.value for stop in way} for way in ways]

    def reasons(self, way: list[Stop]) -> Iterator[Told]:
        """Of each stop, in order."""
        stream = branch = way[0].value  # the last of each
        for stop in way:
            if stop.name in ("attn_scores", "attn_weights", "head_out"):
                yield self.of_heads(stop)
            else:
                yield self.of_row(stop, stream[0], branch)
            branch = stop.value
            stream = stop.value if stop.part == "stream" else stream

    def of_row(self, stop: Stop, stream: Array, branch: Array) -> Told:
        row = stop.value.ravel()
        found = [(at, self.line(stop, at, stream, branch.ravel())) for at in places_to_ask(row)]
        return [(at, line) for at, line in found if line]

    def line(self, stop: Stop, at: int, stream: Array, branch: Array) -> Reason | None:
        """Of the number at that place: what `stream` and `branch`, the rows before it, are made into."""
        value, params, here = float(stop.value.ravel()[at]), self.params, f"layer{stop.layer}."
        if stop.name == "embed":
            return (
                work(value, params["wte"][self.id, at], ("+", params["wpe"][self.pos, at])) if "wpe" in params else None
            )
        if stop.name in NORMED or (stop.name, stop.layer) == ("resid_pre", 0):
            gain = [("×", float(params[name][at])) for name in (here + stop.name, "embd_norm") if name in params]
            size = math.sqrt(float((stream * stream).mean()) + self.config.norm_eps)
            return work(value, stream[at], ("/", size), *gain[:1])
        if stop.name in JOINED:
            return work(value, stream[at], ("+", branch[at]))
        if stop.name == "logits":
            row, matrix = logit_factors(params, self.config, stream)
        else:
            matrix = params.get(here + MADE_WITH[stop.name][0], stream[:, None])
            row = self.values[-1]["attn_norm", stop.layer].ravel() if stop.name in QKV else branch
        if matrix.shape[1] != row.size:
            return None
        return add(list(zip(row.tolist(), matrix[at].tolist(), strict=True)), value, ROUNDED)

    def of_heads(self, stop: Stop) -> Told:
        """Scores and weights row by row, in each row head by head; of mixed values as of any row."""
        now, layer, c = self.values[-1], stop.layer, self.config
        n = now["attn_scores", layer].shape[-1]
        scores, weights = (now[name, layer][:, 0] for name in ("attn_scores", "attn_weights"))  # [n_head, n]
        k, v = (np.stack([one[name, layer][0] for one in self.values[-n:]]) for name in "kv")  # [n, n_kv_head, d]
        shared, q = c.n_head // c.n_kv_head, now["q", layer][0].tolist()
        if k.shape[-1] != len(q[0]):
            return []  # keys of another kind
        if stop.name == "attn_scores":
            lines = [score(q[h], k[i, h // shared].tolist(), float(scores[h, i])) for i, h in np.ndindex(n, c.n_head)]
            return [(at, line) for at, line in enumerate(lines) if line]
        if stop.name == "attn_weights":
            heads = [shares(*both) for both in zip(scores.tolist(), weights.tolist(), strict=True)]
            return [(i * c.n_head + h, line) for h, head in enumerate(heads) for i, line in enumerate(head) if line]
        row, found = stop.value.ravel(), []
        for at in places_to_ask(row):
            h, j = divmod(at, row.size // c.n_head)
            pairs = list(zip(weights[h].tolist(), v[:, h // shared, j].tolist(), strict=True))
            found.append((at, add(pairs, float(row[at]), ROUNDED)))
        return [(at, line) for at, line in found if line]


def places_to_ask(row: Array) -> list[int]:
    """The places of the numbers that can be asked for."""
    return list(range(row.size)) if row.size <= MOST_ASKED else [int(np.abs(row).argmax())]
