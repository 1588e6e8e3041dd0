"""One token's way through the model: every stop of it, how long each lives, and which stops see other tokens.

`stops` reads a trace of single steps. `compare_stops` compares two, of texts that differ in one earlier token: what
the last token meets. `mlp_alone` moves and replaces the other rows in front of an MLP. Single steps on the same numbers
do the same arithmetic, so a stop that no other token reaches is equal to the last bit.

Knows models, traces and shapes; knows no page.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from microgpt.cache import KVCache
from microgpt.config import Array, Config, Params
from microgpt.decode import decode_step
from microgpt.model import MLPS, NORMS, forward, linear
from microgpt.trace import Trace
from microgpt.viz.drawing.lens import logit_factors

# Within a layer, in the order of computation; between them lies the residual stream.
MOST_SWAPS = 6  # tokens of a text that one can swap, one at a time
QKV = ("q", "k", "v")
MET = ("attn_scores", "attn_weights")  # these are drawn between the rows of K and V
ATTENTION = ("attn_norm", "q", "k", "v", "attn_scores", "attn_weights", "head_out", "attn_out")
MLP = ("mlp_norm", "mlp_hidden", "mlp_out")
MADE_WITH = {  # stop -> the parameters that it multiplies with or adds, without their layer
    "embed": ("wte", "wpe"),
    "attn_norm": ("attn_norm",),
    "q": ("wq",),
    "k": ("wk",),
    "v": ("wv",),
    "attn_out": ("wo",),
    "mlp_norm": ("mlp_norm",),
    "mlp_hidden": ("fc1", "gate"),
    "mlp_out": ("fc2",),
    "logits": ("final_norm", "lm_head"),
}


class Stop(NamedTuple):
    """One value on the way: which event, in which layer (-1 outside), and how long it lives."""

    name: str
    layer: int
    value: Array  # with the shape that the model gave it
    part: str  # stream, attention, mlp or head
    life: str  # "sequence" for what the cache keeps, "step" for all else


def stops(trace: Trace, config: Config, pos: int) -> list[Stop]:
    """The stops of the token at `pos`, in order. The residual stream shows up wherever something was added to it."""
    found = [Stop("embed", -1, trace["embed", pos], "stream", "step")]
    if config.embd_norm:
        found.append(Stop("resid_pre", 0, trace["resid_pre", pos, 0], "stream", "step"))
    for layer in range(config.n_layer):
        if layer:
            found.append(Stop("resid_pre", layer, trace["resid_pre", pos, layer], "stream", "step"))
        for name in ATTENTION:
            life = "sequence" if name in "kv" else "step"
            found.append(Stop(name, layer, trace[name, pos, layer], "attention", life))
        found.append(Stop("resid_mid", layer, trace["resid_mid", pos, layer], "stream", "step"))
        found += [Stop(name, layer, trace[name, pos, layer], "mlp", "step") for name in MLP]
    found.append(Stop("resid_final", -1, trace["resid_final", pos], "stream", "step"))
    return [*found, Stop("logits", -1, trace["logits", pos], "head", "step")]


def adds_up(trace: Trace, config: Config, pos: int) -> float:
    """How far the residual stream is, at most, from the sum of what the parts have added to its beginning."""
    total, off = trace["resid_pre", pos, 0], 0.0
    for layer in range(config.n_layer):
        total = total + trace["attn_out", pos, layer]
        off = max(off, float(np.abs(total - trace["resid_mid", pos, layer]).max()))
        total = total + trace["mlp_out", pos, layer]
    return max(off, float(np.abs(total - trace["resid_final", pos]).max()))


def step_by_step(params: Params, config: Config, token_ids: Sequence[int]) -> Trace:
    """The trace of a text, one token a step behind a cache."""
    trace, cache = Trace(), KVCache(config, params["wte"].dtype)
    for token_id in token_ids:
        decode_step(params, config, token_id, cache, trace.keep)
    return trace


def swap_token(token_ids: Sequence[int], at: int, new_id: int) -> list[int]:
    """The text with another token at `at`."""
    return [*token_ids[:at], new_id, *token_ids[at + 1 :]]


def compare_stops(one: Trace, other: Trace, config: Config, pos: int) -> list[float]:
    """For each stop of the token at `pos`, the largest difference between two runs: exactly 0 where nothing differs."""
    pairs = zip(stops(one, config, pos), stops(other, config, pos), strict=True)
    return [float(np.abs(a.value - b.value).max()) for a, b in pairs]


class Alone(NamedTuple):
    """What an MLP did with one row while the others were moved or replaced. Largest differences."""

    moved: float  # of any row's result, when all rows stood in reverse order
    replaced: float  # of the last row's result, when all other rows held other numbers
    others: float  # of the replaced rows' own results: they did change


def mlp_alone(params: Params, config: Config, token_ids: Sequence[int], layer: int = 0) -> Alone:
    """Whether the MLP of `layer` lets one token's row touch another's; needs at least two tokens."""
    trace = Trace()
    forward(params, config, token_ids, KVCache(config, params["wte"].dtype), trace.keep)
    rows = trace["mlp_norm", 0, layer]  # [n, d]
    swapped = np.concatenate([np.roll(rows[:-1], 1, axis=-1), rows[-1:]])  # the same numbers in other places
    plain, moved, replaced = (mlp(params, config, x, layer) for x in (rows, rows[::-1], swapped))
    return Alone(
        moved=float(np.abs(moved[::-1] - plain).max()),
        replaced=float(np.abs(replaced[-1] - plain[-1]).max()),
        others=float(np.abs(replaced[:-1] - plain[:-1]).max()),
    )


def mlp(params: Params, config: Config, x: Array, layer: int) -> Array:
    """The MLP of one layer by itself: [n, d] -> [n, d]."""
    here = f"layer{layer}."
    return linear(MLPS[config.mlp](x, params, here), params, here + "fc2")


def steady(params: Params, config: Config, trace: Trace, pos: int, times: float) -> float:
    """How far what enters the first attention is off, at most, if the stream is so many times as large."""
    loud = times * trace["resid_pre", pos, 0]
    normed = NORMS[config.norm](loud, params, "layer0.attn_norm", config.norm_eps)
    return float(np.abs(normed - trace["attn_norm", pos, 0]).max())


def replacer_error(params: Params, config: Config, trace: Trace, pos: int) -> float:
    """How far the logits are off, at most, if the last MLP replaces the stream in place of adding to it."""
    x, matrix = logit_factors(params, config, trace["mlp_out", pos, config.n_layer - 1])
    return float(np.abs(x @ matrix.T - trace["logits", pos]).max())


def neighbours(params: Params, token_id: int, n: int) -> list[int]:
    """The n tokens whose embeddings point most nearly the same way as that of `token_id`."""
    table = params["wte"] / np.linalg.norm(params["wte"], axis=-1, keepdims=True)
    order = np.argsort(-table @ table[token_id], kind="stable")
    return [int(i) for i in order if i != token_id][:n]
