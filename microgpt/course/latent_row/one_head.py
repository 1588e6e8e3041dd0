"""One head both ways: what it makes of the latents of the newest rows, or its query turned to read them as they are.

It is the head whose weights differ most. Both ways end in the same mix of values. Latents, short keys, queries, keys
and values have a scale each, and each number a line that says where it comes from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from microgpt.config import Array
from microgpt.model import absorb, expand
from microgpt.record import Recording
from microgpt.viz.drawing.heat import Strip, scale_for
from microgpt.viz.drawing.lens import Score, Share, Sum, add, score, shares
from microgpt.viz.text.formats import show

DRAWN = 10  # rows, the newest
CALCULATIONS = "kvwxtou"  # of what can be asked: the fields of HeadLines
FINE_DIGITS = 3  # of numbers that the picture draws without figures


class Computed(NamedTuple):
    """What a head computes at one step over n rows."""

    query: Array  # [own]: its own part
    short_query: Array  # [turned]
    turned: Array  # [rank]: `query` for latents
    latents: Array  # [n, rank]
    short: Array  # [n, turned]
    keys: Array  # [n, own]
    values: Array  # [n, own]
    scores: Array  # [n]
    weights: Array
    mixed: Array  # [rank]: of latents
    out: Array  # [own]: of values
    up_k: Array  # [own, rank]
    up_v: Array


class Cells(NamedTuple):
    """The lines of a row, cell by cell; None is what no number of decimals makes true."""

    lines: list[Sum | None]
    most: int  # the place of the number that is farthest from zero


class HeadLines(NamedTuple):
    """By what is asked, in the order of the rows."""

    keys: list[Cells]
    values: list[Cells]
    met: list[Score | None]  # of the query and a key,
    read: list[Sum | None]  # of the turned query and a latent: that score without the short key, undivided
    weights: list[Share | None]
    turned: Cells
    of_values: Cells  # the mix
    of_latents: Cells

    def names(self) -> Iterator[str]:
        """What can be asked, of all ways."""
        for kind, rows in (("k", self.keys), ("v", self.values)):
            yield from (f"{kind}{i}-{j}" for i, row in enumerate(rows) for j in range(len(row.lines)))
        yield from (f"{kind}{i}" for kind in "wx" for i in range(len(self.weights)))
        yield from (f"t{j}" for j in range(len(self.turned.lines)))
        yield from (f"{kind}{j}" for kind in "ou" for j in range(len(self.of_values.lines)))


class HeadRow(NamedTuple):
    """A token: what is kept of it, what the head makes of that, and its weight."""

    token: str
    latent: Strip
    short: Strip
    key: Strip  # the head's own part; the short key is the rest
    value: Strip
    weight: float


class OneHead(NamedTuple):
    """The head; its query in two parts, as keys have them, and its own part turned for latents."""

    head: int
    rows: list[HeadRow]  # newest first
    query: Strip
    short: Strip
    turned: Strip
    mixed: Strip  # of latents
    out: Strip  # of values: the mix of all of them, or what wv_up makes of `mixed`
    lines: HeadLines


def one_head(recording: Recording, layer: int) -> OneHead:
    """The newest step, in that layer."""
    head, made = compute(recording, layer)
    words, first = [show(str(token)) for token in recording.trace.about["tokens"]], max(0, len(made.latents) - DRAWN)
    kept, keyed = strips(made.latents, made.mixed), strips(made.short, made.short_query)
    made_k, made_v, asks = strips(made.keys), strips(made.values, made.out), strips(made.query, made.turned)
    rows = [
        HeadRow(
            words[i],
            kept(made.latents[i]),
            keyed(made.short[i]),
            made_k(made.keys[i]),
            made_v(made.values[i]),
            float(made.weights[i]),
        )
        for i in newest_first(made, first)
    ]
    query, short, turned = asks(made.query), keyed(made.short_query), asks(made.turned)
    return OneHead(head, rows, query, short, turned, kept(made.mixed), made_v(made.out), lines_of(made, first))


def compute(recording: Recording, layer: int) -> tuple[int, Computed]:
    """The head whose weights differ most, and all that it computes in that layer at the newest step."""
    c, n, params, trace = recording.model.config, recording.n_prompt, recording.model.params, recording.trace
    short, latents = (np.array([trace[name, i, layer][0, 0] for i in range(n)]) for name in "kv")
    here, own, rank = f"layer{layer}.", c.head_dim - c.rope_dim, c.kv_lora_rank
    _, keys, values = expand(trace["q", n - 1, layer], short[None], latents[None], params, here)
    turned, _, _ = absorb(trace["q", n - 1, layer], short[None], latents[None], params, here)
    weights, scores = (trace[f"attn_{name}", n - 1, layer][:, 0] for name in ("weights", "scores"))
    head = int(weights.max(axis=1).argmax())
    up_k, up_v = (params[f"{here}w{name}_up"].reshape(c.n_head, own, rank)[head] for name in "kv")
    query, short_query = np.split(trace["q", n - 1, layer][0, head], [own])
    return head, Computed(
        query,
        short_query,
        turned[0, head, :rank],
        latents,
        short,
        keys[head, :, :own],
        values[head],
        scores[head],
        weights[head],
        weights[head] @ latents,
        weights[head] @ values[head],
        up_k,
        up_v,
    )


def strips(*alike: Array) -> Callable[[Array], Strip]:
    """Strips without figures, on one scale for all of these."""
    scale = scale_for(*alike)
    return lambda row: scale.strip(row)._replace(digits=None)


def lines_of(made: Computed, first: int) -> HeadLines:
    """The lines of the rows from the `first` on that are drawn."""
    rows = newest_first(made, first)
    read = multiply(made.latents, made.turned, made.keys @ made.query)
    share = shares(made.scores.tolist(), made.weights.tolist())
    return HeadLines(
        [multiply(made.up_k, made.latents[i], made.keys[i]) for i in rows],
        [multiply(made.up_v, made.latents[i], made.values[i]) for i in rows],
        [meet(made, i) for i in rows],
        [read.lines[i] for i in rows],
        [share[i] for i in rows],
        multiply(made.up_k.T, made.query, made.turned),
        multiply(made.values.T, made.weights, made.out),
        multiply(made.up_v, made.mixed, made.out),
    )


def newest_first(made: Computed, first: int) -> range:
    """The rows from the `first` on, as they lie in a pile."""
    return range(len(made.latents) - 1, first - 1, -1)


def multiply(matrix: Array, row: Array, found: Array) -> Cells:
    """A line for each number of what that matrix makes of that row."""
    taken = row.tolist()
    lines = [
        add(list(zip(taken, factors, strict=True)), one, FINE_DIGITS)
        for factors, one in zip(matrix.tolist(), found.tolist(), strict=True)
    ]
    return Cells(lines, int(abs(found).argmax()))


def meet(made: Computed, i: int) -> Score | None:
    """The score of row i by its key, whose last part is the short key."""
    query = np.concatenate([made.query, made.short_query])
    key = np.concatenate([made.keys[i], made.short[i]])
    return score(query.tolist(), key.tolist(), float(made.scores[i]))
