"""Which layers and heads of a large model a page opens, chosen from the trace by one rule or by the author.

The rule: the first, the middle and the last layer, and in each the head that looks back least, the one in the middle
and the one that looks back furthest. How far a head looks back is the mean distance of its weights, from 0 (the
token itself) to 1 (the first token), over the steps behind the first. Of these the page shows first the one that finds
something: `tell_most`. Knows traces; knows no page.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from microgpt.config import Array, Config
from microgpt.errors import N_, UserError
from microgpt.trace import Reads, Trace
from microgpt.viz.rendering.style import MOST_OPEN

NUMBERS = 50_000  # its size and its pace depend on what the open heads hold together: heads x head_dim x tokens
LISTS = {
    "layers": N_("The layers to open are “%(text)s”; give numbers such as 0, 5, 11."),
    "heads": N_("The heads to open are “%(text)s”; give numbers such as 0, 5, 11."),
}
MISSING = {
    "layers": N_("There is no layer %(value)s; this model has %(first)s to %(last)s."),
    "heads": N_("There is no head %(value)s; this model has %(first)s to %(last)s."),
}
RANKS = (N_("near"), N_("between"), N_("far"))


class Open(NamedTuple):
    """A head that can be looked into. `rank` is its place in RANKS, -1 when the author chose it."""

    layer: int
    head: int
    distance: float
    rank: int = -1

    @property
    def value(self) -> str:
        return f"{self.layer}.{self.head}"


def with_rows(about: Mapping[str, Any]) -> list[int]:
    """The layers that keep rows of K and V: all of them, but in models that mix attention with states of fixed size."""
    return sorted({*range(about["config"]["n_layer"])} - {*about.get("no_rows", ())})


def attention(trace: Trace, config: Config, n: int) -> Array:
    """All weights of all heads, [n_layer, n_head, n, n]: query, key; 0 for keys yet to come, and in layers without."""
    found, reads = np.zeros((config.n_layer, config.n_head, n, n)), Reads(trace)
    for layer in with_rows(trace.about):
        for i in range(n):
            found[layer, :, i, reads.positions(i, layer)] = trace["attn_weights", i, layer][:, 0].T
    return found


def earlier(about: Mapping[str, Any], weights: Array) -> Array | None:
    """What each query of `weights` [n_layer, n_head, n, n] gives to rows before those that are drawn,
    [n_layer, n_head, n]: as the engine says, else all that is left; None where there are no such rows."""
    if "earlier" in about:  # where heads have sinks, what is left is theirs too
        return np.array(about["earlier"]).transpose(1, 2, 0)
    if not about.get("before", 0):
        return None
    kept, left = with_rows(about), np.zeros(weights.shape[:3])
    left[kept] = np.clip(1 - weights[kept].sum(-1), 0, 1)
    return left


def distances(weights: Array, before: Array | None = None) -> Array:
    """How far each head looks back, [n_layer, n_head], 0 to 1; see the module's docstring.

    Where tokens ran before the first, what they get, `before` (`earlier`), counts as 1: as far as it can be seen.
    """
    n = weights.shape[-1]
    if n < 2:
        return np.zeros(weights.shape[:2])
    steps = np.arange(1, n)
    back = np.clip(steps[:, None] - np.arange(n), 0, None) / steps[:, None]  # [n - 1, n]
    far = (weights[:, :, 1:] * back).sum(-1) + (0 if before is None else before[:, :, 1:])
    mean: Array = far.mean(-1)
    return mean


def choose_heads(
    weights: Array,
    head_dim: int,
    layers: Sequence[int] = (),
    heads: Sequence[int] = (),
    kept: Sequence[int] = (),
    before: Array | None = None,
) -> list[Open]:
    """What the page opens. Without `layers` or `heads` the rule decides. Raises UserError for what there is not.

    `kept` are the layers that have rows, if those are not all; `before`, see `distances`.

    Where a page has no room for three heads in each layer, the rule takes the nearest and the furthest, or the latter.
    """
    n_layer, n_head, n, _ = weights.shape
    most = room_for(head_dim, n)
    check_numbers("layers", layers, n_layer)
    check_numbers("heads", heads, n_head)
    far, found = distances(weights, before), []
    kept = kept or range(n_layer)
    chosen = sorted(set(layers)) or rule_layers(kept)
    for layer in chosen:
        if layer not in kept:
            raise UserError("Layer %(layer)s of this model keeps no rows of keys and values.", layer=layer)
    room = most // len(chosen)
    ranks = (0, 1, 2) if room > 2 else (0, 2) if room == 2 else (2,)
    for layer in chosen:
        if heads:
            found += [Open(layer, head, float(far[layer, head])) for head in sorted(set(heads))]
            continue
        by_distance = np.argsort(far[layer], kind="stable").tolist()
        ranked = [by_distance[0], by_distance[(n_head - 1) // 2], by_distance[-1]]
        for rank in ranks:
            head = ranked[rank]
            if (layer, head) not in [(one.layer, one.head) for one in found]:
                found.append(Open(layer, head, float(far[layer, head]), rank))
    if len(found) > most:
        raise UserError(
            "%(n)s heads would be open; a page with this text opens at most %(most)s. Name fewer layers or heads.",
            n=len(found),
            most=most,
        )
    return found


def tell_most(weights: Array, heads: Sequence[Open]) -> tuple[int, int]:
    """The place in `heads` of the one to show first, and the step at which it shows something.

    They have the largest weight on a row that is neither the first, on which heads rest, nor the token's own. A text
    too short for one has the first head and its last step.
    """
    n = weights.shape[-1]
    if n < 3:
        return 0, n - 1
    found = np.stack([weights[one.layer, one.head] * other_rows(n) for one in heads])
    head, step, _ = np.unravel_index(found.argmax(), found.shape)
    return int(head), int(step)


def other_rows(n: int) -> Array:
    """1 where a row is neither the first nor the query's own, else 0: [n, n]."""
    found: Array = np.tril(np.ones((n, n)), -1) * (np.arange(n) > 0)
    return found


def room_for(head_dim: int, n: int) -> int:
    """How many heads of that size a page of n tokens opens, at most."""
    return max(1, min(MOST_OPEN, NUMBERS // (head_dim * n)))


def rule_layers(kept: Sequence[int]) -> list[int]:
    """The first, the middle and the last."""
    return sorted({kept[0], kept[(len(kept) - 1) // 2], kept[-1]})


def check_numbers(name: str, numbers: Sequence[int], count: int) -> None:
    """Raise UserError for a layer or a head, as `name` says, that a model with so many does not have."""
    for value in numbers:
        if not 0 <= value < count:
            raise UserError(MISSING[name], value=value, first=0, last=count - 1)


def parse_numbers(name: str, text: str | None) -> list[int]:
    """The layers or heads, as `name` says, that are asked for: "0, 5, 11"; none where nothing is given."""
    text = (text or "").strip()
    if not re.fullmatch(r"(\d{1,4}([,;\s]+|$))*", text):
        raise UserError(LISTS[name], text=text[:40])
    return [int(part) for part in re.findall(r"\d+", text)]
