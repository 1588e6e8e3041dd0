"""A run as plain tables, one a step, for places that show neither style sheets nor frames: untrusted notebooks.

Only inline colours and <details> are left there, so one layer and one head are drawn. Knows no HTML.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from microgpt.errors import N_, UserError
from microgpt.model import Array
from microgpt.trace import Trace
from microgpt.viz.heat import Cell
from microgpt.viz.steps import Guess, Picture
from microgpt.viz.text import number, show


class Row(NamedTuple):
    """One position in the cache as a step sees it."""

    i: int
    token: str
    k: list[Cell]
    weight: str
    v: list[Cell]
    new: bool


class Step(NamedTuple):
    """One step: q, the rows that it reads, what it mixes from them, and what comes next."""

    number: int
    token: str
    shown: bool
    q: list[Cell]
    rows: list[Row]
    mixed: list[Cell]
    guesses: list[Guess]


class Plain(NamedTuple):
    """What the template places."""

    prompt: str
    model: str
    layer: int
    head: int
    width: int  # numbers in a strip
    n: int
    steps: list[Step]


def plain(trace: Trace, step: int = -1, layer: int = 0, head: int = 0) -> Plain:
    """The tables of one layer and head; `step` is the one that stands open (-1: the last one of the prompt)."""
    picture = Picture(trace, step)
    c = picture.config
    for name, value, count in (("layer", layer, c.n_layer), ("head", head, c.n_head)):
        if not 0 <= value < count:
            raise UserError(
                N_("%(name)s is %(value)s; this page has %(first)s to %(last)s."),
                name=name, value=value, first=0, last=count - 1,
            )  # fmt: skip
    shared = head * c.n_kv_head // c.n_head  # the key and value head that this query head reads

    def cells(row: Array, at: int) -> list[Cell]:
        return picture.scale.strip(row.reshape(-1, c.head_dim)[at]).cells

    kept = [(cells(trace["k", i, layer][0], shared), cells(trace["v", i, layer][0], shared)) for i in range(picture.n)]

    def step_at(i: int) -> Step:
        weights = trace["attn_weights", i, layer][head, 0].tolist()
        rows = [
            Row(j, show(picture.tokens[j]), kept[j][0], number(weights[j]), kept[j][1], j == i) for j in range(i + 1)
        ]
        q, mixed = cells(trace["q", i, layer][0], head), cells(trace["head_out", i, layer][0], head)
        return Step(i + 1, show(picture.tokens[i]), i == picture.at, q, rows, mixed, picture.guesses(i))

    about: dict[str, Any] = picture.about
    steps = [step_at(i) for i in range(picture.n)]
    return Plain(about["prompt"], about["model"], layer, head, c.head_dim, picture.n, steps)
