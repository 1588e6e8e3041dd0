"""A GPT, small and whole: token ids in, logits out.

Read it from top to bottom as a lecture. `forward` is the only forward pass there is: decoding with a
cache, recomputing without one, prefill in chunks and the parallel pass of training all call it, with
other arguments. A variant of the architecture is a field of `Config`; the cache is an argument. What no cache can
carry is one or the other too: which rows a token sees (`window`, `mask_block`, and `parents` where the new tokens are a
tree and not a line), latent rows (`kv_lora_rank`: what is kept is neither a head's key nor its value), and the rows of
an encoder (`memory`).

Shapes in the comments: n = tokens in this call, t = tokens so far (cached + n), d = n_embd. Weight matrices are
[out, in]. There is no batch dimension: the tokens of several texts (`Batch`) are rows below each other, and all of the
model works row by row but for attention, where the tokens of a text meet. One `hook`, if there is one, is told what was
computed, a report a line, directly below the line of maths that it reports. `hook and` costs 2 ns where there is none;
to call one that does nothing would cost 33.
This module does not know of pages, traces, files or training.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np

from microgpt.cache import Batch, Cache
from microgpt.config import Array, Config, Hook, Params, window_of
from microgpt.errors import N_, UserError
from microgpt.rope import ROTATIONS
from microgpt.simd import mean, times

Text: TypeAlias = tuple[Cache, int, Sequence[int], slice]  # its cache, first position, positions, rows in this call
TextRows: TypeAlias = tuple[Cache, int, Sequence[int], Array, Array, Array]  # the same, with its rows of q, k and v
Memory: TypeAlias = Sequence[tuple[Array, Array]]  # per layer: keys and values of an encoder's rows


def forward(
    params: Params,
    config: Config,
    token_ids: Sequence[int],
    cache: Cache | Batch,
    hook: Hook | None = None,
    head_rows: slice | Sequence[int] = slice(None),
    memory: Memory = (),
    parents: Sequence[int] = (),
) -> Array:
    """Run `token_ids` (n of them) after what `cache` already holds; append their K and V to it.

    `memory`, where the config says `cross`, is what `remember` has made of an encoder's rows. `parents` makes a tree of
    the new tokens: the token that each one follows, by its place among them, or -1 for the cached text.
    Of a `Batch` the tokens are those of its texts, one text after the other. `hook` then hears of attention text by
    text, each at its own position, and of all else once, for the rows of all texts, at the position of the first row.
    Returns logits [n, vocab_size], or only the rows that `head_rows` picks (decoding needs the last).
    Raises UserError when the cache has no room for n more rows, or the tree is none.
    """
    norm, eps = NORMS[config.norm], config.norm_eps
    texts, positions = batch_texts(cache, len(token_ids), parents, config)
    start = texts[0][1]
    read, finish = READS[config.absorbed, bool(config.kv_lora_rank)]
    rotate = ROTATIONS[config.position](config, positions, params["wte"].dtype)
    scale = config.attn_scale or config.head_dim**-0.5

    x = embed(params, config, token_ids, positions)  # [n] -> [n, d]
    hook and hook(("embed", x, start, -1))
    if config.embd_norm:
        x = norm(x, params, "embd_norm", eps)  # [n, d]
    for layer in range(config.n_layer):
        here = f"layer{layer}."
        hook and hook(("resid_pre", x, start, layer))

        a = norm(x, params, here + "attn_norm", eps)  # [n, d]
        hook and hook(("attn_norm", a, start, layer))
        q = rotate(project(a, params, here + "wq", config.n_head, eps))  # [n, d] -> [n, n_head, head_dim]
        hook and hook(("q", q, start, layer))
        k = rotate(project(a, params, here + "wk", config.n_kv_head, eps))  # [n, d] -> [n, n_kv_head, head_dim]
        hook and hook(("k", k, start, layer))
        v = project(a, params, here + "wv", config.n_kv_head, eps)  # [n, d] -> [n, n_kv_head, head_dim]
        hook and hook(("v", v, start, layer))
        parts, mixes = split_texts(texts, q, k, v), []
        for cache, first, places, q, k, v in parts:  # a text at a time, and nearly always there is one
            keys, values, key_positions = cache[layer].append(k, v)  # two of [n_kv_head, t, head_dim]: old rows and new
            hook and hook(("cache_append", keys.shape[1], first, layer))
            q, keys, values = read(q, keys, values, params, here)  # what is kept may be no head's own key
            mask = causal_mask(places, key_positions, window_of(config, layer), config.mask_block, parents)  # [n, t]
            scores = attn_scores(q, keys, mask, scale)  # [n_head, n, t]
            hook and hook(("attn_scores", scores, first, layer))
            weights = softmax(scores)  # [n_head, n, t], each row sums to 1
            hook and hook(("attn_weights", weights, first, layer))
            mixed = mix(weights, values)  # [n_head, n, t] x values -> [n, n_head * head_dim]
            hook and hook(("head_out", mixed, first, layer))
            mixes.append(mixed)
        mixed = mixes[0] if len(mixes) == 1 else np.concatenate(mixes)  # [n, n_head * head_dim]
        mixed = finish(mixed, params, here, config)  # -> [n, n_head * v_dim]
        attn_out = linear(mixed, params, here + "wo")  # -> [n, d]; q is not needed any more
        hook and hook(("attn_out", attn_out, start, layer))
        x = x + attn_out  # [n, d]
        hook and hook(("resid_mid", x, start, layer))
        if config.cross:
            x = x + cross(norm(x, params, here + "cross_norm", eps), memory[layer], params, here, config)

        m = norm(x, params, here + "mlp_norm", eps)  # [n, d]
        hook and hook(("mlp_norm", m, start, layer))
        hidden = MLPS[config.mlp](m, params, here)  # [n, d] -> [n, n_mlp]
        hook and hook(("mlp_hidden", hidden, start, layer))
        mlp_out = linear(hidden, params, here + "fc2")  # [n, n_mlp] -> [n, d]
        hook and hook(("mlp_out", mlp_out, start, layer))
        x = x + mlp_out  # [n, d]
    hook and hook(("resid_final", x, start, -1))

    x = x[head_rows]
    if config.final_norm:
        x = norm(x, params, "final_norm", eps)
    logits = times(x, params.get("lm_head", params["wte"]))  # [n, d] -> [n, vocab_size]
    hook and hook(("logits", logits.copy(), start, -1))  # the caller gets the logits, and may write into them
    return logits


# ---- the parts, in the order in which forward uses them -------------------------------------------


def batch_texts(
    cache: Cache | Batch, n: int, parents: Sequence[int], config: Config
) -> tuple[list[Text], Sequence[int]]:
    """The texts of a call, and the positions of all its tokens [n]. Raises UserError before anything is written."""
    if not isinstance(cache, Batch):
        cache.check_room(n)
        start = cache.next_position
        positions = place_tree(start, n, parents, config) if parents else range(start, start + n)
        return [(cache, start, positions, slice(None))], positions
    if parents or config.cross:
        raise UserError("Texts side by side have no tree and no encoder: run this one by itself.")
    caches, counts = cache.caches, cache.counts
    if sum(counts) != n or min(counts, default=0) < 1 or len({id(one) for one in caches}) != len(counts):
        sentence = N_("%(n)s tokens for texts of %(counts)s: each needs a token or more, and a cache of its own.")
        raise UserError(sentence, n=n, counts=", ".join(map(str, counts)))
    texts, end = list[Text](), 0
    for one, count in zip(caches, counts, strict=True):
        one.check_room(count)
        start, rows, end = one.next_position, slice(end, end + count), end + count
        texts.append((one, start, range(start, start + count), rows))
    return texts, [position for _, _, positions, _ in texts for position in positions]


def split_texts(texts: list[Text], q: Array, k: Array, v: Array) -> list[TextRows]:
    """Each text with its own rows of q, k and v."""
    if len(texts) == 1:
        cache, start, positions, _ = texts[0]
        return [(cache, start, positions, q, k, v)]
    return [(cache, start, positions, q[rows], k[rows], v[rows]) for cache, start, positions, rows in texts]


def place_tree(start: int, n: int, parents: Sequence[int], config: Config) -> list[int]:
    """The positions of a tree's tokens: each one after its parent, so that those side by side have the same."""
    held = len(parents)
    if held != n or config.mask_block > 1:
        raise UserError("%(n)s tokens, %(held)s parents: no tree, or no causal mask.", n=n, held=held)
    positions = list[int]()
    for i, up in enumerate(parents):
        if not -1 <= up < i:
            raise UserError("In a tree, token %(i)s comes after %(up)s: choose an earlier one.", i=i, up=up)
        positions.append(start if up < 0 else positions[up] + 1)
    return positions


