"""All heads of a model at once: the attention of each as a small picture, one path a level of the weight.

A row of a picture is a query, a column is a key. A weight below the first level is not drawn, which also bounds the
size: a row of weights comes to 1. Knows no HTML.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from microgpt.config import Array
from microgpt.errors import N_
from microgpt.viz.drawing.strips import CellRun, as_lines, runs
from microgpt.viz.large.heads import Open, other_rows
from microgpt.viz.text.formats import number, show
from microgpt.viz.text.language import say

LEVELS = (0.05, 0.2, 0.4, 0.7)  # a cell is drawn once for each of these that its weight reaches
HEAD_NAME, OPEN_HEAD_NAME = N_("layer %(layer)s, head %(head)s"), N_("layer %(layer)s, head %(head)s: open")
HEAD_SAYS = N_(
    "Layer %(layer)s, head %(head)s: at “%(token)s” it gives %(weight)s to “%(key)s”, the most to a row that is "
    "neither the first nor the token’s own. The first row has %(first)s on average."
)
HALF_WEIGHT = 0.5  # of a head's weight: with more it is counted as a head of that kind


class Most(NamedTuple):
    """What a head shows most: at which step it gives what weight to which row; and what the first has on average."""

    step: int
    row: int
    weight: float
    first: float


class Thumb(NamedTuple):
    """One head: what each level draws, and whether the page opens it (its index there, or -1); of one that it does
    not open, what it shows most, where it has weights."""

    layer: int
    head: int
    paths: list[tuple[int, list[CellRun]]]
    opened: int
    target: str  # the id of the radio button that opens it
    most: Most | None

    @property
    def value(self) -> str:
        return f"{self.layer}.{self.head}"

    def says(self, tokens: Sequence[str]) -> str:
        """A sentence on its weights; the rows of a head that the page does not open are not there."""
        assert self.most, "asked of heads that can be pressed"
        said = {"token": show(tokens[self.most.step]), "key": show(tokens[self.most.row])}
        numbers = {"weight": number(self.most.weight), "first": number(self.most.first)}
        return say(HEAD_SAYS, layer=self.layer, head=self.head, **said, **numbers)

    @property
    def title(self) -> str:
        """In the language that is set. A template takes ten times as long for it, and there are hundreds."""
        return say(OPEN_HEAD_NAME if self.target else HEAD_NAME, layer=self.layer, head=self.head)


class HeadKind(NamedTuple):
    """Heads that do one simple thing: how many, and the one that does it most."""

    heads: int
    layer: int
    head: int
    share: float


class Again(NamedTuple):
    """Of the steps whose token has come before: what heads then give its earlier places, or those just after them."""

    steps: int
    same: HeadKind
    after: HeadKind


@dataclass(frozen=True)
class Overview:
    """What the template places; `layers` are columns of thumbs from the first layer to the last."""

    heads: int  # how many there are in all
    layers: list[list[Thumb]]
    earlier: HeadKind | None  # rows before those that are drawn have most of the weight; None where there are none
    first: HeadKind | None  # the first token has most of the weight
    before: HeadKind | None  # the token just before has most of it
    own: HeadKind | None  # the token itself has most of it
    short: float | None  # in heads that rest on the first token: its V row, against the others; None if not short
    again: Again | None  # None where no token comes twice

    levels, half = LEVELS, HALF_WEIGHT

    @property
    def peeks(self) -> list[Thumb]:
        """The heads whose weights alone are there, the one that shows most first."""
        found = [thumb for column in self.layers for thumb in column if thumb.most]
        return sorted(found, key=lambda thumb: -thumb.most.weight if thumb.most else 0)

    @property
    def wide(self) -> bool:
        """So many layers for its heads that the picture needs the whole width."""
        return len(self.layers) >= 2 * len(self.layers[0])


def overview(
    weights: Array,
    lengths: Array,
    opened: list[Open],
    ids: Sequence[int],
    kept: Sequence[int],
    before: Array | None = None,
) -> Overview:
    """The picture of `weights` [n_layer, n_head, n, n]; `lengths` are those of the V rows, [n_layer, n, n_kv_head].

    Layers that are not `kept` have no rows, and weights of 0: their places stay empty, and their heads do not count.
    Where tokens ran before the first, that is not where heads rest; what those get together, `before`
    [n_layer, n_head, n], is looked at instead.
    """
    n_layer, n_head, n, _ = weights.shape
    at = {(one.layer, one.head): index for index, one in enumerate(opened)}
    paths, shown = level_paths(weights), most(weights) if n > 2 else {}

    def thumb(layer: int, head: int) -> Thumb:
        index = at.get((layer, head), -1)
        told = shown.get((layer, head)) if layer in kept and index < 0 else None
        return Thumb(layer, head, paths[layer][head], index, f"open-{index}" if index >= 0 else "", told)

    steps = np.arange(2, n)  # from the third step on, where the first token and the one before are two
    return Overview(
        heads=len(kept) * n_head,
        layers=[[thumb(layer, head) for head in range(n_head)] for layer in range(n_layer)],
        earlier=kind(before[:, :, steps]) if n > 2 and before is not None else None,
        first=kind(weights[:, :, steps, 0]) if n > 2 and before is None else None,
        before=kind(weights[:, :, steps, steps - 1]) if n > 2 else None,
        own=kind(weights[:, :, steps, steps]) if n > 2 else None,
        short=short(weights[:, :, steps, 0], lengths) if n > 2 and before is None else None,
        again=again(weights, ids),
    )


def most(weights: Array) -> dict[tuple[int, int], Most]:
    """Of each layer and head, see `Most`."""
    n_layer, n_head, n, _ = weights.shape
    others = (weights * other_rows(n)).reshape(n_layer, n_head, n * n)
    steps, rows = np.divmod(others.argmax(-1), n)
    largest, first = others.max(-1), weights[:, :, 1:, 0].mean(-1)
    return {
        (layer, head): Most(*map(int, (steps[layer, head], rows[layer, head])), *map(float, (w, first[layer, head])))
        for (layer, head), w in np.ndenumerate(largest)
    }


def kind(shares: Array) -> HeadKind:
    """The heads of which these shares [n_layer, n_head, steps] are, on the mean, more than HALF_WEIGHT."""
    mean = shares.mean(-1)
    layer, head = (int(x) for x in np.unravel_index(mean.argmax(), mean.shape))
    return HeadKind(int((mean > HALF_WEIGHT).sum()), layer, head, float(mean[layer, head]))


def again(weights: Array, ids: Sequence[int]) -> Again | None:
    """See `Again`. The first token does not count as an earlier place: heads rest on it for other reasons."""
    n = weights.shape[-1]
    earlier = {i: [j for j in range(1, i) if ids[j] == ids[i]] for i in range(n)}
    came_back = [i for i in range(n) if any(j + 1 < i for j in earlier[i])]
    if not came_back:
        return None
    same = [weights[:, :, i, earlier[i]].sum(-1) for i in came_back]
    after = [weights[:, :, i, [j + 1 for j in earlier[i] if j + 1 < i]].sum(-1) for i in came_back]
    return Again(len(came_back), kind(np.stack(same, axis=-1)), kind(np.stack(after, axis=-1)))


def short(shares: Array, lengths: Array) -> float | None:
    """How long the first V row is, where its token has more than HALF_WEIGHT: the middle one of these heads,
    in units of the mean of the others.

    The weights of a head always come to 1; what it has no use for can rest on a row that adds little.
    """
    first, others = lengths[:, 0], lengths[:, 1:].mean(1)  # [n_layer, n_kv_head]
    times = np.divide(first, others, out=np.ones_like(first), where=others > 0)
    resting = np.sort(np.repeat(times, shares.shape[1] // times.shape[1], axis=1)[shares.mean(-1) > HALF_WEIGHT])
    middle = float(resting[len(resting) // 2]) if resting.size else 1.0
    return middle if middle < HALF_WEIGHT else None


def level_of(weights: Array) -> Array:
    """0 where nothing is drawn, else the level, from 1."""
    return sum((weights >= least for least in LEVELS), np.zeros(weights.shape, np.int8))


def level_paths(weights: Array) -> list[list[list[tuple[int, list[CellRun]]]]]:
    """For each head of `weights` [n_layer, n_head, n, n]: level -> the cells that reach it, column by column.

    A head that rests on a row fills its column, and what reaches a level reaches those below: both are long lines, of
    which a page of hundreds of heads is a good deal lighter.
    """
    n_layer, n_head, n, _ = weights.shape
    levels = level_of(weights).swapaxes(-1, -2).reshape(n_layer * n_head, 1, n, n)
    # of each head each level, all columns one after the other, an empty cell between
    cells = np.zeros((n_layer * n_head, len(LEVELS), n, n + 1), np.int8)
    cells[..., :-1] = levels > np.arange(len(LEVELS))[:, None, None]
    _, at, length = runs(cells.ravel())
    (line, y), found = divmod(at, n + 1), [list[tuple[int, list[CellRun]]]() for _ in range(n_layer * n_head)]
    path, x = divmod(line, n)  # of a head and a level
    drawn: list[CellRun] = [(column + 0.5, first, n_cells) for column, first, n_cells in as_lines((x, y, length))]
    paths, starts = np.unique(path, return_index=True)
    for one, start, stop in as_lines((paths, starts, np.append(starts, len(drawn))[1:])):
        head, level_below = divmod(one, len(LEVELS))
        found[head].append((level_below + 1, drawn[start:stop]))
    return [found[at : at + n_head] for at in range(0, len(found), n_head)]
