"""Why old rows stay right: each experiment is a table, position by layer, of how far the cached rows are off."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from microgpt.config import Array
from microgpt.course.old_rows.questions import asks
from microgpt.errors import N_
from microgpt.experiments.validity import after_one_training_step, another, cache_rows, rows_without_mask, staleness
from microgpt.viz.controls import Choice
from microgpt.viz.drawing.heat import RowPair, row_pairs
from microgpt.viz.settings import Settings
from microgpt.viz.text.formats import show
from microgpt.weights import Model

FIRST_LAYER = 0


class PositionRow(NamedTuple):
    """One position: the token that was cached, the one that stands there now, and one entry a layer."""

    token: str
    now: str
    changed: bool
    off: list[tuple[float, float]]  # 0 where the row is still right; and as a share of the largest


class RowCases(NamedTuple):
    """One cached row through all experiments: in which of them it is stale, right or gone, and how far off it is."""

    stale: list[int]
    right: list[int]
    gone: list[int]
    off: list[tuple[int, float]]  # experiment, how far; of the stale ones
    rows: list[tuple[RowPair, list[int]]]  # what was cached, and in which experiments
    lines: list[tuple[str, list[int]]]  # what goes from the rows below into this one, and past it to the right


class PositionCases(NamedTuple):
    """One position through all experiments: the token that was cached, those that stand there now, a cell a layer."""

    token: str
    now: list[tuple[str, bool, list[int]]]  # token, whether it is another one, the experiments
    cells: list[RowCases]


LONGER = ("append", "unmasked")  # kinds of experiments that append a token
LABELS = {  # what is said of an experiment: its `at`, `token` and `now` are filled in
    "append": N_("append one"),
    "unmasked": N_("append one, no mask"),
    "change": N_("%(at)s %(token)s → %(now)s"),
    "move": N_("drop position %(at)s"),
    "weights": N_("train one step"),
}


class View:
    """The experiments on one text, the harmless one first."""

    def __init__(self, settings: Settings) -> None:
        recording = settings.recording()
        recording.run_prompt()
        model = recording.model
        ids = recording.ids[: recording.n_prompt]
        before = cache_rows(model.params, model.config, ids)

        def compare(kind: str, at: int, new_ids: Sequence[int]) -> Experiment:
            rows = cache_rows(model.params, model.config, new_ids)
            return Experiment(model, kind, at, ids, new_ids, staleness(before, rows))

        experiments, cached = [], (before, before)  # with the mask, and without it
        if len(ids) < model.config.n_ctx:
            unmasked, rows = without_mask(model, ids, recording.ids)
            experiments += [compare("append", len(ids), recording.ids), unmasked]
            cached = cache_rows(model.params, model.config, recording.ids), rows
        for at in range(1, len(ids)):
            swapped = [*ids[:at], another(model.config, ids[at], model.tokenizer.start), *ids[at + 1 :]]
            experiments.append(compare("change", at, swapped))
        if len(ids) > 2:
            experiments.append(compare("move", 1, [ids[0], *ids[2:]]))
        trained = after_one_training_step(model.params, model.config, ids)
        off = staleness(before, cache_rows(trained, model.config, ids))
        experiments.append(Experiment(model, "weights", 0, ids, ids, off))
        changes = [i for i, e in enumerate(experiments) if e.kind == "change"]
        self.experiments, self.trace = experiments, recording.trace
        self.model, self.n, self.n_layer = model.name, len(ids), model.config.n_layer
        upto = Choice("upto", range(self.n_layer + 1), self.n_layer, in_figure=False)  # layers that are looked at
        self.choices = Choice("experiment", range(len(experiments)), changes[0]), upto
        words = [show(model.tokenizer.vocabulary[i]) for i in recording.ids[: cached[0].shape[1]]]
        pairs, ways = (
            row_pairs(model.config.head_dim, *cached),
            [routes(e, self.n_layer, len(words)) for e in experiments],
        )
        # all positions, and the place after the last where a token is appended
        self.places = [row_cases(experiments, i, word, ways, *pairs) for i, word in enumerate(words)]
        self.first_change = changes[0]  # which experiment changes the earliest token of the prompt
        # the middle of the prompt is changed: the rows before it stay, it and what comes after it must be run again
        self.edited = changes[(len(changes) - 1) // 2]
        middle = experiments[self.edited]
        self.kept = middle.at * model.config.n_layer  # rows of all layers
        self.again = middle.n_rows - self.kept
        self.same = self.again - middle.n_stale  # of these, rows that come out as before: they are in the first layer
        newest, older = (experiments[i] for i in (changes[-1], changes[max(0, len(changes) - 2)]))
        self.asks = asks(len(ids), newest.n_rows, older.at, older.n_stale, newest.n_rows - newest.n_stale)


view = View


def without_mask(model: Model, ids: Sequence[int], new_ids: Sequence[int]) -> tuple[Experiment, Array]:
    """A token is appended in a model whose tokens all read each other; and the rows of before, then the row of it."""
    before, after = (rows_without_mask(model.params, model.config, text) for text in (ids, new_ids))
    rows = np.concatenate([before, after[:, len(ids) :]], axis=1)
    return Experiment(model, "unmasked", len(ids), ids, new_ids, staleness(before, after)), rows


def row_cases(
    experiments: list[Experiment],
    i: int,
    token: str,
    ways: list[list[list[list[str]]]],
    cached: Sequence[Sequence[RowPair]],
    unmasked: Sequence[Sequence[RowPair]],
) -> PositionCases:
    """Position i: each experiment has one of its rows, or has none left for it. The place after the last has rows in
    the experiments alone that append a token. Rows and lines are layer by position."""
    rows = [(n, e.rows[i]) for n, e in enumerate(experiments) if i < len(e.rows)]
    appends = [n for n, e in enumerate(experiments) if e.kind in LONGER and i == e.at]
    gone = [n for n, e in enumerate(experiments) if len(e.rows) <= i < len(e.rows) + e.n_gone]
    now = {(row.now, row.changed): [n for n, other in rows if other.now == row.now] for _, row in rows}
    now |= {(token, True): appends} if appends else {}
    there = appends or range(len(experiments))
    without = [n for n in there if experiments[n].kind == "unmasked"]
    others = [n for n in there if n not in without]
    cells = []
    for layer, (mine, theirs) in enumerate(zip(cached, unmasked, strict=True)):
        off = [(n, row.off[layer][0]) for n, row in rows]
        stale = [(n, x) for n, x in off if x]
        pairs = [(pair, cases) for pair, cases in ((mine[i], others), (theirs[i], without)) if cases]
        drawn = sorted({kind for way in ways for kind in way[layer][i]})
        lines = [(kind, [n for n, way in enumerate(ways) if kind in way[layer][i]]) for kind in drawn]
        cells.append(RowCases([n for n, _ in stale], [n for n, x in off if not x], gone, stale, pairs, lines))
    return PositionCases(token, [(*one, cases) for one, cases in now.items()], cells)


def routes(e: Experiment, n_layer: int, n: int) -> list[list[list[str]]]:
    """The lines at each row, layer by position: those along which what is new comes into it.

    In the first layer it comes out of the token below; further up, out of all rows that the row has read and that are
    not what they were. The row of a token that is appended has read all; other weights come along no line.
    """
    lines: list[list[list[str]]] = [[[] for _ in range(n)] for _ in range(n_layer)]
    stale = [[i for i, row in enumerate(e.rows) if row.off[layer][0]] for layer in range(n_layer)]
    read = "read " if e.kind == "append" else ""
    if e.kind == "weights":
        return lines
    for layer in range(n_layer):
        ends = stale[layer] + [e.at] * (e.kind in LONGER)
        starts = list(range(n)) if e.kind == "append" else stale[layer - 1] + [e.at] * (e.kind == "unmasked")
        for i in ends:
            lines[layer][i].append(read + "rise")
        if layer and ends:
            for i in starts:
                lines[layer][i].append(read + "stub")
            for i in range(min(starts + ends), max(starts + ends)):
                lines[layer][i].append(read + "run")
    return lines


class Experiment:
    """What was done, and what it did to the rows that were cached before."""

    def __init__(
        self, model: Model, kind: str, at: int, ids: Sequence[int], new_ids: Sequence[int], off: Array
    ) -> None:
        """`off` [n_layer, rows compared] as a table; rows that are gone are left out."""
        largest = float(off.max()) or 1.0

        def word(tokens: Sequence[int], i: int) -> str:
            return show(model.tokenizer.vocabulary[tokens[i]])

        rows = [
            PositionRow(
                word(ids, i), word(new_ids, i), ids[i] != new_ids[i], [(x, x / largest) for x in off[:, i].tolist()]
            )
            for i in range(off.shape[1])
        ]
        stale = off > 0
        here = min(at, len(ids) - 1)
        self.at, self.rows = at, rows
        self.kind = kind  # append, unmasked (append, without a mask), change, move or weights
        self.token = word(ids, here)
        self.now = word(new_ids, min(at, len(new_ids) - 1))
        self.n_gone = len(ids) - len(rows)  # rows that have no place any more
        self.n_stale = int(stale.sum())
        self.n_rows = int(np.size(stale))
        self.stale_by_layer = stale.sum(axis=-1).tolist()
