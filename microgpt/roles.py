"""What a tensor is, told by its name: GPT-2's names, those of the Llama family, and our own.

A table: how a family calls its tensors -> the role, whose key is the name in `model.py` where it has one. The same
role has the same key in every family. A name that is not in the table is not known here; nothing is guessed. Knows
names alone: no shapes, no file, no page.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from microgpt.errors import N_


class Role(NamedTuple):
    """What a tensor is for. `symbol` is how it is written in formulas or said in short."""

    symbol: str
    part: str  # embedding, attention, mlp, norms, head or other
    sentence: str
    term: str  # the word of the glossary where its part is at work


ROLES = {
    "wte": Role(N_("embedding"), "embedding", N_("one row a token: where its vector starts"), "embedding"),
    "wpe": Role(N_("positions"), "embedding", N_("one row a position, added to the token’s"), "position"),
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
    "fc1": Role(N_("MLP up"), "mlp", N_("widens"), "mlp"),
    "gate": Role(N_("MLP gate"), "mlp", N_("decides how much of each wide number passes"), "mlp"),
    "fc2": Role(N_("MLP down"), "mlp", N_("narrows again"), "mlp"),
    "final_norm": Role(N_("norm gain"), "norms", N_("a gain for each number, after the last layer"), "norm"),
    "lm_head": Role(N_("output head"), "head", N_("one row a token: turns the vector into logits"), "logits"),
}
ORDER = tuple(ROLES)
AFTER = ("final_norm", "lm_head")  # behind the layers; what else stands outside of them is before
MLP = {"gate_proj": "gate", "up_proj": "fc1", "down_proj": "fc2"}


class Family(NamedTuple):
    """How models of one kind call their tensors, without what SUFFIX takes off; `layer` catches the layer's number."""

    name: str
    prefix: str
    layer: str
    inside: dict[str, str]
    outside: dict[str, str]


FAMILIES = (
    Family(
        "GPT-2",
        r"(?:transformer\.)?",
        r"h\.(\d+)\.",
        {
            "ln_1": "attn_norm", "attn.c_attn": "wqkv", "attn.c_proj": "wo", "attn.bias": "mask",
            "attn.masked_bias": "mask", "ln_2": "mlp_norm", "mlp.c_fc": "fc1", "mlp.c_proj": "fc2",
        },
        {"wte": "wte", "wpe": "wpe", "ln_f": "final_norm", "lm_head": "lm_head"},
    ),
    Family(
        "Llama",  # and who took over its names: Mistral, Qwen, SmolLM, DeepSeek
        r"(?:language_model\.)?(?:model\.)?(?:language_model\.)?",
        r"layers\.(\d+)\.",
        {
            "input_layernorm": "attn_norm", "post_attention_layernorm": "mlp_norm",
            "self_attn.q_proj": "wq", "self_attn.k_proj": "wk", "self_attn.v_proj": "wv", "self_attn.o_proj": "wo",
            "self_attn.q_norm": "q_norm", "self_attn.k_norm": "k_norm", "self_attn.rotary_emb.inv_freq": "angles",
            "self_attn.q_a_proj": "wq_down", "self_attn.q_b_proj": "wq_up", "self_attn.kv_b_proj": "wkv_up",
            "self_attn.kv_a_proj_with_mqa": "wkv_down", "self_attn.q_a_layernorm": "short_norm",
            "self_attn.kv_a_layernorm": "short_norm",
            **{f"mlp.{name}": role for name, role in MLP.items()},
            **{f"mlp.experts.*.{name}": role for name, role in MLP.items()},
            **{f"mlp.shared_expert{s}.{name}": role for name, role in MLP.items() for s in ("", "s")},
            "mlp.gate": "router", "mlp.gate.e_score_correction_bias": "router", "mlp.shared_expert_gate": "router",
            "block_sparse_moe.gate": "router", "block_sparse_moe.experts.*.w1": "gate",
            "block_sparse_moe.experts.*.w2": "fc2", "block_sparse_moe.experts.*.w3": "fc1",
        },
        {"embed_tokens": "wte", "norm": "final_norm", "lm_head": "lm_head"},
    ),
    Family(
        "microgpt",
        "",
        r"layer(\d+)\.",
        {n: n for n in ("attn_norm", "wq", "wk", "wv", "wo", "mlp_norm", "fc1", "gate", "fc2")},
        {n: n for n in ("wte", "wpe", "embd_norm", "final_norm", "lm_head")},
    ),
)  # fmt: skip
SUFFIX = re.compile(r"\.(weight|bias|weight_scale_inv)$")
KINDS = {"bias": "bias", "weight_scale_inv": "scale"}  # what else belongs to a matrix
INDEX = re.compile(r"(?<=\.)\d+(?=\.)")
LAYER = {family.name: re.compile(family.prefix + family.layer + r"(.+)", re.S) for family in FAMILIES}
OUTSIDE = {family.name: re.compile(family.prefix + r"(.+)", re.S) for family in FAMILIES}


class Known(NamedTuple):
    """What the name of a tensor says. `layer` is -1 for what stands outside of the layers."""

    role: str
    kind: str  # weight, bias or scale
    layer: int
    family: str


def known(name: str, family: str = "") -> Known | None:
    """What a tensor of that name is, in that family or in any; None for a name that is not in the table.

    >>> known("model.layers.11.self_attn.q_proj.weight")
    Known(role='wq', kind='weight', layer=11, family='Llama')
    """
    for one in FAMILIES:
        if family in ("", one.name):
            if inside := LAYER[one.name].fullmatch(name):
                table, rest, layer = one.inside, inside[2], int(inside[1][:9])
            elif outside := OUTSIDE[one.name].fullmatch(name):
                table, rest, layer = one.outside, outside[1], -1
            else:
                continue
            if found := looked_up(table, rest):
                return Known(*found, layer, one.name)
    return None


def looked_up(table: dict[str, str], name: str) -> tuple[str, str] | None:
    """Role and kind of a name in one of a family's tables."""
    name = INDEX.sub("*", name)
    if name in table:
        return table[name], "weight"
    suffix = SUFFIX.search(name)
    role = table.get(name[: suffix.start()]) if suffix else None
    return (role, KINDS.get(suffix[1], "weight")) if suffix and role else None
