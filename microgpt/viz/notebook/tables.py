"""A run as plain tables, one a step, for places that show neither style sheets nor frames: untrusted notebooks.

Only inline colours and <details> are left there, so one layer and one head are drawn. Knows no HTML.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from microgpt.errors import N_, UserError
from microgpt.viz.drawing.counters import Guess
from microgpt.viz.drawing.heat import Strip
from microgpt.viz.drawing.picture import Picture
from microgpt.viz.drawing.strips import run_length
from microgpt.viz.text.formats import show


class TableStep(NamedTuple):
    """One step, by the place of its token: q, the rows that it reads, what it mixes from them, and what comes next."""

    i: int
    token: str
    shown: bool
    q: Strip
    rows: list[tuple[int, str, Strip, float, Strip]]  # its place, its token, K, its weight, V
    mixed: Strip
    guesses: list[Guess]


def plain(picture: Picture, step: int, layer: int, head: int) -> dict[str, Any]:
    """What the template places: the tables of one layer and head, where `step` stands open."""
    trace, c = picture.trace, picture.config
    for name, value, count in (("layer", layer, c.n_layer), ("head", head, c.n_head)):
        if not 0 <= value < count:
            sentence = N_("%(name)s is %(value)s; this page has %(first)s to %(last)s.")
            raise UserError(sentence, name=name, value=value, first=0, last=count - 1)
    shared = head * c.n_kv_head // c.n_head  # the key and value head that this query head reads

    def strip(name: str, i: int, at: int, reader: int = -1) -> Strip:
        values = picture.value(name, i, layer, reader)
        rows = values if name in ("k", "v") else values.reshape(c.n_head, -1)
        return picture.strip(name, rows[at], layer)

    def step_at(i: int) -> TableStep:
        weights = trace["attn_weights", i, layer][head, 0].tolist()
        rows = [
            (picture.place(j), show(picture.tokens[j]), strip("k", j, shared, i), weight, strip("v", j, shared, i))
            for j, weight in zip(picture.as_read.positions(i, layer), weights, strict=True)
        ]
        q, mixed = strip("q", i, head), strip("head_out", i, head)
        return TableStep(picture.place(i), show(picture.tokens[i]), i == step, q, rows, mixed, picture.guesses(i))

    steps = [step_at(i) for i in range(picture.n)]
    width = len(steps[0].q.cells)
    run = run_length(c.head_dim, width) if width < c.head_dim else None  # numbers that share a cell, if some do
    about = {name: picture.about[name] for name in ("prompt", "model")}
    return {**about, "layer": layer, "head": head, "width": width, "run": run, "steps": steps}
