"""A Hugging Face config.json as an Architecture. What is wrong with it is said in a sentence that names the field.

Knows the field names of a few model types whose shapes our formulas cover; of others it says that it does not.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from microgpt.architectures import Architecture, Experts, Latent
from microgpt.architectures.known import gpt2, llama
from microgpt.errors import UserError, shown
from microgpt.files import parsed
from microgpt.weights import LARGE, SMALL

LARGEST = {  # beyond these, a number is a typing error
    "num_hidden_layers": 2_000, "n_layer": 2_000, "vocab_size": 1_000_000,
    "max_position_embeddings": 100_000_000,  # Llama 4 Scout has a tenth
}  # fmt: skip
LARGEST_OTHER = 10_000_000
TIED = {"gemma": True, "gemma2": True, "gemma3_text": True}  # where the file may leave out that the output head is the
# embedding; others say it
HEAD_DIM = {"qwen3": 128}  # where it may leave out the width of a head; others have the embedding's, shared out
KV_HEADS = {"mistral": 8, "mixtral": 8, "qwen2": 32, "qwen3": 32, "gemma": 16}  # likewise; others have n_head then
ATTN_BIAS = ("llama", "qwen3", "qwen3_moe", "gemma", "gemma2", "gemma3_text", "gpt_oss", "llama4_text")
MLP_BIAS = ("llama",)  # in others these fields say nothing
QK_NORM, NORMS_BEHIND = ("qwen3", "qwen3_moe", "gemma3_text"), ("gemma2", "gemma3_text")
WINDOW = {"mistral": 4096, "mixtral": 0}  # where it may leave out the window; others but Qwen have none at all
QWENS = ("qwen2", "qwen3", "qwen3_moe")  # they have a window where `use_sliding_window` says so
QWEN_WINDOW, MAX_WINDOW_LAYERS = 4096, 28  # of which the file may leave out the width, and the first layer that has it
FULL, SLIDING, CHUNKED = "full_attention", "sliding_attention", "chunked_attention"
WIDTH_OF = {SLIDING: "sliding_window", CHUNKED: "attention_chunk_size"}  # of the types of layers; a chunk keeps as much
LEFT_OUT: dict[str, dict[str, Any]] = {  # what the files of these leave out where it is as usual
    "gemma2": {
        "vocab_size": 256_000, "num_attention_heads": 8, "num_key_value_heads": 4, "head_dim": 256,
        "max_position_embeddings": 8192, "sliding_window": 4096, "sliding_window_pattern": 2,
    },
    "gemma3_text": {
        "vocab_size": 262_208, "num_attention_heads": 8, "num_key_value_heads": 4, "head_dim": 256,
        "max_position_embeddings": 131_072, "sliding_window": 4096, "sliding_window_pattern": 6,
    },
    "gpt_oss": {
        "head_dim": 64, "sliding_window": 128, "sliding_window_pattern": 2, "attention_bias": True,
        "max_position_embeddings": 131_072,
    },
    "llama4_text": {
        "vocab_size": 202_048, "head_dim": 128, "attention_chunk_size": 8192, "max_position_embeddings": 131_072,
        "no_rope_layer_interval": 4, "intermediate_size_mlp": 16_384, "interleave_moe_layer_step": 1,
    },
}  # fmt: skip
INSIDE = {"gemma3": "gemma3_text", "llama4": "llama4_text"}  # with pictures: the model of the text is an object inside
TYPES = (
    "gpt2", "llama", "llama4", "llama4_text", "mistral", "mixtral", "qwen2", "qwen3", "qwen3_moe", "gemma", "gemma2",
    "gemma3", "gemma3_text", "gpt_oss", "deepseek_v2", "deepseek_v3",
)  # fmt: skip
Fields = Mapping[str, Any]


def from_config_json(text: str) -> Architecture:
    """The architecture that `text` describes. Raises UserError, naming the field, for what it cannot use."""
    return from_fields(fields_of(text))


def fields_of(text: str) -> dict[str, Any]:
    """The object that `text` is."""
    try:
        fields = parsed(text)
    except ValueError as error:
        why = str(error)[:80]
        raise UserError("This is not JSON (%(why)s). Paste the whole config.json.", why=why) from None
    if not isinstance(fields, dict):
        raise UserError("A config.json is one object in braces; this is something else. Paste the whole file.")
    return fields


def kind_of(fields: Fields) -> str:
    """The model type, guessed where the file does not say it."""
    return str(fields.get("model_type", "gpt2" if "n_embd" in fields else "llama"))


def from_fields(fields: Fields) -> Architecture:
    kind = kind_of(fields)
    if kind not in TYPES:
        raise UserError(
            "“model_type” is “%(kind)s”; the formulas here cover %(known)s.",
            kind=shown(kind[:40]),
            known=", ".join(TYPES),
        )
    name = shown(str(fields.get("_name_or_path") or kind)[-60:])
    if kind in INSIDE:
        kind, fields = INSIDE[kind], inside(fields)
    fields = {**LEFT_OUT.get(kind, {}), **fields}
    return from_gpt2(name, fields) if kind == "gpt2" else from_llama(name, kind, fields)


def inside(fields: Fields) -> dict[str, Any]:
    """The part of a config.json that is of the text alone."""
    found = fields.get("text_config")
    if not isinstance(found, dict):
        raise UserError("The config has no “%(name)s”. Add it, or paste the whole config.json.", name="text_config")
    return found


def from_gpt2(name: str, fields: Fields) -> Architecture:
    n_embd, n_head = integer(fields, "n_embd"), integer(fields, "n_head")
    divisible(n_embd, n_head, "n_embd", "n_head")
    config = gpt2(
        integer(fields, "n_layer"), n_embd, n_head, integer(fields, "n_inner", 4 * n_embd),
        integer(fields, "vocab_size"), integer(fields, "n_positions"),
    )  # fmt: skip
    tied = boolean(fields, "tie_word_embeddings", True)
    return Architecture(name, "config.json", replace(config, tied=tied))


def from_llama(name: str, kind: str, fields: Fields) -> Architecture:
    """The Llama family; DeepSeek's models belong to it but for their attention and their experts."""
    n_layer, n_embd = integer(fields, "num_hidden_layers"), integer(fields, "hidden_size")
    n_head = integer(fields, "num_attention_heads")
    absent = n_head if "num_key_value_heads" in fields else KV_HEADS.get(kind, n_head)  # null: as many as query heads
    n_kv_head = integer(fields, "num_key_value_heads", absent)
    divisible(n_head, n_kv_head, "num_attention_heads", "num_key_value_heads")
    latent = latent_of(fields) if kind.startswith("deepseek") else None
    if latent:
        head_dim = latent.d_v
    elif fields.get("head_dim") is None and kind not in HEAD_DIM:
        divisible(n_embd, n_head, "hidden_size", "num_attention_heads")
        head_dim = n_embd // n_head
    else:
        head_dim = integer(fields, "head_dim", HEAD_DIM.get(kind))
    dense = "intermediate_size_mlp" if kind == "llama4_text" else "intermediate_size"
    config = llama(
        n_layer, n_embd, n_head, n_kv_head, head_dim, integer(fields, dense),
        integer(fields, "vocab_size"), integer(fields, "max_position_embeddings"),
        tied=boolean(fields, "tie_word_embeddings", TIED.get(kind, False)),
    )  # fmt: skip
    attn_bias = kind in ATTN_BIAS and boolean(fields, "attention_bias", False)
    windows = windows_of(kind, fields, n_layer)
    plain = in_config(windows)
    window, window_from = plain or (0, 0)
    config = replace(
        config,
        window=window,
        window_from=window_from,
        qk_norm=kind in QK_NORM,
        qkv_bias=attn_bias or kind == "qwen2",
        wo_bias=attn_bias,
        mlp_bias=kind in MLP_BIAS and boolean(fields, "mlp_bias", False),
    )
    return Architecture(
        name, "config.json", config, latent=latent, experts=experts_of(kind, fields, n_layer),
        layer_windows=() if plain else windows, norms_behind=kind in NORMS_BEHIND, sinks=kind == "gpt_oss",
    )  # fmt: skip


