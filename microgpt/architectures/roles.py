"""What each tensor of a model is for, by its name in `model.py`, or by one of its kind where ours has none.

Knows names and sentences; knows no shapes, no file, no page.
"""

from __future__ import annotations

from typing import NamedTuple

from microgpt.errors import N_


class Role(NamedTuple):
    """What a tensor is for. `symbol` is how it is written in formulas or said in short."""

    symbol: str
    part: str  # embedding, attention, mlp, norms, head or other
    sentence: str
    term: str  # the word of the glossary where its part is at work


ROLES = {
    "wte": Role(N_("embedding"), "embedding", N_("one row per token: where its vector starts"), "embedding"),
    "wpe": Role(N_("positions"), "embedding", N_("one row per position, added to the token’s"), "position"),
    "embd_norm": Role(N_("norm gain"), "norms", N_("a gain for each number, before the first layer"), "norm"),
    "attn_norm": Role(N_("norm gain"), "norms", N_("a gain for each number, before attention"), "norm"),
    "wq": Role("W_Q", "attention", N_("makes q: what a token looks for"), "query"),
    "wk": Role("W_K", "attention", N_("makes k: how it can be found"), "key"),
    "wv": Role("W_V", "attention", N_("makes v: what it hands over"), "value"),
    "wqkv": Role("W_Q W_K W_V", "attention", N_("makes q, k and v: three matrices side by side"), "attention"),
    "q_norm": Role(N_("norm gain"), "norms", N_("a gain for each number of a head’s q"), "norm"),
    "k_norm": Role(N_("norm gain"), "norms", N_("a gain for each number of a head’s k"), "norm"),
    "wq_down": Role("W_Q", "attention", N_("makes a short row, from which q comes"), "mla"),
    "wq_up": Role("W_Q", "attention", N_("makes the q of all heads of a short row"), "mla"),
    "wkv_down": Role("W_KV", "attention", N_("makes the short row that is cached for all heads"), "mla"),
    "wkv_up": Role("W_K W_V", "attention", N_("makes the k and v of all heads of the short row"), "mla"),
    "short_norm": Role(N_("norm gain"), "norms", N_("a gain for each number of a short row"), "norm"),
    "wo": Role("W_O", "attention", N_("brings what the heads found back to the stream"), "head"),
    "mask": Role(N_("causal mask"), "other", N_("no weights: which tokens may be read, kept as a table"), "mask"),
    "angles": Role(N_("angles"), "other", N_("no weights: how fast q and k turn with the position"), "rope"),
    "mlp_norm": Role(N_("norm gain"), "norms", N_("a gain for each number, before the MLP"), "norm"),
    "router": Role(N_("router"), "mlp", N_("chooses the experts that a token runs"), "mlp"),
    "fc1": Role(N_("MLP up"), "mlp", N_("makes the row wider"), "mlp"),
    "gate": Role(N_("MLP gate"), "mlp", N_("decides how much of each wide number passes"), "mlp"),
    "fc2": Role(N_("MLP down"), "mlp", N_("brings it back to the width of the stream"), "mlp"),
    "final_norm": Role(N_("norm gain"), "norms", N_("a gain for each number, after the last layer"), "norm"),
    "lm_head": Role(N_("output head"), "head", N_("one row per token: turns the vector into logits"), "logits"),
}
ORDER = tuple(ROLES)
