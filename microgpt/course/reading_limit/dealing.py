"""The heads of a layer dealt to processors, as shares of a picture, by number of processors: what a processor has, and
where the keys and values lie that its query heads read. Knows no HTML."""

from collections.abc import Sequence
from typing import NamedTuple

from microgpt.attention.ranks import kv_heads_of


class Tray(NamedTuple):
    """K and V of a head, or a copy of them, which lies on the first one where it is not needed."""

    head: int
    left: list[float]  # of the width, in each case: from where, and how much
    width: list[float]
    copied: list[int]  # cases in which it is one more


def processors(ranks: Sequence[int]) -> list[tuple[list[float], list[float]]]:
    """As many as there are at most, as the left and the width of a tray; those that a case has not lie on its last."""
    return [([min(at, n - 1) / n for n in ranks], [1 / n for n in ranks]) for at in range(max(ranks))]


def trays(ranks: Sequence[int], n_head: int, n_kv_head: int) -> list[Tray]:
    """Each below the query heads of its processor that read it."""
    found, group = [], n_head // n_kv_head
    for head in range(n_kv_head):
        spans = [spans_of(head, group, n, n_head, n_kv_head) for n in ranks]
        for copy in range(max(map(len, spans))):
            places = [span[min(copy, len(span) - 1)] for span in spans]
            left, width = [at.start / n_head for at in places], [len(at) / n_head for at in places]
            found.append(Tray(head, left, width, [i for i, span in enumerate(spans) if 0 < copy < len(span)]))
    return found


def spans_of(head: int, group: int, n: int, n_head: int, n_kv_head: int) -> list[range]:
    """Of each of n processors that keeps this head, the query heads there that read it."""
    mine = n_head // n
    return [
        range(max(head * group, rank * mine), min((head + 1) * group, (rank + 1) * mine))
        for rank in range(n)
        if head in kv_heads_of(rank, n, n_head, n_kv_head)
    ]