# ---- windows --------------------------------------------------------------------------------------


def in_config(windows: tuple[int, ...]) -> tuple[int, int] | None:
    """One window and the first layer that has it, as a Config says it; None where layers differ in another way."""
    first = windows.count(0)
    same = windows == (0,) * first + (windows[-1],) * (len(windows) - first)
    return ((windows[-1], first) if first < len(windows) else (0, 0)) if same else None


def windows_of(kind: str, fields: Fields, n_layer: int) -> tuple[int, ...]:
    """The sliding window of each layer; 0: none."""
    types = types_of(kind, fields, n_layer)
    found = dict.fromkeys(types, 0)
    for one in {*types} - {FULL}:
        name = WIDTH_OF[one]
        absent = 0 if name in fields else WINDOW.get(kind, QWEN_WINDOW)
        found[one] = integer(fields, name, absent) if switched_on(kind, fields) else 0
        if not found[one] and "layer_types" in fields:
            raise UserError(
                "“layer_types” gives layers a window, but “%(name)s” is not a number, or “use_sliding_window” is "
                "not true. Make them agree.",
                name=name,
            )
    return tuple(found[one] for one in types)


def switched_on(kind: str, fields: Fields) -> bool:
    return kind not in QWENS or boolean(fields, "use_sliding_window", False)