def embed(params: Params, config: Config, token_ids: Sequence[int], positions: Sequence[int]) -> Array:
    """One row of wte a token; learned positions are added, rotary ones come later, inside attention."""
    x: Array = params["wte"].take(token_ids, axis=0)  # wte[token_ids], in a third of the time: [n] -> [n, d]
    if config.position == "learned":
        rows = slice(positions.start, positions.stop) if isinstance(positions, range) else positions
        x = x + params["wpe"][rows]
    return x


def rms_plain(x: Array, params: Params, name: str, eps: float) -> Array:
    """Scale each row to a root mean square of 1."""
    return x / np.sqrt(mean(x * x) + eps)


def rms(x: Array, params: Params, name: str, eps: float) -> Array:
    """RMSNorm: rms_plain with a learned gain."""
    return rms_plain(x, params, name, eps) * params[name]


def layer_norm(x: Array, params: Params, name: str, eps: float) -> Array:
    """LayerNorm: each row to mean 0 and variance 1, then a learned gain and bias."""
    return rms_plain(x - mean(x), params, name, eps) * params[name] + params[name + ".bias"]


NORMS: dict[str, Callable[[Array, Params, str, float], Array]] = {
    "rms_plain": rms_plain,
    "rms": rms,
    "layer": layer_norm,
}


