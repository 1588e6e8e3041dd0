"""A Hugging Face config.json as an Architecture. What is wrong with it is said in a sentence that names the field.

Knows the field names of a few model types whose shapes our formulas cover; of others it says that it does not.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from microgpt.architectures import Architecture, Experts, Latent
from microgpt.architectures.fields import Fields, fields_of
from microgpt.architectures.known import GPT2, LLAMA
from microgpt.config import Config
from microgpt.errors import N_, UserError, printable

TIED = ("gemma", "gemma2", "gemma3_text")  # where the file may leave out that the output head is the
# embedding; others say it
HEAD_DIM = {"qwen3": 128}  # where it may leave out the width of a head; others have the embedding's, shared out
KV_HEADS = {"mistral": 8, "mixtral": 8, "qwen2": 32, "qwen3": 32, "gemma": 16}  # likewise; others have n_head then
ATTN_BIAS = ("llama", "qwen3", "qwen3_moe", "gemma", "gemma2", "gemma3_text", "gpt_oss", "llama4_text")
MLP_BIAS = ("llama",)  # in others these fields say nothing
QK_NORM, NORMS_BEHIND = ("qwen3", "qwen3_moe", "gemma3_text"), ("gemma2", "gemma3_text")
WINDOWS = {"mistral": 4096, "mixtral": 0}  # where it may leave out the window; others but Qwen have none at all
QWENS = ("qwen2", "qwen3", "qwen3_moe")  # they have a window where `use_sliding_window` says so
QWEN_WINDOW, MAX_WINDOW_LAYERS = 4096, 28  # of which the file may leave out the width, and the first layer that has it
FULL, SLIDING, CHUNKED = "full_attention", "sliding_attention", "chunked_attention"
WIDTH_OF = {SLIDING: "sliding_window", CHUNKED: "attention_chunk_size"}  # of the types of layers; a chunk keeps as much
# what the files of these leave out where it is as usual, as they would write it
LEFT_OUT: dict[str, dict[str, Any]] = json.loads("""{
    "gemma2": {"vocab_size": 256000, "num_attention_heads": 8, "num_key_value_heads": 4, "head_dim": 256,
               "max_position_embeddings": 8192, "sliding_window": 4096, "sliding_window_pattern": 2},
    "gemma3_text": {"vocab_size": 262208, "num_attention_heads": 8, "num_key_value_heads": 4, "head_dim": 256,
                    "max_position_embeddings": 131072, "sliding_window": 4096, "sliding_window_pattern": 6},
    "gpt_oss": {"head_dim": 64, "sliding_window": 128, "sliding_window_pattern": 2, "attention_bias": true,
                "max_position_embeddings": 131072},
    "llama4_text": {"vocab_size": 202048, "head_dim": 128, "attention_chunk_size": 8192, "no_rope_layer_interval": 4,
                    "max_position_embeddings": 131072, "intermediate_size_mlp": 16384, "interleave_moe_layer_step": 1}
}""")
INSIDE = {"gemma3": "gemma3_text", "llama4": "llama4_text"}  # with pictures: the model of the text is an object inside
MANY, MLP_WIDTH = "num_local_experts", "intermediate_size"
EXPERTS = {  # of those that have some: the fields that say how many there are, and how wide
    **dict.fromkeys(("mixtral", "gpt_oss", "llama4_text"), (MANY, MLP_WIDTH)),
    **dict.fromkeys(("deepseek_v2", "deepseek_v3"), ("n_routed_experts", "moe_intermediate_size")),
    "qwen3_moe": ("num_experts", "moe_intermediate_size"),
}
TYPES = (*"gpt2 llama mistral qwen2 qwen3 gemma gemma2 gemma3 gemma3_text llama4".split(), *EXPERTS)


def from_config_json(text: str) -> Architecture:
    """The architecture that `text` describes. Raises UserError, naming the field, for what it cannot use."""
    return from_fields(fields_of(text))


def from_fields(fields: Fields) -> Architecture:
    kind = fields.kind
    if kind not in TYPES:
        sentence = N_("“model_type” is “%(kind)s”; the formulas here cover %(known)s.")
        raise UserError(sentence, kind=printable(kind[:40]), known=", ".join(TYPES))
    name = printable(str(fields.get("_name_or_path") or kind)[-60:])
    if kind in INSIDE:
        kind, fields = INSIDE[kind], inside(fields)
    fields = Fields({**LEFT_OUT.get(kind, {}), **fields, "model_type": kind})
    return from_gpt2(name, fields) if kind == "gpt2" else from_llama(name, fields)


def inside(fields: Fields) -> Fields:
    """The part of a config.json that is of the text alone."""
    found = fields.get("text_config")
    if not isinstance(found, dict):
        raise UserError("The config has no “%(name)s”. Add it, or paste the whole config.json.", name="text_config")
    return Fields(found)


def from_gpt2(name: str, fields: Fields) -> Architecture:
    n_layer, n_embd, n_head = map(fields.integer, ("n_layer", "n_embd", "n_head"))
    check_divides(n_embd, n_head, "n_embd", "n_head")
    vocab_size, n_ctx = map(fields.integer, ("vocab_size", "n_positions"))
    n_mlp, tied = fields.integer("n_inner", 4 * n_embd), fields.flag("tie_word_embeddings", True)
    config = Config(n_layer, n_embd, n_head, n_head, n_embd // n_head, n_mlp, n_ctx, vocab_size, **GPT2)
    return Architecture(name, "config.json", replace(config, tied=tied))


def from_llama(name: str, fields: Fields) -> Architecture:
    """The Llama family; DeepSeek's models belong to it but for their attention and their experts."""
    kind = fields.kind
    n_layer, n_embd, n_head = map(fields.integer, ("num_hidden_layers", "hidden_size", "num_attention_heads"))
    absent = n_head if "num_key_value_heads" in fields else KV_HEADS.get(kind, n_head)  # null: as many as query heads
    n_kv_head = fields.integer("num_key_value_heads", absent)
    check_divides(n_head, n_kv_head, "num_attention_heads", "num_key_value_heads")
    latent = latent_of(fields) if kind.startswith("deepseek") else None
    if latent:
        head_dim = latent.d_v
    elif fields.get("head_dim") is None and kind not in HEAD_DIM:
        check_divides(n_embd, n_head, "hidden_size", "num_attention_heads")
        head_dim = n_embd // n_head
    else:
        head_dim = fields.integer("head_dim", HEAD_DIM.get(kind))
    n_mlp = fields.integer("intermediate_size_mlp" if kind == "llama4_text" else "intermediate_size")
    vocab_size, n_ctx = map(fields.integer, ("vocab_size", "max_position_embeddings"))
    attn_bias = kind in ATTN_BIAS and fields.flag("attention_bias")
    windows = windows_of(fields, n_layer)
    plain = in_config(windows)
    window, window_from = plain or (0, 0)
    config = replace(
        Config(n_layer, n_embd, n_head, n_kv_head, head_dim, n_mlp, n_ctx, vocab_size, **LLAMA),
        tied=fields.flag("tie_word_embeddings", kind in TIED),
        window=window,
        window_from=window_from,
        qk_norm=kind in QK_NORM,
        qkv_bias=attn_bias or kind == "qwen2",
        wo_bias=attn_bias,
        mlp_bias=kind in MLP_BIAS and fields.flag("mlp_bias"),
    )
    layer_windows, norms_behind = () if plain else windows, kind in NORMS_BEHIND
    experts, sinks = experts_of(fields, n_layer), kind == "gpt_oss"
    return Architecture(name, "config.json", config, latent, experts, layer_windows, norms_behind, sinks)


