"""How the work grows with the text: multiply-adds to write n tokens, with the cache and without, as closed forms.

`cost` says what one step takes; here the steps from 1 to n are summed, for the three ways to do them (BASELINES),
and the growth of the sum is measured: the slope of its curve on logarithmic axes. Norms, softmax and additions are
not counted, as in `cost`. Nothing here depends on n_ctx: the forms go on where a model's context ends.
"""

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from microgpt.config import Array, Config, window_of
from microgpt.cost import PARTS, count_pairs, pass_macs

BASELINES = ("cached", "needed", "naive")  # with the cache; only what the last token needs; all tokens again
GROUPS = {
    "projections": ("qkv", "out"),  # one row in, one row out: W_q, W_k, W_v, W_o
    "mlp": ("mlp",),
    "attention": ("scores", "mixing"),  # what grows with the rows that a query meets
    "head": ("head",),
    "total": PARTS,
}


def sum_macs(config: Config, baseline: str, n: int) -> Array:
    """Multiply-adds over PARTS of the steps 1 to n together, one token written a step."""
    tokens, layers = n * (n + 1) // 2, range(config.n_layer)  # tokens of all steps, when step t runs t
    if baseline == "cached":
        return through(config, layers, n, n, pairs_with_cache, n)  # step t: one token, t keys
    if baseline == "naive":
        return through(config, layers, tokens, n, naive_pairs, n)
    # needed: the layers below the last run all tokens; in the last one an old token is run for its k and v alone
    last = through(config, layers[-1:], n, n, pairs_with_cache, n)
    last[PARTS.index("qkv")] += (tokens - n) * 2 * config.n_embd * config.n_kv_head * config.head_dim
    return through(config, layers[:-1], tokens, n, naive_pairs) + last


def through(
    config: Config, layers: range, tokens: int, n: int, pairs: Callable[[int, int], int], logits: int = 0
) -> Array:
    """`tokens` run through these layers; `pairs` counts what the queries of n steps see in one of them."""
    found = pass_macs(replace(config, n_layer=0), 0, 0, logits)
    for layer in layers:
        found += pass_macs(replace(config, n_layer=1), tokens, pairs(n, window_of(config, layer)), 0)
    return found


def pairs_with_cache(n: int, window: int = 0) -> int:
    """Pairs (query, key) a head of n steps of one token: step t sees t keys, or the window."""
    return count_pairs(n, n, window)


def naive_pairs(n: int, window: int = 0) -> int:
    """The same when step t runs all t tokens."""
    near = min(n, window or n)  # steps in which all tokens see all keys
    far = n - near
    return near * (near + 1) * (near + 2) // 6 + far * near * (near + 1) // 2 + near * far * (far + 1) // 2


def group_macs(config: Config, baseline: str, group: str, n: int) -> int:
    """The same sum over one of GROUPS."""
    return int(sum_macs(config, baseline, n)[[PARTS.index(part) for part in GROUPS[group]]].sum())


def exponent(config: Config, baseline: str, group: str, n: int) -> float:
    """The slope of the curve on logarithmic axes between n / 2 and n: 1 is O(n), 2 is O(n^2), 3 is O(n^3)."""
    return math.log(group_macs(config, baseline, group, n) / group_macs(config, baseline, group, n // 2)) / math.log(
        n / (n // 2)
    )


def crossing(config: Config) -> float:
    """The number of keys at which attention takes as many multiply-adds as all else in a layer: 6 n_embd in GPT-2.

    Below it a token's projections and MLP cost more than its attention does.
    """
    one, two = pass_macs(config, 1, 0, 0).sum(), pass_macs(config, 1, 1, 0).sum()
    return float(one / (two - one))


def log_spaced(n: int, points: int = 25) -> list[int]:
    """Text lengths from 1 to n for a curve: even on a logarithmic axis, no length twice."""
    return sorted({round(x) for x in np.geomspace(1, n, points).tolist()})
