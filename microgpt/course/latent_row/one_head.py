"""One head both ways: what it makes of the latents of the newest rows, or its query turned to read them as they are.

It is the head whose weights differ most. Both ways end in the same mix of values. Latents, short keys, queries, keys
and values have a scale each.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from microgpt.config import Array
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
    rows: list[HeadRow]
    query: Strip
    short: Strip
    turned: Strip
    mixed: Strip  # of latents
    out: Strip  # of values: the mix of all of them, or what wv_up makes of `mixed`


def one_head(recording: Recording, layer: int) -> OneHead:
    """The newest step, in that layer."""
    c, n, params = recording.model.config, recording.n_prompt, recording.model.params
    short, latents = (np.array([recording.trace[name, i, layer][0, 0] for i in range(n)])[None] for name in "kv")
    q, here = recording.trace["q", n - 1, layer], f"layer{layer}."
    _, keys, values = expand(q, short, latents, params, here)
    turned, _, _ = absorb(q, short, latents, params, here)
    weights = recording.trace["attn_weights", n - 1, layer][:, 0]
    head = int(weights.max(axis=1).argmax())
    own, mixed, out = c.head_dim - c.rope_dim, weights[head] @ latents[0], weights[head] @ values[head]
    words = [show(str(token)) for token in recording.trace.about["tokens"][:n]]
    query, asked = q[0, head], turned[0, head]
    kept, keyed = strips(latents, mixed), strips(short, query[own:])
    made_k, made_v, asks = strips(keys[head, :, :own]), strips(values[head], out), strips(query[:own], asked)
    rows = [
        HeadRow(
            words[i],
            kept(latents[0, i]),
            keyed(short[0, i]),
            made_k(keys[head, i, :own]),
            made_v(values[head, i]),
            float(weights[head, i]),
        )
        for i in range(max(0, n - DRAWN), n)
    ]
    asked = asked[: c.kv_lora_rank]
    return OneHead(head, rows, asks(query[:own]), keyed(query[own:]), asks(asked), kept(mixed), made_v(out))


def strips(*alike: Array) -> Callable[[Array], Strip]:
    """Strips without figures, on one scale for all of these."""
    scale = scale_for(*alike)
    return lambda row: scale.strip(row)._replace(digits=None)