def types_of(kind: str, fields: Fields, n_layer: int) -> list[str]:
    """The type of each layer: as the file says, or by the rule of the family."""
    usual = usual_types(kind, fields, n_layer)
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


def usual_types(kind: str, fields: Fields, n_layer: int) -> list[str]:
    """Where the file does not say them."""
    if kind == "llama4_text":
        every = integer(fields, "no_rope_layer_interval")
        turned = fields.get("no_rope_layers") or [(layer + 1) % every for layer in range(n_layer)]
        if not isinstance(turned, list) or len(turned) < n_layer:
            raise UserError("“%(name)s” must be a list with one entry a layer.", name="no_rope_layers")
        return [CHUNKED if one else FULL for one in turned[:n_layer]]
    if "sliding_window_pattern" in LEFT_OUT.get(kind, {}):
        every = integer(fields, "sliding_window_pattern")
        return [SLIDING if (layer + 1) % every else FULL for layer in range(n_layer)]
    if kind in ("qwen2", "qwen3") and switched_on(kind, fields):
        first = integer(fields, "max_window_layers", MAX_WINDOW_LAYERS, least=0)
        return [SLIDING if layer >= first else FULL for layer in range(n_layer)]
    has = (kind in WINDOW and fields.get("sliding_window", WINDOW[kind])) or kind == "qwen3_moe"
    return [SLIDING if has and switched_on(kind, fields) else FULL] * n_layer


def latent_of(fields: Fields) -> Latent:
    return Latent(
        integer(fields, "kv_lora_rank"), integer(fields, "qk_rope_head_dim"), integer(fields, "qk_nope_head_dim"),
        integer(fields, "v_head_dim"), integer(fields, "q_lora_rank", 0),
    )  # fmt: skip


def experts_of(kind: str, fields: Fields, n_layer: int) -> Experts | None:
    """The experts, where the model has some."""
    if kind == "mixtral":
        n, active = integer(fields, "num_local_experts"), integer(fields, "num_experts_per_tok")
        found = Experts(n, active, integer(fields, "intermediate_size"))
    elif kind.startswith("deepseek"):
        found = Experts(
            integer(fields, "n_routed_experts"), integer(fields, "num_experts_per_tok"),
            integer(fields, "moe_intermediate_size"), integer(fields, "n_shared_experts", 0),
            integer(fields, "first_k_dense_replace", 0, least=0), bias=kind == "deepseek_v3",
        )  # fmt: skip
    elif kind == "gpt_oss":
        n, active = integer(fields, "num_local_experts"), integer(fields, "num_experts_per_tok")
        found = Experts(n, active, integer(fields, "intermediate_size"), bias=True, own_bias=True)
    elif kind == "llama4_text":
        n, active = integer(fields, "num_local_experts"), integer(fields, "num_experts_per_tok")
        found = Experts(n, active, integer(fields, "intermediate_size"), shared=1, plain=plain_layers(
            fields, n_layer, "interleave_moe_layer_step", fields.get("moe_layers")
        ))  # fmt: skip
    elif kind == "qwen3_moe":
        named = "num_experts" if "num_experts" in fields else "num_local_experts"
        n, active = integer(fields, named), integer(fields, "num_experts_per_tok")
        plain = plain_layers(fields, n_layer, "decoder_sparse_step", None, fields.get("mlp_only_layers") or [])
        found = Experts(n, active, integer(fields, "moe_intermediate_size"), plain=plain)
    else:
        return None
    at_most(found.active, found.n, "num_experts_per_tok")
    at_most(found.dense_layers, n_layer, "first_k_dense_replace")
    return found


