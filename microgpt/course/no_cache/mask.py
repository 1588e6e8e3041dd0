"""The picture of a mask over the rows that it keeps right: queries by keys above, layers by positions below.

Both have a column per position, so the column of the new token leads from those that read it to the rows that it makes
stale. It is one drawing for all experiments; each piece of it says in which of them it is there.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeAlias

from microgpt.experiments.validity import rows_under, staleness
from microgpt.viz.drawing.heat import RowPair
from microgpt.viz.text.formats import show
from microgpt.weights import Model

SAME_ROWS = 1e-9  # rows that differ by less are the same: a longer pass rounds in another order


class Experiment:
    """What one mask makes of one change of the text."""

    def __init__(
        self, model: Model, kind: str, block: int, ids: Sequence[int], what: str, at: int, now: Sequence[int]
    ) -> None:
        self.rows, self.then = (rows_under(model.params, model.config, text, block) for text in (ids, now))
        found = staleness(self.rows, self.then)
        off = [[x if x > SAME_ROWS else 0.0 for x in layer] for layer in found.tolist()]
        by_layer = [sum(x > 0 for x in layer) for layer in off]
        size, vocabulary = len(now), model.tokenizer.vocabulary
        self.by_layer = by_layer
        self.kind = kind  # of the mask: causal, blocks or none
        self.what = what  # append or change
        self.at = at  # position of the new token
        self.token = show(vocabulary[ids[at]]) if at < len(ids) else ""  # that was there; "" where one is appended
        self.now = show(vocabulary[now[at]])
        # query by key, of the text as it is now
        self.sees = [[j // block <= i // block for j in range(size)] for i in range(size)]
        self.off = off  # layer by position: how far each cached row is from what it would be now, 0 if it is right
        self.n_stale = sum(by_layer)
        self.n_rows = sum(map(len, off))
        self.rounding = float(found[found <= SAME_ROWS].max(initial=0))  # the largest difference of a row that is right


class PairCases(NamedTuple):
    """A query and a key: in which experiments one sees the other, and in which the key is that of the new token."""

    cases: list[int]
    read: list[int]


class Kept(NamedTuple):
    """A row of a layer: in which experiments it is right, stale (and by how much), or has just been written."""

    right: list[int]
    stale: list[int]
    new: list[int]
    rows: list[tuple[RowPair, list[int]]]  # what stands there, and in which experiments


class PositionColumn(NamedTuple):
    """A position: the tokens that stand there, and in which experiments; where the token is the new one."""

    tokens: list[tuple[str, list[int]]]
    new: list[int]


class Drawing(NamedTuple):
    columns: list[PositionColumn]
    grid: list[list[PairCases]]  # query by key
    layers: list[list[Kept]]


Rows: TypeAlias = Sequence[Sequence[RowPair]]  # layer by position


def drawing(
    experiments: Sequence[Experiment],
    words: Sequence[Sequence[str]],
    cached: Mapping[str, Rows],
    written: Mapping[str, Rows],
) -> Drawing:
    """`words` are the tokens of the text in each experiment, `cached` the rows of before by mask, and `written` those
    of one token more."""
    n = max(map(len, words))
    return Drawing(
        [column(experiments, words, at) for at in range(n)],
        [[cases_that_see(experiments, i, j) for j in range(n)] for i in range(n)],
        [
            [
                cases_that_keep(experiments, layer, at, rows_at(experiments, cached, written, layer, at))
                for at in range(n)
            ]
            for layer in range(len(next(iter(cached.values()))))
        ],
    )


def column(experiments: Sequence[Experiment], words: Sequence[Sequence[str]], at: int) -> PositionColumn:
    there = [i for i, text in enumerate(words) if at < len(text)]
    tokens = dict.fromkeys(words[i][at] for i in there)
    new = [i for i in there if experiments[i].at == at]
    return PositionColumn([(token, [i for i in there if words[i][at] == token]) for token in tokens], new)


def cases_that_see(experiments: Sequence[Experiment], query: int, key: int) -> PairCases:
    cases = [i for i, one in enumerate(experiments) if query < len(one.sees) > key and one.sees[query][key]]
    return PairCases(cases, [i for i in cases if experiments[i].at == key != query])


def rows_at(
    experiments: Sequence[Experiment], cached: Mapping[str, Rows], written: Mapping[str, Rows], layer: int, at: int
) -> list[tuple[RowPair, list[int]]]:
    """What stands there in each mask's cache; in the last place, what the new token brings."""
    found = []
    for kind, rows in cached.items():
        cases = [i for i, one in enumerate(experiments) if one.kind == kind]
        if at < len(rows[layer]):
            found.append((rows[layer][at], cases))
        elif kind in written:
            found.append((written[kind][layer][at], [i for i in cases if experiments[i].what == "append"]))
    return found


def cases_that_keep(
    experiments: Sequence[Experiment], layer: int, at: int, rows: list[tuple[RowPair, list[int]]]
) -> Kept:
    cached = [i for i, one in enumerate(experiments) if at < len(one.off[layer])]
    stale = [i for i in cached if experiments[i].off[layer][at]]
    new = [i for i, one in enumerate(experiments) if at == one.at and one.what == "append"]
    return Kept([i for i in cached if i not in stale], stale, new, rows)
