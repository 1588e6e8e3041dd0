"""What a fault of the shelf does, to be shown: what finds it first, how far the answers are off, and rows to look at.

The rows are attention weights, as they came out and as they should have, in the layer and the head in which they differ
most; of a fault that leaves the weights right, what the head has mixed by them. They are those of the way to run the
tokens that names the fault, unless they hardly differ in it: then of the way in which they differ most.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from microgpt.cache import Batch
from microgpt.config import Array, Report
from microgpt.weights import Model, shipped
from microgpt.workbench.examine import PROMPTS, SIX, checks_of, run_check
from microgpt.workbench.shelf import BUGS, MODEL_NAMES, Bug
from microgpt.workbench.trial import Expected, Finding, Trial, expect, first_of
from microgpt.workbench.yours import Yours

ITSELF = "with_and_without"  # the check that holds a program against itself alone
WEIGHTS, MIXED = "attn_weights", "head_out"
LEAST_DRAWN = 0.05  # of a weight: less is hard to see in a picture
LEAST_SAID = 0.005  # less does not change a number with two decimals


class Flip(NamedTuple):
    """A position after which another token is the likeliest: which one, and which it should be."""

    pos: int
    yours: int
    ours: int


class WorstNumber(NamedTuple):
    """The number of a row that is most wrong: its column, what it is, and what it should be."""

    at: int
    yours: float
    ours: float

    @property
    def off(self) -> float:
        return abs(self.yours - self.ours)


class ComparedRow(NamedTuple):
    """A row of numbers as it came out and as it should have; nothing came where the program had stopped."""

    token: int
    yours: Array | None  # [columns], more or fewer than there should be
    ours: Array

    def worst(self) -> WorstNumber | None:
        """The number that is most wrong; one that is not there counts as 0. None where none would be written
        otherwise, or nothing came."""
        if self.yours is None:
            return None
        n = max(len(self.yours), len(self.ours))
        got, want = (np.pad(one, (0, n - len(one))) for one in (self.yours, self.ours))
        at = first_of(np.nan_to_num(np.abs(got - want)))
        found = WorstNumber(at, float(got[at]), float(want[at]))
        return found if found.off >= LEAST_SAID else None


class ComparedRows(NamedTuple):
    """The rows of a text in one head."""

    way: str  # in which the tokens were run
    text: int  # which of the texts of this way, in the order of their caches
    name: str  # of the report
    layer: int
    head: int
    rows: list[ComparedRow]

    @property
    def furthest(self) -> float:
        """How far a number of them is off at most."""
        return max((worst.off for row in self.rows if (worst := row.worst())), default=0.0)

    @property
    def in_all(self) -> float:
        """How far all of them are off, together."""
        return sum(worst.off for row in self.rows if (worst := row.worst()))

    @property
    def first_wrong(self) -> int:
        """The first row that is not as it should be, to two decimals."""
        return next(pos for pos, row in enumerate(self.rows) if row.worst())


class Evidence(NamedTuple):
    """What a fault does to the tokens `ids` of one model, by the six ways to run them, and by the check of the program
    against itself."""

    bug: Bug
    model: str
    ids: list[int]
    findings: dict[str, Finding]  # by the check that finds something, in their order
    furthest: float  # a logit is off at most
    flip: Flip | None
    shown: ComparedRows

    @property
    def first(self) -> str:
        return next(iter(self.findings))

    @property
    def finding(self) -> Finding:
        return self.findings[self.first]


class RowsTrial(Trial):
    """A trial that keeps the rows of weights, and of what is mixed by them, of each text, and the first flip."""

    flip: Flip | None = None

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.kept = dict[int, dict[int, dict[tuple[str, int], Array]]]()  # text -> position -> (name, layer) -> a row
        self.heard = dict[tuple[str, int], list[Array]]()  # in this pass, of each text

    def hear(self, report: Report) -> None:
        name, value, _, layer = report
        if name in (WEIGHTS, MIXED):
            self.heard.setdefault((name, layer), []).append(np.array(value))

    def forward(self, ids: Sequence[int], cache: Any, compare: bool = True, **more: Any) -> Array:
        several = isinstance(cache, Batch)
        parts = zip(cache.caches, cache.counts, strict=True) if several else [(cache, len(ids))]
        texts = [(id(one), self._fed.get(id(one), 0), count) for one, count in parts]
        self.heard = {}
        try:
            return super().forward(ids, cache, compare, **more)
        finally:
            for (name, layer), reports in self.heard.items():
                for (text, start, count), report in zip(texts, reports, strict=False):
                    for i in range(count):
                        row = report[:, i] if name == WEIGHTS else report[i]
                        self.kept.setdefault(text, {}).setdefault(start + i, {})[name, layer] = row

    def keep(self, cache: Any, rows: Sequence[int]) -> None:
        """The row that stays in another place is drawn there, with the keys that stay."""
        rows_of = self.kept[id(cache)]
        for (name, layer), row in rows_of.pop(rows[-1]).items():
            rows_of[len(rows) - 1][name, layer] = row[:, list(rows)] if name == WEIGHTS else row
        super().keep(cache, rows)

    def same_logits(self, logits: Array, start: int) -> None:
        super().same_logits(logits, start)
        ours = self.expected.logits[start : start + len(logits)]
        likeliest = zip(logits.argmax(axis=1).tolist(), ours.argmax(axis=1).tolist(), strict=True)
        found = [Flip(pos, *pair) for pos, pair in enumerate(likeliest, start) if pair[0] != pair[1]]
        self.flip = min([*found, *([self.flip] if self.flip else [])], default=None)

    def rows_in(self, way: str, name: str) -> Iterator[ComparedRows]:
        """The rows of each text, layer and head."""
        texts = [self.kept[id(one)] for one in self._caches if id(one) in self.kept]
        for text, of_text in enumerate(texts):
            for layer in range(self.config.n_layer):
                whole = self.expected.reports[name, layer]
                for head in range(self.config.n_head):
                    rows = [
                        ComparedRow(
                            self.ids[pos],
                            self.row_of(head, of_text[pos].get((name, layer)) if pos in of_text else None),
                            whole[head, pos, : pos + 1] if name == WEIGHTS else self.row_of(head, whole[pos]),
                        )
                        for pos in range(min(len(self.ids), max(of_text) + 1))
                    ]
                    yield ComparedRows(way, text, name, layer, head, rows)

    def row_of(self, head: int, row: Any) -> Any:
        """A head's part of a row [n_head, columns] or [n_head * head_dim]."""
        return None if row is None else row.reshape(self.config.n_head, -1)[head]