def plain_layers(fields: Fields, n_layer: int, step: str, with_them: Any, without: Any = ()) -> tuple[int, ...]:
    """The layers that have no experts: all but every so many, or those that are named, and those named as without."""
    every = integer(fields, step, 1)
    if with_them is None:
        with_them = range(every - 1, n_layer, every)
    if not isinstance(with_them, list | range) or not isinstance(without, list | tuple):
        raise UserError("“%(name)s” must be a list of layers.", name="mlp_only_layers" if without else "moe_layers")
    return tuple(layer for layer in range(n_layer) if layer not in with_them or layer in without)


# ---- one field ------------------------------------------------------------------------------------


def integer(fields: Fields, name: str, default: int | None = None, least: int = 1) -> int:
    """A whole number of the config, or the default where it is absent or null."""
    value, largest = fields.get(name), LARGEST.get(name, LARGEST_OTHER)
    if value is None and default is not None:
        return default
    if value is None:
        raise UserError("The config has no “%(name)s”. Add it, or paste the whole config.json.", name=name)
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= largest:
        raise UserError(
            "“%(name)s” is %(value)s; it must be a whole number from %(least)s to %(largest)s.",
            name=name,
            value=json.dumps(value)[:40],
            least=least,
            largest=format(largest, ","),
        )
    return value


def boolean(fields: Fields, name: str, default: bool) -> bool:
    """A yes or no of the config, or the default where it is absent or null."""
    value = fields.get(name)
    if value is not None and not isinstance(value, bool):
        said = shown(str(value)[:40])
        raise UserError("“%(name)s” is %(value)s; it must be true or false.", name=name, value=said)
    return default if value is None else value


def divisible(a: int, b: int, name: str, other: str) -> None:
    if a % b:
        raise UserError(
            "“%(name)s” is %(a)s and “%(other)s” is %(b)s; the first must be a multiple of the second.",
            name=name,
            a=a,
            other=other,
            b=b,
        )


def at_most(value: int, limit: int, name: str) -> None:
    if value > limit:
        raise UserError("“%(name)s” is %(value)s; it can be %(limit)s at most.", name=name, value=value, limit=limit)


def positive_number(fields: Fields, name: str, default: float | None = None) -> float:
    """A number above 0, of a size that can be counted with."""
    value = fields.get(name)
    value = default if value is None else value
    if isinstance(value, bool) or not isinstance(value, int | float) or not SMALL <= value <= LARGE:
        raise UserError(
            "“%(name)s” is %(value)s; it must be a number from %(least)s to %(most)s.",
            name=name,
            value=as_json(fields.get(name)),
            least=SMALL,
            most=LARGE,
        )
    return float(value)


def known_value(fields: Fields, name: str, default: str, known: dict[str, str]) -> str:
    """What `known` says of a field's value."""
    value = fields.get(name)
    value = default if value is None else value
    if not isinstance(value, str) or value not in known:
        raise UserError(
            "“%(name)s” is %(value)s, which cannot be run here. What can: %(known)s.",
            name=name,
            value=as_json(value),
            known=", ".join(known),
        )
    return known[value]


def token_ids(fields: Fields, name: str, vocab_size: int, absent: int | None = None) -> frozenset[int]:
    """Token ids: the field is one, or a list, or null. Those that the model does not have are left out."""
    value = fields.get(name, absent)
    found = value if isinstance(value, list) else [] if value is None else [value]
    if not all(isinstance(i, int) and not isinstance(i, bool) for i in found):
        raise UserError(
            "“%(name)s” is %(value)s; it must be a token's id or a list of some.", name=name, value=as_json(value)
        )
    return frozenset(i for i in found if 0 <= i < vocab_size)


def as_json(value: object) -> str:
    return json.dumps(value)[:40]
