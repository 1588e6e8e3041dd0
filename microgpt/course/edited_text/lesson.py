"""One token of a text is replaced: which rows of the old cache are those of the edited text, and what if all stay."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from microgpt.cache import KVCache
from microgpt.config import Array
from microgpt.course.edited_text.questions import asks
from microgpt.decode import decode_step
from microgpt.errors import N_
from microgpt.experiments.validity import another, cache_rows, rows_of, staleness
from microgpt.viz.drawing.heat import RowPair, row_pairs
from microgpt.viz.lesson import Choice, Settings, Table, Word
from microgpt.viz.text.formats import show
from microgpt.weights import Model

STAYS, OWN = Word(N_("stays"), "old"), Word(N_("stale"), "new")  # before the edited token, and its own row
STALE, SAME_WORD = Word(N_("stale"), "again"), Word(N_("same"), "again")  # after it: other numbers, and the same ones


class View:
    """An edit a case."""

    def __init__(self, settings: Settings) -> None:
        recording = settings.recording()
        recording.run_prompt()
        model, ids = recording.model, recording.ids[: recording.n_prompt]
        words = [show(token) for token in model.tokenizer.vocabulary]
        edits = [Edit(model, words, ids, recording.cache, at) for at in range(1, len(ids))]
        self.edits = edits
        self.trace = recording.trace
        self.choices = (Choice("edit", range(len(edits)), (len(edits) - 1) // 2),)
        self.legend = N_("Edited token")
        self.labels = [f"{one.at} {one.old} → {one.now}" for one in edits]
        text = [words[token] for token in ids]
        self.tables = [table(one, text) for one in edits]
        self.places = position_cells(text, rows_of(recording.cache), edits, model)
        self.n, self.n_layer = len(ids), model.config.n_layer
        self.n_rows = edits[0].stale.size
        # edits after which the stale rows choose another token
        self.others = sum(one.found != one.right for one in edits)
        self.asks = asks()


view = View


class Cell(NamedTuple):
    """One row of the old cache, and what each edit makes of it; an edit is counted from 0, and is that at 1."""

    old: RowPair
    new: list[tuple[int, RowPair]]  # edit, the row that is made anew
    off: list[tuple[int, float, float]]  # edit, how far the old row is off, and as a share of the largest


class PositionCells(NamedTuple):
    """One position: its token, the one that an edit there puts in, and a cell a layer."""

    i: int
    token: str
    now: str
    cells: list[Cell]


def position_cells(words: Sequence[str], old: Array, edits: Sequence[Edit], model: Model) -> list[PositionCells]:
    """Where an edit leaves a row as it is, the cell has none for it."""
    before, *after = row_pairs(model.config.head_dim, old, *(one.rows for one in edits))
    largest = max(float(one.by_row.max()) for one in edits)

    def cell(layer: int, i: int) -> Cell:
        made = [(n, rows[layer][i]) for n, rows in enumerate(after) if edits[n].at <= i]
        far = [(n, float(one.by_row[layer, i])) for n, one in enumerate(edits)]
        return Cell(before[layer][i], made, [(n, off, off / largest) for n, off in far if off])

    layers = range(model.config.n_layer)
    now = ["", *(one.now for one in edits)]
    return [PositionCells(i, word, now[i], [cell(layer, i) for layer in layers]) for i, word in enumerate(words)]


class Edit:
    """What the rows of the old cache are worth once the token at `at` is another one. A row is a k and a v."""

    def __init__(self, model: Model, words: Sequence[str], ids: Sequence[int], old: KVCache, at: int) -> None:
        now, before = another(model.config, ids[at], model.tokenizer.start), rows_of(old)
        edited, cache = [*ids[:at], now, *ids[at + 1 :]], KVCache(model.config, model.params["wte"].dtype)
        for token in edited:
            right = decode_step(model.params, model.config, token, cache)
        self.rows = rows_of(cache)  # of the edited text
        self.by_row = staleness(before, self.rows)  # [n_layer, n]: how far each old row is off
        self.stale = self.by_row > 0  # the edited text, run anew, writes other numbers there
        found = with_stale_rows(model, edited, old, at)
        # if `now` is inserted instead: rows behind it that come out the same; None where nothing fits
        self.alike = None
        if len(ids) < model.config.n_ctx:
            inserted = cache_rows(model.params, model.config, [*ids[:at], now, *ids[at:]])
            self.alike = int((staleness(before[:, at:], inserted[:, at + 1 :]) == 0).sum())
        self.at = at
        self.old = words[ids[at]]
        self.now = words[now]
        # of the last logits, at most, when the edited token and the last one alone are run again
        self.off = float(np.abs(right - found).max())
        self.right = words[int(right.argmax())]  # the likeliest token after the edited text
        self.found = words[int(found.argmax())]  # and when the stale rows are used

    @property
    def n_same(self) -> int:
        """Rows before the edit, in all layers, that are those of the edited text."""
        return int((~self.stale[:, : self.at]).sum())

    @property
    def same(self) -> int:
        """Rows after it that are, too."""
        return int((~self.stale[:, self.at :]).sum())

    @property
    def n_shifted(self) -> int:
        """Rows of the tokens that an insertion there moves, in all layers."""
        return self.stale[:, self.at :].size

    @property
    def by_layer(self) -> list[int]:
        """Stale rows."""
        return self.stale.sum(axis=1).tolist()  # type: ignore[no-any-return]

    @property
    def again(self) -> int:
        """Tokens that must run again."""
        return len(self.stale[0]) - self.at


def with_stale_rows(model: Model, edited: Sequence[int], old: KVCache, at: int) -> Array:
    """The last logits, when the edited token and the last one are run and the rows between them are the old ones."""
    cache = KVCache(model.config, model.params["wte"].dtype)
    for token in edited[: at + 1]:
        logits = decode_step(model.params, model.config, token, cache)
    if at + 1 < len(edited):
        for layer, was in zip(cache.layers, old.layers, strict=True):
            layer.append(*(side[:, at + 1 : -1].swapaxes(0, 1) for side in (was.keys, was.values)))
        logits = decode_step(model.params, model.config, edited[-1], cache)
    return logits


def table(one: Edit, tokens: Sequence[str]) -> Table:
    """A row a token of the edited text, a column a layer."""
    rows: list[Sequence[str | float]] = []
    for i, token in enumerate(tokens):
        if i == one.at:
            rows.append([one.now, *(OWN if stale else SAME_WORD for stale in one.stale[:, i])])
        else:
            rows.append([token, *(STALE if stale else STAYS if i < one.at else SAME_WORD for stale in one.stale[:, i])])
    return Table([N_("token, by layer"), *(f"{layer}" for layer in range(len(one.stale)))], rows)