# ---- windows --------------------------------------------------------------------------------------


def in_config(windows: tuple[int, ...]) -> tuple[int, int] | None:
    """One window and the first layer that has it, as a Config says it; None where layers differ in another way."""
    first = windows.count(0)
    same = windows == (0,) * first + (windows[-1],) * (len(windows) - first)
    return ((windows[-1], first) if first < len(windows) else (0, 0)) if same else None


def windows_of(fields: Fields, n_layer: int) -> tuple[int, ...]:
    """The sliding window of each layer; 0: none."""
    types = types_of(fields, n_layer)
    found = dict.fromkeys(types, 0)
    for one in {*types} - {FULL}:
        name = WIDTH_OF[one]
        absent = 0 if name in fields else WINDOWS.get(fields.kind, QWEN_WINDOW)
        found[one] = fields.integer(name, absent) if has_sliding_window(fields) else 0
        if not found[one] and "layer_types" in fields:
            raise UserError(
                "“layer_types” gives layers a window, but “%(name)s” is not a number, or “use_sliding_window” is "
                "not true. Make them agree.",
                name=name,
            )
    return tuple(found[one] for one in types)


def has_sliding_window(fields: Fields) -> bool:
    return fields.kind not in QWENS or fields.flag("use_sliding_window")


def types_of(fields: Fields, n_layer: int) -> list[str]:
    """The type of each layer: as the file says, or by the rule of the family."""
    kind, usual = fields.kind, usual_types(fields, n_layer)
    types = fields.get("layer_types")
    if types is None:
        return usual
    if not isinstance(types, list) or len(types) != n_layer or not all(one in (FULL, *WIDTH_OF) for one in types):
        raise UserError(
            "“layer_types” must name all %(n)s layers, each one of these: %(known)s. Others are not known here.",
            n=n_layer,
            known=", ".join((FULL, *WIDTH_OF)),
        )
    if types != usual and (kind not in (*QWENS, *LEFT_OUT) or kind == "qwen3_moe"):
        raise UserError(
            "“layer_types” says something other than “%(kind)s” does, whose layers are all alike. Leave it out.",
            kind=kind,
        )
    return types


