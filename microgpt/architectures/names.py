"""How the models of a family call their tensors: one table a family, read both ways.

From a name to its role: `look_up`, for whoever looks into a file. From one of our parameters to the tensor that holds
it: `source_of`, for whoever loads a model. A name that is not in the table is not known here; nothing is guessed. Knows
names and layouts: no shapes, no file, no page.
"""

from __future__ import annotations

import re
from typing import NamedTuple

AFTER = ("final_norm", "lm_head")  # behind the layers; what else stands outside of them is before
COMPUTED = ("mask", "angles")  # no weights: some files hold them, though they can be computed
SIDE_BY_SIDE = {"wqkv": ("wq", "wk", "wv")}  # three of our parameters in one tensor
NORMS = {"q_norm": "wq.norm", "k_norm": "wk.norm"}  # what we call those in front of attention
MLP = {"gate_proj": "gate", "up_proj": "fc1", "down_proj": "fc2"}
MLPS = ("mlp", "mlp.experts.*", "mlp.shared_expert", "mlp.shared_experts")


class Family(NamedTuple):
    """How models of one kind call their tensors -> the role of each. `*` is the number of an expert."""

    name: str
    prefix: str  # a pattern of what may stand before every name
    layer: str  # what stands before the names inside a layer
    inside: dict[str, str]
    outside: dict[str, str]
    saved: str = ""  # what transformers writes before every name but that of the output head
    transposed: tuple[str, ...] = ()  # stored as [in, out], as GPT-2's Conv1D has it; ours are [out, in]


def table(text: str) -> dict[str, str]:
    """The roles of some names: "norm=final_norm lm_head=lm_head"."""
    return dict(pair.split("=") for pair in text.split())


FAMILIES = (
    Family(
        "GPT-2",
        r"(?:transformer\.)?",
        "h.{layer}.",
        table(
            "ln_1=attn_norm attn.c_attn=wqkv attn.c_proj=wo attn.bias=mask attn.masked_bias=mask "
            "ln_2=mlp_norm mlp.c_fc=fc1 mlp.c_proj=fc2"
        ),
        table("wte=wte wpe=wpe ln_f=final_norm lm_head=lm_head"),
        saved="transformer.",
        transposed=("attn.c_attn", "attn.c_proj", "mlp.c_fc", "mlp.c_proj"),
    ),
    Family(
        "Llama",  # and who took over its names: Mistral, Qwen, SmolLM, DeepSeek
        r"(?:language_model\.)?(?:model\.)?(?:language_model\.)?",
        "layers.{layer}.",
        table(
            "input_layernorm=attn_norm post_attention_layernorm=mlp_norm self_attn.q_proj=wq self_attn.k_proj=wk "
            "self_attn.v_proj=wv self_attn.o_proj=wo self_attn.q_norm=q_norm self_attn.k_norm=k_norm "
            "self_attn.rotary_emb.inv_freq=angles self_attn.q_a_proj=wq_down self_attn.q_b_proj=wq_up "
            "self_attn.kv_b_proj=wkv_up self_attn.kv_a_proj_with_mqa=wkv_down self_attn.q_a_layernorm=short_norm "
            "self_attn.kv_a_layernorm=short_norm mlp.gate=router mlp.gate.e_score_correction_bias=router "
            "mlp.shared_expert_gate=router block_sparse_moe.gate=router block_sparse_moe.experts.*.w1=gate "
            "block_sparse_moe.experts.*.w2=fc2 block_sparse_moe.experts.*.w3=fc1"
        )
        | {f"{mlp}.{name}": role for mlp in MLPS for name, role in MLP.items()},
        table("embed_tokens=wte norm=final_norm lm_head=lm_head rotary_emb.inv_freq=angles"),
        saved="model.",
    ),
    Family(
        "microgpt",
        "",
        "layer{layer}.",
        {n: n for n in ("attn_norm", "wq", "wk", "wv", "wo", "mlp_norm", "fc1", "gate", "fc2")},
        {n: n for n in ("wte", "wpe", "embd_norm", "final_norm", "lm_head")},
    ),
)
GPT2, LLAMA, OURS = FAMILIES
FAMILY_OF = {"gpt2": GPT2, "llama": LLAMA, "mistral": LLAMA, "qwen2": LLAMA, "qwen3": LLAMA}  # what can be run here

