"""How the files of other models name our parameters: a table, and nothing that computes.

A name without its layer ("wq.bias") stands for one tensor a layer. Knows names and layouts; reads no file.
"""

from __future__ import annotations

from typing import NamedTuple


class Source(NamedTuple):
    """Where a parameter is found: a tensor's name, and what has to be done to it."""

    name: str  # {layer} is the layer's number
    transposed: bool = False  # it is [in, out], as GPT-2's Conv1D has it; ours are [out, in]
    third: int | None = None  # q, k and v lie side by side, and this one is the first, second or third


class Names(NamedTuple):
    """A family of files. Names are without `prefix`, which some files have and others do not."""

    prefix: str
    sources: dict[str, Source]
    ignored: tuple[str, ...]  # patterns of what is in some files, and can be computed


GPT2 = Names(
    "transformer.",
    {
        "wte": Source("wte.weight"),
        "wpe": Source("wpe.weight"),
        "lm_head": Source("lm_head.weight"),
        "final_norm": Source("ln_f.weight"),
        "final_norm.bias": Source("ln_f.bias"),
        "attn_norm": Source("h.{layer}.ln_1.weight"),
        "attn_norm.bias": Source("h.{layer}.ln_1.bias"),
        "wq": Source("h.{layer}.attn.c_attn.weight", transposed=True, third=0),
        "wk": Source("h.{layer}.attn.c_attn.weight", transposed=True, third=1),
        "wv": Source("h.{layer}.attn.c_attn.weight", transposed=True, third=2),
        "wq.bias": Source("h.{layer}.attn.c_attn.bias", third=0),
        "wk.bias": Source("h.{layer}.attn.c_attn.bias", third=1),
        "wv.bias": Source("h.{layer}.attn.c_attn.bias", third=2),
        "wo": Source("h.{layer}.attn.c_proj.weight", transposed=True),
        "wo.bias": Source("h.{layer}.attn.c_proj.bias"),
        "mlp_norm": Source("h.{layer}.ln_2.weight"),
        "mlp_norm.bias": Source("h.{layer}.ln_2.bias"),
        "fc1": Source("h.{layer}.mlp.c_fc.weight", transposed=True),
        "fc1.bias": Source("h.{layer}.mlp.c_fc.bias"),
        "fc2": Source("h.{layer}.mlp.c_proj.weight", transposed=True),
        "fc2.bias": Source("h.{layer}.mlp.c_proj.bias"),
    },
    (r"h\.\d+\.attn\.(masked_)?bias",),  # the causal mask
)

LLAMA = Names(
    "model.",
    {
        "wte": Source("embed_tokens.weight"),
        "lm_head": Source("lm_head.weight"),
        "final_norm": Source("norm.weight"),
        "attn_norm": Source("layers.{layer}.input_layernorm.weight"),
        "wq": Source("layers.{layer}.self_attn.q_proj.weight"),
        "wk": Source("layers.{layer}.self_attn.k_proj.weight"),
        "wv": Source("layers.{layer}.self_attn.v_proj.weight"),
        "wo": Source("layers.{layer}.self_attn.o_proj.weight"),
        "wq.bias": Source("layers.{layer}.self_attn.q_proj.bias"),
        "wk.bias": Source("layers.{layer}.self_attn.k_proj.bias"),
        "wv.bias": Source("layers.{layer}.self_attn.v_proj.bias"),
        "wo.bias": Source("layers.{layer}.self_attn.o_proj.bias"),
        "wq.norm": Source("layers.{layer}.self_attn.q_norm.weight"),
        "wk.norm": Source("layers.{layer}.self_attn.k_norm.weight"),
        "mlp_norm": Source("layers.{layer}.post_attention_layernorm.weight"),
        "fc1": Source("layers.{layer}.mlp.up_proj.weight"),
        "gate": Source("layers.{layer}.mlp.gate_proj.weight"),
        "fc2": Source("layers.{layer}.mlp.down_proj.weight"),
        "fc1.bias": Source("layers.{layer}.mlp.up_proj.bias"),
        "gate.bias": Source("layers.{layer}.mlp.gate_proj.bias"),
        "fc2.bias": Source("layers.{layer}.mlp.down_proj.bias"),
    },
    (r"(layers\.\d+\.self_attn\.)?rotary_emb\.inv_freq",),  # the rotation's frequencies
)

NAMES: dict[str, Names] = {"gpt2": GPT2, "llama": LLAMA, "mistral": LLAMA, "qwen2": LLAMA, "qwen3": LLAMA}