def usual_types(fields: Fields, n_layer: int) -> list[str]:
    """Where the file does not say them."""
    kind = fields.kind
    if kind == "llama4_text":
        every = fields.integer("no_rope_layer_interval")
        turned = fields.get("no_rope_layers") or [(layer + 1) % every for layer in range(n_layer)]
        if not isinstance(turned, list) or len(turned) < n_layer:
            raise UserError("“%(name)s” must be a list with one entry a layer.", name="no_rope_layers")
        return [CHUNKED if one else FULL for one in turned[:n_layer]]
    if "sliding_window_pattern" in LEFT_OUT.get(kind, {}):
        every = fields.integer("sliding_window_pattern")
        return [SLIDING if (layer + 1) % every else FULL for layer in range(n_layer)]
    if kind in ("qwen2", "qwen3") and has_sliding_window(fields):
        first = fields.integer("max_window_layers", MAX_WINDOW_LAYERS, least=0)
        return [SLIDING if layer >= first else FULL for layer in range(n_layer)]
    has = (kind in WINDOWS and fields.get("sliding_window", WINDOWS[kind])) or kind == "qwen3_moe"
    return [SLIDING if has and has_sliding_window(fields) else FULL] * n_layer


def latent_of(fields: Fields) -> Latent:
    names = ("kv_lora_rank", "qk_rope_head_dim", "qk_nope_head_dim", "v_head_dim")
    d_c, d_rope, d_nope, d_v = map(fields.integer, names)
    return Latent(d_c, d_rope, d_nope, d_v, fields.integer("q_lora_rank", 0))


def experts_of(fields: Fields, n_layer: int) -> Experts | None:
    """The experts, where the model has some."""
    kind = fields.kind
    if kind not in EXPERTS:
        return None
    many, width = EXPERTS[kind]
    many = many if many in fields or kind != "qwen3_moe" else MANY
    n, active, n_mlp = map(fields.integer, (many, "num_experts_per_tok", width))
    found = Experts(n, active, n_mlp)
    if kind.startswith("deepseek"):
        first = fields.integer("first_k_dense_replace", 0, least=0)
        shared = fields.integer("n_shared_experts", 0)
        found = replace(found, shared=shared, dense_layers=first, bias=kind == "deepseek_v3")
    elif kind == "gpt_oss":
        found = replace(found, bias=True, own_bias=True)
    elif kind == "llama4_text":
        plain = plain_layers(fields, n_layer, "interleave_moe_layer_step", fields.get("moe_layers"))
        found = replace(found, shared=1, plain=plain)
    elif kind == "qwen3_moe":
        plain = plain_layers(fields, n_layer, "decoder_sparse_step", None, fields.get("mlp_only_layers") or [])
        found = replace(found, plain=plain)
    check_at_most(found.active, found.n, "num_experts_per_tok")
    check_at_most(found.dense_layers, n_layer, "first_k_dense_replace")
    return found


def plain_layers(fields: Fields, n_layer: int, step: str, with_them: Any, without: Any = ()) -> tuple[int, ...]:
    """The layers that have no experts: all but every so many, or those that are named, and those named as without."""
    every = fields.integer(step, 1)
    if with_them is None:
        with_them = range(every - 1, n_layer, every)
    if not isinstance(with_them, list | range) or not isinstance(without, list | tuple):
        raise UserError("“%(name)s” must be a list of layers.", name="mlp_only_layers" if without else "moe_layers")
    return tuple(layer for layer in range(n_layer) if layer not in with_them or layer in without)


def check_divides(a: int, b: int, name: str, other: str) -> None:
    if a % b:
        sentence = N_("“%(name)s” is %(a)s and “%(other)s” is %(b)s; the first must be a multiple of the second.")
        raise UserError(sentence, name=name, a=a, other=other, b=b)


def check_at_most(value: int, limit: int, name: str) -> None:
    if value > limit:
        raise UserError("“%(name)s” is %(value)s; it can be %(limit)s at most.", name=name, value=value, limit=limit)
