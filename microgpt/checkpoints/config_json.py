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
from microgpt.checkpoints.safetensors import shown
from microgpt.errors import N_, UserError
from microgpt.files import parsed
from microgpt.weights import LARGE, SMALL

LARGEST = {  # beyond these, a number is a typing error
    "num_hidden_layers": 2_000, "n_layer": 2_000, "vocab_size": 1_000_000,
}  # fmt: skip
LARGEST_OTHER = 10_000_000
TIED = {"gemma": True}  # where the file may leave out that the output head is the embedding; others say it
HEAD_DIM = {"qwen3": 128}  # where it may leave out the width of a head; others have the embedding's, shared out
KV_HEADS = {"mistral": 8, "mixtral": 8, "qwen2": 32, "qwen3": 32, "gemma": 16}  # likewise; others have n_head then
ATTN_BIAS, MLP_BIAS = ("llama", "qwen3", "gemma"), ("llama",)  # in others these fields say nothing
WINDOW = {"mistral": 4096, "mixtral": 0}  # where it may leave out the window; others but Qwen have none at all
QWEN_WINDOW, MAX_WINDOW_LAYERS = 4096, 28  # and where one with `use_sliding_window` may; the first layer that has it
TYPES = ("gpt2", "llama", "mistral", "mixtral", "qwen2", "qwen3", "gemma", "deepseek_v2", "deepseek_v3")
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
        raise UserError(N_("This is not JSON (%(why)s). Paste the whole config.json."), why=why) from None
    if not isinstance(fields, dict):
        raise UserError(N_("A config.json is one object in braces; this is something else. Paste the whole file."))
    return fields


def kind_of(fields: Fields) -> str:
    """The model type, guessed where the file does not say it."""
    return str(fields.get("model_type", "gpt2" if "n_embd" in fields else "llama"))


def from_fields(fields: Fields) -> Architecture:
    kind = kind_of(fields)
    if kind not in TYPES:
        raise UserError(
            N_("“model_type” is “%(kind)s”; the formulas here cover %(known)s."),
            kind=shown(kind[:40]), known=", ".join(TYPES),
        )  # fmt: skip
    name = shown(str(fields.get("_name_or_path") or kind)[-60:])
    return from_gpt2(name, fields) if kind == "gpt2" else from_llama(name, kind, fields)


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
    config = llama(
        n_layer, n_embd, n_head, n_kv_head, head_dim, integer(fields, "intermediate_size"),
        integer(fields, "vocab_size"), integer(fields, "max_position_embeddings"),
        tied=boolean(fields, "tie_word_embeddings", TIED.get(kind, False)),
    )  # fmt: skip
    attn_bias = kind in ATTN_BIAS and boolean(fields, "attention_bias", False)
    window, window_from = window_of(kind, fields, n_layer)
    config = replace(
        config,
        window=window,
        window_from=window_from,
        qk_norm=kind == "qwen3",
        qkv_bias=attn_bias or kind == "qwen2",
        wo_bias=attn_bias,
        mlp_bias=kind in MLP_BIAS and boolean(fields, "mlp_bias", False),
    )
    return Architecture(name, "config.json", config, latent=latent, experts=experts_of(kind, fields, n_layer))


def window_of(kind: str, fields: Fields, n_layer: int) -> tuple[int, int]:
    """The sliding window (0: none), and the first layer that has it."""
    if kind.startswith("qwen"):
        return qwen_window(fields, n_layer)
    if kind not in WINDOW:
        return 0, 0
    return integer(fields, "sliding_window", 0 if "sliding_window" in fields else WINDOW[kind]), 0