def linear(x: Array, params: Params, name: str) -> Array:
    """x @ W.T, and + b where the model has one."""
    y = times(x, params[name])  # [n, in] -> [n, out]
    bias = params.get(name + ".bias")
    if bias is not None:
        y += bias
    return y


def project(x: Array, params: Params, name: str, heads: int, eps: float) -> Array:
    """A linear map, each row cut into heads: [n, d] -> [n, heads, head_dim]; each head may have a norm.

    MLA makes its queries in two maps with a norm between, and its one "head" of V is the latent, which has a norm.
    """
    if name + ".down" in params:
        x = rms(linear(x, params, name + ".down"), params, name + ".down.norm", eps)  # [n, d] -> [n, q_lora_rank]
    y = linear(x, params, name).reshape(len(x), heads, -1)
    return rms(y, params, name + ".norm", eps) if name + ".norm" in params else y


def as_kept(q: Array, keys: Array, values: Array, params: Params, here: str) -> tuple[Array, Array, Array]:
    """The rows as they are kept: a key and a value for each head, or for each group of them."""
    return q, keys, values


def as_mixed(mixed: Array, params: Params, here: str, config: Config) -> Array:
    """A mix of values needs nothing more."""
    return mixed


def expand(q: Array, short_keys: Array, latents: Array, params: Params, here: str) -> tuple[Array, Array, Array]:
    """MLA as it is defined: every head's keys and values are made of the latents, [1, t, kv_lora_rank], at each step.

    A key is a head's own part, then the short key [1, t, rope_dim], turned by its position and shared by all heads.
    """
    n_head, t = q.shape[1], latents.shape[1]
    own = linear(latents[0], params, here + "wk_up").reshape(t, n_head, -1).swapaxes(0, 1)  # [n_head, t, v_dim]
    values = linear(latents[0], params, here + "wv_up").reshape(t, n_head, -1).swapaxes(0, 1)  # [n_head, t, v_dim]
    return q, np.concatenate([own, short_keys.repeat(n_head, axis=0)], axis=-1), values


