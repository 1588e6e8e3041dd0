"""The part of a trace that a page of a large model shows: some layers, and the logits of some tokens.

What was left out is said in `about["cut"]`. Numbers keep their full precision: one of 32 bits is written with the
digits that give the same 32 bits back. Knows traces; knows no page.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from microgpt.config import Array
from microgpt.trace import Trace

EVERYWHERE = ("attn_weights", "cache_append", "sample", "recompute_macs")  # kept in all layers
OPENED = ("attn_norm", "q", "k", "v", "attn_scores", "head_out")  # kept in some
OVER_VOCABULARY = ("logits", "recompute_logits")


def excerpt(trace: Trace, layers: Collection[int], token_ids: Sequence[int]) -> Trace:
    """A new trace with what is kept. Its vocabulary and its logits are those of `token_ids`, in that order."""
    vocabulary = trace.about["vocabulary"]
    cut = {
        "vocabulary": "Only the tokens of vocabulary_ids are here, in that order; so are logits and recompute_logits.",
        "size": len(vocabulary),
        "in_all_layers": list(EVERYWHERE),
        "in_layers": {"layers": sorted(layers), "events": list(OPENED)},
        "left_out": "All other events and layers. Counts on the page come from the whole trace.",
    }
    about = {
        **trace.about,
        "vocabulary": [vocabulary[token] for token in token_ids],
        "vocabulary_ids": list(token_ids),
        "cut": cut,
    }
    part = Trace(about)
    for event in trace:
        name, value, pos, layer = event.report
        if name in EVERYWHERE and isinstance(value, int):
            part(event.report)
        elif name in EVERYWHERE or (name in OPENED and layer in layers):
            part((name, shortest(np.asarray(value)), pos, layer))
        elif name in OVER_VOCABULARY:
            part((name, shortest(np.asarray(value)[..., token_ids]), pos, layer))
    return part


def shortest(value: Array) -> Array:
    """`value` as float64, each number the one with the fewest digits that is the same in its own type."""
    if value.dtype != np.float32:
        return value
    return value.astype("U32").astype(np.float64)
