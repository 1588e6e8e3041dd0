"""One head both ways: what it makes of the latents of the newest rows, or its query turned to read them as they are.

It is the head whose weights differ most. Both ways end in the same mix of values. Latents, short keys, queries, keys
and values have a scale each.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from microgpt.config import Array
from microgpt.course.latent_row.lines import Computed, HeadLines, lines_of, newest_first
from microgpt.model import absorb, expand
from microgpt.record import Recording
from microgpt.viz.drawing.heat import Strip, scale_for
from microgpt.viz.text.formats import show

DRAWN = 10  # rows, the newest


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