def absorb(q: Array, short_keys: Array, latents: Array, params: Params, here: str) -> tuple[Array, Array, Array]:
    """The same scores without making a key: (W c) . q is c . (W^T q): wk_up is applied to the query, not to all rows.

    All heads then read one set of rows, latent and short key side by side: [1, t, kv_lora_rank + rope_dim]. They mix
    latents, and wv_up is applied to the one that comes out.
    """
    n, n_head, _ = q.shape
    turned = short_keys.shape[2]
    up = params[here + "wk_up"].reshape(n_head, -1, latents.shape[2])  # [n_head, v_dim, kv_lora_rank]
    asked = (q[..., :-turned].swapaxes(0, 1) @ up).swapaxes(0, 1)  # [n, n_head, kv_lora_rank]
    keys = np.concatenate([latents, short_keys], axis=-1)
    return np.concatenate([asked, q[..., -turned:]], axis=-1), keys, latents


def of_latents(mixed: Array, params: Params, here: str, config: Config) -> Array:
    """A mix of latents, made a mix of values by each head's part of wv_up: [n, n_head * kv_lora_rank] -> v_dim."""
    n, n_head, matrix = len(mixed), config.n_head, params[here + "wv_up"]
    apart = mixed.reshape(n, n_head, -1).swapaxes(0, 1) @ matrix.reshape(n_head, -1, matrix.shape[1]).swapaxes(1, 2)
    return apart.swapaxes(0, 1).reshape(n, -1)


# By (absorbed, of latents): how attention reads what is kept, and what the mix becomes. A variant is another entry.
READS = {(False, False): (as_kept, as_mixed), (False, True): (expand, as_mixed), (True, True): (absorb, of_latents)}


def causal_mask(
    queries: Sequence[int], keys: Sequence[int], window: int = 0, block: int = 1, parents: Sequence[int] = ()
) -> Array | None:
    """Added to the scores, [n, t]: by their positions, 0 where a query sees a key, -inf where it does not.

    With blocks of more than one token, a query also sees the later tokens of its block, as far as they are there. In a
    tree a token sees those that it comes from, and none of another branch. None where there is nothing to hide: without
    a window, a single new token sees all that is cached, itself included.
    """
    if len(queries) == 1 and not window:
        return None
    if parents:
        return tree_mask(queries, keys, window, parents)
    at, of = (one if isinstance(one, range) else tuple(one) for one in (queries, keys))
    return (triangle if len(at) * len(of) <= SMALL_MASK else triangle.__wrapped__)(at, of, window, block)


@functools.lru_cache(maxsize=32)  # all layers of a pass have the same one
def triangle(queries: Sequence[int], keys: Sequence[int], window: int, block: int) -> Array:
    """`causal_mask` by comparison: a query sees the keys up to the last token of its own block."""
    at, of = np.asarray(queries)[:, None], np.asarray(keys)  # [n, 1] and [t]
    sees = of <= at // block * block + block - 1  # [n, t]
    if window:
        sees &= at - of < window
    return np.where(sees, np.float32(0), np.float32(-np.inf))


SMALL_MASK = 1 << 16  # numbers of a mask that is kept: those of a long prompt would fill the memory


def tree_mask(queries: Sequence[int], keys: Sequence[int], window: int, parents: Sequence[int]) -> Array:
    """As `causal_mask` for the cached rows, which come first; among the new ones, only those on the way to each."""
    old = len(keys) - len(queries)
    back = np.asarray(queries)[:, None] - np.asarray([*keys[:old], *queries])  # [n, t]: how far each key lies back
    sees = back < (window or np.inf)
    way = np.eye(len(queries), dtype=bool)
    for i, parent in enumerate(parents):
        if parent >= 0:
            way[i] |= way[parent]
    sees[:, old:] &= way
    return np.where(sees, np.float32(0), np.float32(-np.inf))


