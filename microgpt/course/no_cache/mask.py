"""The picture of a mask over the rows that it keeps right: queries by keys above, layers by positions below.

Both have a column per position, so the column of the new token leads from those that read it to the rows that it makes
stale. It is one drawing for all experiments; each piece of it says in which of them it is there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol, TypeAlias

from microgpt.viz.drawing.heat import RowPair


class ExperimentShown(Protocol):
    """What of an experiment is drawn."""

    @property
    def what(self) -> str: ...
    @property
    def at(self) -> int: ...
    @property
    def sees(self) -> list[list[bool]]: ...
    @property
    def kind(self) -> str: ...
    @property
    def off(self) -> list[list[float]]: ...


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
    experiments: Sequence[ExperimentShown],
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


def column(experiments: Sequence[ExperimentShown], words: Sequence[Sequence[str]], at: int) -> PositionColumn:
    there = [i for i, text in enumerate(words) if at < len(text)]
    tokens = dict.fromkeys(words[i][at] for i in there)
    new = [i for i in there if experiments[i].at == at]
    return PositionColumn([(token, [i for i in there if words[i][at] == token]) for token in tokens], new)


def cases_that_see(experiments: Sequence[ExperimentShown], query: int, key: int) -> PairCases:
    cases = [i for i, one in enumerate(experiments) if query < len(one.sees) > key and one.sees[query][key]]
    return PairCases(cases, [i for i in cases if experiments[i].at == key != query])


def rows_at(
    experiments: Sequence[ExperimentShown], cached: Mapping[str, Rows], written: Mapping[str, Rows], layer: int, at: int
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
    experiments: Sequence[ExperimentShown], layer: int, at: int, rows: list[tuple[RowPair, list[int]]]
) -> Kept:
    cached = [i for i, one in enumerate(experiments) if at < len(one.off[layer])]
    stale = [i for i in cached if experiments[i].off[layer][at]]
    new = [i for i, one in enumerate(experiments) if at == one.at and one.what == "append"]
    return Kept([i for i in cached if i not in stale], stale, new, rows)