SUFFIX = re.compile(r"\.(weight|bias|weight_scale_inv)$")
SUFFIX_KINDS = {"bias": "bias", "weight_scale_inv": "scale"}  # what else belongs to a matrix
LAYER_INDEX = re.compile(r"(?<=\.)\d+(?=\.)")
LAYER = {
    f.name: re.compile(f.prefix + re.escape(f.layer).replace(r"\{layer\}", r"(\d+)") + r"(.+)", re.S) for f in FAMILIES
}
OUTSIDE = {family.name: re.compile(family.prefix + r"(.+)", re.S) for family in FAMILIES}


# ---- from a name to its role ----------------------------------------------------------------------


class KnownTensor(NamedTuple):
    """What the name of a tensor says. `layer` is -1 for what stands outside of the layers."""

    role: str
    kind: str  # weight, bias or scale
    layer: int
    family: str


def look_up(name: str, family: str = "") -> KnownTensor | None:
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
            if found := look_up_in(table, rest):
                return KnownTensor(*found, layer, one.name)
    return None


def look_up_in(table: dict[str, str], name: str) -> tuple[str, str] | None:
    """Role and kind of a name in one of a family's tables."""
    name = LAYER_INDEX.sub("*", name)
    if name in table:
        return table[name], "weight"
    suffix = SUFFIX.search(name)
    role = table.get(name[: suffix.start()]) if suffix else None
    return (role, SUFFIX_KINDS.get(suffix[1], "weight")) if suffix and role else None


def is_computed(name: str, family: Family) -> bool:
    """Whether a tensor of that name holds no weights, but what can be computed."""
    found = look_up(name, family.name)
    return found is not None and found.role in COMPUTED and not name.endswith(".weight")


# ---- from a parameter to its tensor ---------------------------------------------------------------


class Source(NamedTuple):
    """Where a parameter is found: a tensor's name, and what has to be done to it."""

    name: str  # {layer} is the layer's number
    transposed: bool = False
    third: int | None = None  # q, k and v lie side by side, and this one is the first, second or third


def source_of(name: str, family: Family) -> Source:
    """Where one of our parameters is found: "layer3.wq.bias" -> what the table says of "wq.bias", in layer 3.

    The name is without what is `saved` before it, which some files have and others do not.
    """
    layer, _, part = name.removeprefix("layer").partition(".") if name.startswith("layer") else ("", "", name)
    source = SOURCES[family.name][part]
    return source._replace(name=source.name.format(layer=layer))


def sources(family: Family) -> dict[str, Source]:
    """Our parameters, without their layer ("wq.bias") -> where a file of this family has them."""
    found: dict[str, Source] = {}
    for here, table in (("", family.outside), (family.layer, family.inside)):
        for theirs, role in table.items():
            for third, ours in enumerate(SIDE_BY_SIDE.get(role, (NORMS.get(role, role),))):
                if ours not in found and "*" not in theirs:  # the first is the one; others are those of experts
                    part = third if role in SIDE_BY_SIDE else None
                    found[ours] = Source(f"{here}{theirs}.weight", theirs in family.transposed, part)
                    found[f"{ours}.bias"] = Source(f"{here}{theirs}.bias", third=part)
    return found


SOURCES = {family.name: sources(family) for family in FAMILIES}


def public_name(name: str, family: Family) -> str:
    """A tensor's name with what its publisher has before it: nothing at OpenAI, who had no transformers yet."""
    return name if family is GPT2 or name.startswith("lm_head") else family.saved + name


def public_names(family: Family) -> dict[str, str]:
    """Our names -> theirs as they are published, without their layer: "wq" -> "self_attn.q_proj"."""
    found = {ours: source.name for ours, source in SOURCES[family.name].items() if source.name.endswith(".weight")}
    return {
        ours: (
            name.removeprefix(family.layer) if name.startswith(family.layer) else public_name(name, family)
        ).removesuffix(".weight")
        for ours, name in found.items()
    }