@cache
def right_answer(name: str) -> tuple[Model, list[int], Expected]:
    """A model, the tokens it is run on, and what must come out."""
    model = shipped(name)
    ids = model.tokenizer.encode(PROMPTS[name])
    return model, ids, expect(model, ids)


@cache
def evidence(name: str) -> Evidence:
    """What the fault of that name does, in the first of the models that can have it."""
    bug = next(bug for bug in BUGS if bug.name == name)
    at = next(one for one in MODEL_NAMES if bug.caught_by[one])
    (model, ids, expected), known = right_answer(at), checks_of()
    yours = Yours(bug.text(), is_watched=False)  # one for all ways: a cache that is not emptied shows in the second
    trials, findings = dict[str, RowsTrial](), dict[str, Finding]()
    for way in (*SIX, ITSELF):
        trials[way] = RowsTrial(yours, model, ids, expected)
        if finding := run_check(known[way], trials[way]):
            findings[way] = finding
    six = [trials[way] for way in SIX]
    flips = [one.flip for one in six if one.flip]
    furthest = max(one.furthest for one in six)
    shown = rows_to_show({way: trials[way] for way in SIX}, next(iter(findings)))
    return Evidence(bug, at, ids, findings, furthest, min(flips, default=None), shown)


def rows_to_show(trials: dict[str, RowsTrial], named: str) -> ComparedRows:
    """The rows in which a fault is seen best."""
    for name in (WEIGHTS, MIXED):
        for ways in ([named], trials):
            rows = [one for way in ways for one in trials[way].rows_in(way, name)]
            best = max(rows, key=lambda one: round(one.in_all, 9))  # of two alike, the first
            if best.furthest >= LEAST_DRAWN:
                return best
    return best