def qwen_window(fields: Fields, n_layer: int) -> tuple[int, int]:
    """The same of a Qwen, which says whether it has one, and in which layers."""
    window = 0
    if boolean(fields, "use_sliding_window", False):
        window = integer(fields, "sliding_window", 0 if "sliding_window" in fields else QWEN_WINDOW)
    types = fields.get("layer_types")
    if types is None:
        n_full = min(n_layer, integer(fields, "max_window_layers", MAX_WINDOW_LAYERS, least=0)) if window else n_layer
        return (window, n_full) if n_full < n_layer else (0, 0)
    n_full = types.count("full_attention") if isinstance(types, list) else -1
    if types != ["full_attention"] * n_full + ["sliding_attention"] * (n_layer - n_full):
        raise UserError(
            N_("“layer_types” must name all %(n)s layers: first those with “full_attention”, then those with "
               "“sliding_attention”. Other types and another order are not known here."),
            n=n_layer,
        )  # fmt: skip
    if n_full < n_layer and not window:
        raise UserError(
            N_("“layer_types” gives layers a window, but “use_sliding_window” is not true, or “sliding_window” is not "
               "a number. Make them agree."),
        )  # fmt: skip
    return (window, n_full) if n_full < n_layer else (0, 0)


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
    else:
        return None
    at_most(found.active, found.n, "num_experts_per_tok")
    at_most(found.dense_layers, n_layer, "first_k_dense_replace")
    return found


# ---- one field ------------------------------------------------------------------------------------


def integer(fields: Fields, name: str, default: int | None = None, least: int = 1) -> int:
    """A whole number of the config, or the default where it is absent or null."""
    value, largest = fields.get(name), LARGEST.get(name, LARGEST_OTHER)
    if value is None and default is not None:
        return default
    if value is None:
        raise UserError(N_("The config has no “%(name)s”. Add it, or paste the whole config.json."), name=name)
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= largest:
        raise UserError(
            N_("“%(name)s” is %(value)s; it must be a whole number from %(least)s to %(largest)s."),
            name=name, value=json.dumps(value)[:40], least=least, largest=f"{largest:,}",
        )  # fmt: skip
    return value


def boolean(fields: Fields, name: str, default: bool) -> bool:
    """A yes or no of the config, or the default where it is absent or null."""
    value = fields.get(name)
    if value is not None and not isinstance(value, bool):
        said = shown(str(value)[:40])
        raise UserError(N_("“%(name)s” is %(value)s; it must be true or false."), name=name, value=said)
    return default if value is None else value


def divisible(a: int, b: int, name: str, other: str) -> None:
    if a % b:
        raise UserError(
            N_("“%(name)s” is %(a)s and “%(other)s” is %(b)s; the first must be a multiple of the second."),
            name=name, a=a, other=other, b=b,
        )  # fmt: skip


def at_most(value: int, limit: int, name: str) -> None:
    if value > limit:
        raise UserError(
            N_("“%(name)s” is %(value)s; it can be %(limit)s at most."), name=name, value=value, limit=limit
        )


def positive_number(fields: Fields, name: str, default: float | None = None) -> float:
    """A number above 0, of a size that can be counted with."""
    value = fields.get(name)
    value = default if value is None else value
    if isinstance(value, bool) or not isinstance(value, int | float) or not SMALL <= value <= LARGE:
        raise UserError(
            N_("“%(name)s” is %(value)s; it must be a number from %(least)s to %(most)s."),
            name=name, value=as_json(fields.get(name)), least=SMALL, most=LARGE,
        )  # fmt: skip
    return float(value)


def known_value(fields: Fields, name: str, default: str, known: dict[str, str]) -> str:
    """What `known` says of a field's value."""
    value = fields.get(name)
    value = default if value is None else value
    if not isinstance(value, str) or value not in known:
        raise UserError(
            N_("“%(name)s” is %(value)s, which cannot be run here. What can: %(known)s."),
            name=name, value=as_json(value), known=", ".join(known),
        )  # fmt: skip
    return known[value]


def token_ids(fields: Fields, name: str, vocab_size: int, absent: int | None = None) -> frozenset[int]:
    """Token ids: the field is one, or a list, or null. Those that the model does not have are left out."""
    value = fields.get(name, absent)
    found = value if isinstance(value, list) else [] if value is None else [value]
    if not all(isinstance(i, int) and not isinstance(i, bool) for i in found):
        raise UserError(
            N_("“%(name)s” is %(value)s; it must be a token's id or a list of some."), name=name, value=as_json(value)
        )
    return frozenset(i for i in found if 0 <= i < vocab_size)


def as_json(value: object) -> str:
    return json.dumps(value)[:40]