def attn_scores(q: Array, keys: Array, mask: Array | None = None, scale: float = 0.0) -> Array:
    """Each query row against every key row: q . k / sqrt(head_dim), and -inf for those that the mask hides."""
    n, n_head, head_dim = q.shape
    n_kv_head, t, _ = keys.shape
    grouped = q.swapaxes(0, 1).reshape(n_kv_head, -1, head_dim)  # query heads that share a key head: one matmul
    scores: Array = (grouped @ keys.swapaxes(1, 2)).reshape(n_head, n, t)
    scores *= scale or head_dim**-0.5  # in place: of a long prompt they are the largest array there is
    if mask is not None:
        scores += mask
    return scores


def softmax(x: Array) -> Array:
    """Over the last axis: e^x / sum(e^x), with the largest x taken off first so that nothing overflows."""
    e: Array = x - x.max(axis=-1, keepdims=True)
    np.exp(e, e)  # in place, as the division: the scores of a long prompt are the largest array there is
    e /= e.sum(axis=-1, keepdims=True)
    return e


def mix(weights: Array, values: Array) -> Array:
    """The weighted sum of the value rows, head by head, heads side by side again."""
    n_head, n, t = weights.shape
    n_kv_head, _, head_dim = values.shape
    mixed = weights.reshape(n_kv_head, -1, t) @ values  # [n_kv_head, group * n, head_dim]
    return mixed.reshape(n_head, n, head_dim).swapaxes(0, 1).reshape(n, -1)


def remember(params: Params, config: Config, encoded: Array) -> Memory:
    """Keys and values of an encoder's rows [m, d] for each layer's `cross`: made once, and the same at every step."""
    return [
        (
            project(encoded, params, f"layer{layer}.cross_wk", config.n_kv_head, config.norm_eps).swapaxes(0, 1),
            project(encoded, params, f"layer{layer}.cross_wv", config.n_kv_head, config.norm_eps).swapaxes(0, 1),
        )
        for layer in range(config.n_layer)
    ]


def cross(x: Array, memory: tuple[Array, Array], params: Params, here: str, config: Config) -> Array:
    """Cross-attention: queries of this text, keys and values of another. No mask, and no position: [n, d] -> [n, d]."""
    keys, values = memory  # [n_kv_head, m, head_dim]
    q = project(x, params, here + "cross_wq", config.n_head, config.norm_eps)
    mixed = mix(softmax(attn_scores(q, keys, None, config.attn_scale)), values)
    return linear(mixed, params, here + "cross_wo")


def relu_mlp(x: Array, params: Params, here: str) -> Array:
    """max(0, fc1 x)."""
    return np.maximum(linear(x, params, here + "fc1"), 0)


def gelu_mlp(x: Array, params: Params, here: str) -> Array:
    """gelu(fc1 x), in the tanh form that GPT-2 uses."""
    return gelu(linear(x, params, here + "fc1"))


def gelu_exact_mlp(x: Array, params: Params, here: str) -> Array:
    """The same as it was first defined. NumPy has no erf: the standard library's, one real number at a time."""
    y = linear(x, params, here + "fc1")
    return y * (0.5 + 0.5 * ERF(y * 0.5**0.5)).astype(y.dtype)  # type: ignore[no-any-return]


def swiglu_mlp(x: Array, params: Params, here: str) -> Array:
    """silu(gate x) * fc1 x."""
    return silu(linear(x, params, here + "gate")) * linear(x, params, here + "fc1")


def gelu(x: Array) -> Array:
    return 0.5 * x * (1.0 + np.tanh(GELU_SCALE * (x + 0.044715 * x * x * x)))  # type: ignore[no-any-return]


def silu(x: Array) -> Array:
    return x / (1.0 + np.exp(-x))


GELU_SCALE = (2.0 / np.pi) ** 0.5
ERF = np.vectorize(math.erf, otypes=[np.float64])

MLPS: dict[str, Callable[[Array, Params, str], Array]] = {
    "relu": relu_mlp,
    "gelu": gelu_mlp,
    "gelu_exact": gelu_exact_mlp,
    "swiglu": swiglu_mlp,
}
