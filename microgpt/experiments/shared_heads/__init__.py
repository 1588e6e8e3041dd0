"""Fewer key and value heads: the same model with heads shared, or with one short row for all of them.

Both are changes of the weights alone; `forward` runs the result. `with_kv_heads` averages the key and value heads
of a group (the usual start of a conversion, which training then goes on from), or repeats them, which changes
nothing. `with_latent` lets K and V of all heads be computed from one row of d_c numbers: W = up @ down, by a singular
value decomposition of the stacked [wk; wv] of each layer.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from microgpt.cache import KVCache
from microgpt.config import Array, Config, Params
from microgpt.decode import generate
from microgpt.experiments.lifetimes import rows_after
from microgpt.model import attn_scores, forward, mix, softmax
from microgpt.trace import Trace


class Change(NamedTuple):
    """What became of a text's pass when the weights were changed."""

    moved: Array  # [n_head]: share of a query head's attention that went to other rows, mean over steps and layers
    same: int  # steps at which the likeliest next token stayed the same
    logits: float  # the largest difference of a logit


def choices(config: Config) -> list[int]:
    """The numbers of key and value heads that the model can be given, most first."""
    n, g = config.n_head, config.n_kv_head
    return [m for m in range(n, 0, -1) if n % m == 0 and (m % g == 0 or g % m == 0)]


def with_kv_heads(params: Params, config: Config, n_kv_head: int) -> tuple[Params, Config]:
    """The model with so many key and value heads: neighbours averaged, or each repeated. See `choices`."""
    changed = dict(params)
    for name in (name for name in params if ".wk" in name or ".wv" in name):  # biases too
        if name.endswith(".norm"):
            continue  # one gain for all heads
        heads = params[name].reshape(config.n_kv_head, config.head_dim, -1)
        if n_kv_head < config.n_kv_head:
            heads = heads.reshape(n_kv_head, -1, *heads.shape[1:]).mean(axis=1)
        else:
            heads = heads.repeat(n_kv_head // config.n_kv_head, axis=0)
        changed[name] = heads.reshape(n_kv_head * config.head_dim, *params[name].shape[1:])
    return changed, replace(config, n_kv_head=n_kv_head)


def latent(params: Params, layer: int, d_c: int) -> tuple[Array, Array]:
    """The best rank-d_c form of [wk; wv]: down [d_c, d] makes the short row, up [2 * n_kv_head * head_dim, d_c]
    makes all keys, then all values of it."""
    stacked = np.concatenate([params[f"layer{layer}.wk"], params[f"layer{layer}.wv"]])
    u, s, vt = np.linalg.svd(stacked, full_matrices=False)
    largest = np.abs(vt).argmax(axis=1)  # a pair of vectors may be negated together: choose the same sign everywhere
    sign = np.sign(vt[np.arange(len(vt)), largest])
    return (s * sign)[:d_c, None] * vt[:d_c], u[:, :d_c] * sign[:d_c]


def with_latent(params: Params, config: Config, d_c: int) -> Params:
    """The model whose wk and wv are up @ down, of rank d_c, in every layer. At d_c = n_embd it is the same model."""
    changed = dict(params)
    for layer in range(config.n_layer):
        down, up = latent(params, layer, d_c)
        wk, wv = np.split(up @ down, 2)
        changed |= {f"layer{layer}.wk": wk, f"layer{layer}.wv": wv}
    return changed


def record_pass(params: Params, config: Config, token_ids: Sequence[int]) -> Trace:
    """One pass over the whole text, recorded."""
    trace = Trace()
    forward(params, config, token_ids, KVCache(config), trace.keep)
    return trace


def change(before: Trace, after: Trace, config: Config) -> Change:
    """Compare two passes over the same text."""
    logits, logits_after = before["logits", 0], after["logits", 0]
    moved = np.zeros(config.n_head)
    for layer in range(config.n_layer):
        gone = np.abs(after["attn_weights", 0, layer] - before["attn_weights", 0, layer]).sum(axis=2) / 2  # [n_head, n]
        moved += gone.sum(axis=1)
    return Change(  # the first token does not count: it has one row to read, whatever the weights
        moved / (config.n_layer * max(1, len(logits) - 1)),
        int((logits.argmax(axis=1) == logits_after.argmax(axis=1)).sum()),
        float(np.abs(logits - logits_after).max()),
    )


def off(before: Trace, after: Trace) -> float:
    """How far the cached rows of layer 0 are from those before: the root of the squared error's share.

    Deeper rows differ for a second reason: what comes in from below is not the same any more.
    """
    rows = [np.concatenate([t["k", 0, 0], t["v", 0, 0]], axis=2) for t in (before, after)]
    return float(np.linalg.norm(rows[1] - rows[0]) / np.linalg.norm(rows[0]))


def continue_text(params: Params, config: Config, token_ids: Sequence[int], stop: int) -> list[int]:
    """What the model writes behind the prompt, always the likeliest token, up to its stop or its full context."""
    room = config.n_ctx - len(token_ids)
    found = list(generate(params, config, token_ids, room, stop=stop)) if room else []
    return found[:-1] if found and found[-1] == stop else found


def in_turn(trace: Trace, config: Config, n: int, layer: int = 0) -> float:
    """How far the answers of the last of n steps are off, at most, if query heads take the key heads in turn: the
    first query head the first of them, the second the second, in place of neighbours sharing one."""
    order = [head % config.n_kv_head for head in range(config.n_head)]
    keys, values = (rows_after(trace, name, layer, n)[order] for name in ("k", "v"))
    found = mix(softmax(attn_scores(trace["q", n - 1, layer], keys, None, config.attn_scale)), values)
    return float(np.abs(found - trace["head_out", n - 1, layer]).max())
