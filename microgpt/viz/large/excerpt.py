"""The part of a trace that a page of a large model shows: some layers, and the logits of some tokens.

What was left out is said in `about["cut"]`. What the page says of the whole trace is in `about["whole"]`: counts, how
long the V rows are, by how much the answers with and without the cache are apart. So a page can be drawn again from its
excerpt. Numbers keep their full precision: one of 32 bits is written with the digits that give the same 32 bits back.
Knows traces; knows no page.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np

from microgpt import cost
from microgpt.config import Array, Config
from microgpt.trace import Trace
from microgpt.viz.drawing.counters import chances
from microgpt.viz.large.heads import with_rows

EVERYWHERE = ("attn_weights", "cache_append", "sample", "recompute_macs")  # kept in all layers
OPENED = ("attn_norm", "q", "k", "v", "attn_scores", "head_out")  # kept in some
READ_EVERYWHERE, READ_OPENED = ("key_positions",), ("k_read", "v_read")  # kept like those, where there are any
HEADS_AT = {"q": 1, "k": 1, "v": 1, "head_out": 1, "attn_scores": 0, "k_read": 0, "v_read": 0}  # the axis of the heads
CLOSED = 3  # digits of the weights of a head that a page does not open
OVER_VOCABULARY = ("logits", "recompute_logits")
EVENTS_KEPT = {*EVERYWHERE, *READ_EVERYWHERE, *OPENED, *READ_OPENED, *OVER_VOCABULARY}
IN_ALL = (*EVERYWHERE, *OVER_VOCABULARY, "resid_pre", "k", "v")  # what `facts_of_all` looks at in all layers


def excerpt(trace: Trace, layers: Collection[int], token_ids: Sequence[int], digits: int = 0) -> Trace:
    """A new trace with what is kept. Its vocabulary and its logits are those of `token_ids`, in that order.

    With `digits` the numbers of the layers are rounded to so many, and what is smaller than 10^-digits is 0: such a
    file has half the size. What is told of the whole has two digits more; counts and logits stay as they are.
    """
    vocabulary, told = trace.about["vocabulary"], {event.name for event in trace}
    everywhere = (*EVERYWHERE, *(name for name in READ_EVERYWHERE if name in told))
    opened = (*OPENED, *(name for name in READ_OPENED if name in told))
    cut = {
        "vocabulary": "Only the tokens of vocabulary_ids are here, in that order; so are logits and recompute_logits.",
        "size": len(vocabulary),
        "in_all_layers": list(everywhere),
        "in_layers": {"layers": sorted(layers), "events": list(opened)},
        "left_out": "All other events and layers. Counts on the page come from the whole trace.",
    } | ({"digits": digits} if digits else {})
    about = {
        **trace.about,
        "vocabulary": [vocabulary[token] for token in token_ids],
        "vocabulary_ids": list(token_ids),
        "cut": cut,
        "whole": in_digits(facts_of_all(trace, token_ids), digits + 2) if digits else facts_of_all(trace, token_ids),
    }
    part = Trace(about)
    for event in trace:
        name, value, pos, layer = event.report
        if name in everywhere and isinstance(value, int):
            part(event.report)
        elif name in everywhere or (name in opened and layer in layers):
            part((name, round_values(np.asarray(value), digits), pos, layer))
        elif name in OVER_VOCABULARY:
            part((name, shortest(np.asarray(value)[..., token_ids]), pos, layer))
    return part


def is_needed(layers: Collection[int]) -> Callable[[str, int], bool]:
    """Which events, by name and layer, a recording must keep for the excerpt of `layers` and what it says of all."""
    return lambda name, layer: (
        name in (*IN_ALL, *READ_EVERYWHERE) or (name in (*OPENED, *READ_OPENED) and layer in layers)
    )


def of_heads(part: Trace, heads: Sequence[tuple[int, int, int]]) -> Trace:
    """Of an excerpt, the rows of some heads alone: what a page shows, a tenth of all of them.

    `heads` are layer, head and rank, as `Open` in heads.py has them. Of the others, q, k, v and head_out are NaN and
    scores minus infinity, in a file null; their weights, which the picture of all heads draws, have CLOSED digits.
    """
    config, opened = Config(**part.about["config"]), {(layer, head) for layer, head, _ in heads}
    group = config.n_head // config.n_kv_head
    cut = part.about["cut"]
    in_layers = {**cut["in_layers"], "heads": [list(one) for one in heads], "others": CLOSED}
    found = Trace({**part.about, "cut": {**cut, "in_layers": in_layers}})
    for event in part:
        name, value, pos, layer = event.report
        own = [head for head in range(config.n_head) if (layer, head) in opened]
        if name == "attn_weights":
            told = round_values(np.asarray(value), CLOSED)
            told[own] = np.asarray(value)[own]
        elif name in HEADS_AT:
            rows = np.asarray(value, np.float64)
            if name == "head_out":
                rows = rows.reshape(len(rows), config.n_head, -1)
            kept = sorted({head // group for head in own}) if name in ("k", "v", *READ_OPENED) else own
            some = [slice(None)] * HEADS_AT[name] + [kept]
            told = np.full_like(rows, -np.inf if name == "attn_scores" else np.nan)
            told[tuple(some)] = rows[tuple(some)]
            told = told.reshape(np.shape(value))
        else:
            found(event.report)
            continue
        found((name, told, pos, layer))
    return found


def facts_of_all(trace: Trace, token_ids: Sequence[int]) -> dict[str, Any]:
    """What the page says of all layers and of the whole vocabulary, a step an entry.

    `macs` over cost.PARTS; `chances`, the probability of each of `token_ids` among all tokens, at the temperature and
    the top-k of the run; `apart`, the largest difference of the logits with and without the cache, or None;
    `likeliest`, the ids of the likeliest token in both, or None; `v_lengths` [n_layer][n][n_kv_head] and
    `resid_lengths` [n_layer][n], how long the V rows are and the residual stream as it enters a layer; `k_peaks`
    [n_layer][n_kv_head], of the keys, the channel that is largest on the mean over the text, and how many times the
    middle one it is.
    """
    config, n = Config(**trace.about["config"]), len(trace.about["tokens"])
    logits = [np.asarray(trace["logits", i][0], np.float64) for i in range(n)]
    return {
        "macs": [macs(trace, config, i).tolist() for i in range(n)],
        "chances": [chances(trace.about, row)[token_ids].tolist() for row in logits],
        "apart": [
            float(np.abs(row - trace["recompute_logits", i]).max()) if ("recompute_logits", i) in trace else None
            for i, row in enumerate(logits)
        ],
        "likeliest": [
            [int(row.argmax()), int(trace["recompute_logits", i].argmax())]
            if ("recompute_logits", i) in trace
            else None
            for i, row in enumerate(logits)
        ],
        "v_lengths": v_lengths(trace, config, n).tolist(),
        "resid_lengths": np.linalg.norm(over_layers(trace, "resid_pre", config, n), axis=-1).tolist()
        if ("resid_pre", 0, 0) in trace
        else [],
        "k_peaks": k_peaks(over_layers(trace, "k", config, n)),
    }


def macs(trace: Trace, config: Config, i: int) -> Array:
    """Multiply-adds of step i: as the engine says, or counted; by formula where what is counted has not been told."""
    if "macs" in trace.about:
        return np.array(trace.about["macs"][i])
    told = [event for event in trace if event.pos == i]
    return cost.count(config, told) if {*cost.MACS} <= {event.name for event in told} else cost.step_macs(config, i + 1)


def v_lengths(trace: Trace, config: Config, n: int) -> Array:
    """How long each V row is, [n_layer, n, n_kv_head]."""
    lengths: Array = np.linalg.norm(over_layers(trace, "v", config, n), axis=-1)
    return lengths


def over_layers(trace: Trace, name: str, config: Config, n: int) -> Array:
    """The rows of an event, [n_layer, n, ...], in 64 bits; 0 in layers that have none."""
    kept = with_rows(trace.about)
    told = np.array([[trace[name, i, layer][0] for i in range(n)] for layer in kept], np.float64)
    found = np.zeros((config.n_layer, *told.shape[1:]))
    found[kept] = told
    return found


def k_peaks(keys: Array) -> list[list[tuple[int, float]]]:
    """Of keys [n_layer, n, n_kv_head, head_dim]: see `facts_of_all`."""
    sizes = np.sort(found := np.abs(keys).mean(axis=1), axis=-1)  # [n_layer, n_kv_head, head_dim]
    middle = sizes[..., sizes.shape[-1] // 2]
    times = np.divide(sizes[..., -1], middle, out=np.zeros_like(middle), where=middle > 0)
    return [list(zip(*pair, strict=True)) for pair in zip(found.argmax(-1).tolist(), times.tolist(), strict=True)]


def round_values(value: Array, digits: int) -> Array:
    """Rounded to so many digits; else as it is, see `shortest`."""
    if not digits or value.dtype.kind == "i":  # counts are whole
        return shortest(value)
    return np.where(np.abs(value) < 10.0**-digits, 0.0, in_digits(value.tolist(), digits))


def in_digits(value: Any, digits: int) -> Any:
    """The same, in lists of lists, each broken number rounded to so many digits."""
    if isinstance(value, dict):
        return {name: in_digits(part, digits) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [in_digits(part, digits) for part in value]
    return float(f"{value:.{digits}g}") if isinstance(value, float) else value


def shortest(value: Array) -> Array:
    """`value` as float64, each number the one with the fewest digits that is the same in its own type."""
    if value.dtype != np.float32:
        return value
    return value.astype("U32").astype(np.float64)
