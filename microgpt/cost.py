"""What a pass costs: multiply-adds by part, bytes, reads of each row; counted, and as closed forms.

The counts fold what a hook was told: the shapes and scores that the model really computed. The closed
forms say what they must come to. Norms, softmax and additions are not counted, nor is cross-attention, which reports
nothing.
Knows configs and events; knows no page.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

import numpy as np

from microgpt.config import Array, Config, Report, row_dims, v_dim, window_of
from microgpt.trace import Event

PARTS = ("qkv", "scores", "mixing", "out", "mlp", "head")
MLP_INPUTS = {"relu": 1, "gelu": 1, "gelu_exact": 1, "swiglu": 2}  # matrices that read the token's vector


class Counter:
    """A hook that adds up the multiply-adds of what it is told: `counter.macs` is an array over PARTS."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.macs = np.zeros(len(PARTS), dtype=np.int64)

    def __call__(self, report: Report) -> None:
        name, value, *_ = report
        c = self.config
        if name in MACS:
            part, factor = MACS[name]
            self.macs[PARTS.index(part)] += np.size(value) * factor(c)
        if name == "q" and c.q_lora_rank:
            self.macs[PARTS.index("qkv")] += len(value) * c.q_lora_rank * c.n_embd
        if name == "attn_scores":
            pairs = int(np.isfinite(value).sum())  # a masked pair is not work; each pair that is scored is also mixed
            asked, mixed = pair_widths(c)
            self.macs += expansion_macs(c, *value.shape[1:])
            self.macs[PARTS.index("scores")] += pairs * asked
            self.macs[PARTS.index("mixing")] += pairs * mixed


# For each event: the part it belongs to, and the multiply-adds behind one number of its value.
MACS: dict[str, tuple[str, Callable[[Config], int]]] = {
    "q": ("qkv", lambda c: c.q_lora_rank or c.n_embd),
    "k": ("qkv", lambda c: c.n_embd),
    "v": ("qkv", lambda c: c.n_embd),
    "attn_out": ("out", lambda c: c.n_head * v_dim(c)),
    "mlp_hidden": ("mlp", lambda c: c.n_embd * MLP_INPUTS[c.mlp]),
    "mlp_out": ("mlp", lambda c: c.n_mlp),
    "logits": ("head", lambda c: c.n_embd),
}


def pair_widths(config: Config) -> tuple[int, int]:
    """Multiply-adds for a query and a key in one head: their score, and the share of the value."""
    c = config
    return (c.kv_lora_rank + c.rope_dim, c.kv_lora_rank) if c.absorbed else (c.head_dim, v_dim(c))


def expansion_macs(config: Config, n: int, t: int) -> Array:
    """MLA, over PARTS: what n tokens over t rows take to make keys and values of all latents; or, absorbed, to turn the
    queries, and what they have mixed."""
    c, found = config, np.zeros(len(PARTS), dtype=np.int64)
    up = c.n_head * v_dim(c) * c.kv_lora_rank
    if c.absorbed:
        found[PARTS.index("qkv")], found[PARTS.index("out")] = n * up, n * up
    elif c.kv_lora_rank:
        found[PARTS.index("qkv")] = 2 * t * up
    return found


def count(config: Config, events: Iterable[Event]) -> Array:
    """Multiply-adds over PARTS of the forward passes in `events`."""
    counter = Counter(config)
    for event in events:
        counter(event.report)
    return counter.macs


def reads(events: Iterable[Event]) -> dict[tuple[str, int, int], list[int]]:
    """(q | k | v, layer, row) -> the steps at which that row was read, from the shapes of what was computed.

    A score [head, i, j] that is finite has read q row i and K row j; its weight reads V row j. The rows are those up to
    the newest, or those whose positions were told.
    """
    found: dict[tuple[str, int, int], list[int]] = {}
    told: Event | None = None
    for event in events:
        if event.name == "key_positions":
            told = event
        if event.name != "attn_scores":
            continue
        heads = np.isfinite(np.asarray(event.value))  # [n_head, n, t]; an excerpt may have those of some heads alone
        seen: Array = heads.any(axis=0)  # [n, t]
        end = event.pos + len(seen)
        where = np.arange(end - seen.shape[1], end) if told is None else np.asarray(told.value, int)
        told = None
        for i, row in enumerate(seen):
            step = event.pos + i
            found.setdefault(("q", event.layer, step), []).append(step)
            for j in where[np.flatnonzero(row)].tolist():
                found.setdefault(("k", event.layer, j), []).append(step)
                found.setdefault(("v", event.layer, j), []).append(step)
    return found


def lookup_tables(config: Config) -> tuple[str, ...]:
    """Tables of which a pass reads only the rows that it looks up; a tied wte is the output head too, read whole."""
    return ("wpe",) if config.tied else ("wte", "wpe")


def kv_bytes(config: Config, n: int, bytes_per_value: int) -> int:
    """Bytes that K and V of n tokens take, all layers."""
    return config.n_layer * config.n_kv_head * sum(row_dims(config)) * n * bytes_per_value


# ---- closed forms ---------------------------------------------------------------------------------


def pass_macs(config: Config, n: int, pairs: int, logits: int = 1) -> Array:
    """Multiply-adds over PARTS when n tokens run through all layers, with `pairs` (query, key) pairs a head. What MLA
    makes of its rows comes on top: `expansion_macs`."""
    c, (asked, mixed) = config, pair_widths(config)
    query = (c.q_lora_rank or c.n_embd) * c.n_head * c.head_dim + c.q_lora_rank * c.n_embd
    per_layer = [
        n * (query + c.n_embd * c.n_kv_head * sum(row_dims(c))),
        pairs * c.n_head * asked,
        pairs * c.n_head * mixed,
        n * c.n_embd * c.n_head * v_dim(c),
        n * c.n_embd * c.n_mlp * (MLP_INPUTS[c.mlp] + 1),
    ]
    return np.array([c.n_layer * x for x in per_layer] + [logits * c.n_embd * c.vocab_size], dtype=np.int64)


def count_pairs(n: int, t: int, window: int = 0) -> int:
    """Pairs (query, key) a head, when the last n of t tokens look back, each at most over `window` rows (0: all)."""
    if n < t:
        return count_pairs(t, t, window) - count_pairs(t - n, t - n, window)
    near = min(t, window or t)  # tokens that see all that is there
    return near * (near + 1) // 2 + (t - near) * near


def formula_macs(config: Config, n: int, t: int, layers: range, logits: int = 0) -> Array:
    """Multiply-adds over PARTS when the last n of t tokens run through `layers`, each with its own window."""
    found: Array = pass_macs(replace(config, n_layer=len(layers)), n, 0, logits) + len(layers) * expansion_macs(
        config, n, t
    )
    pairs = sum(count_pairs(n, t, window_of(config, layer)) for layer in layers)
    for part, width in zip(("scores", "mixing"), pair_widths(config), strict=True):
        found[PARTS.index(part)] = pairs * config.n_head * width
    return found


def step_macs(config: Config, t: int) -> Array:
    """Step t (from 1) with the cache: one token, t keys."""
    return formula_macs(config, 1, t, range(config.n_layer), 1)


def naive(config: Config, t: int) -> Array:
    """Step t without a cache: all t tokens again."""
    return formula_macs(config, t, t, range(config.n_layer), 1)
