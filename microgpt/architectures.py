"""Known models by their shapes: parameters, bytes of cache, and what fits; also from a config.json.

Nothing here has weights. Everything follows from a handful of numbers that each model publishes, by the formulas
that hold for our own models too. Knows configs and arithmetic; knows no page and no file.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from microgpt.cost import kv_bytes
from microgpt.errors import N_, UserError
from microgpt.model import Config, param_shapes

LARGEST = 10_000_000  # a shape beyond this is a slip of the pen


@dataclass(frozen=True)
class Architecture:
    """A model's shape. `source` is where its figures are published."""

    name: str
    source: str
    config: Config
    latent: int = 0  # multi-head latent attention: numbers cached a token and layer (d_c + d_rope), instead of K and V
    window: int = 0  # sliding window: no more rows than this are kept; 0 is no window
    published: int = 0  # parameters as published, where the plain formula does not hold

    @property
    def sharing(self) -> str:
        """How the query heads come by their keys and values."""
        c = self.config
        if self.latent:
            return "MLA"
        return "MHA" if c.n_kv_head == c.n_head else "MQA" if c.n_kv_head == 1 else "GQA"

    @property
    def n_params(self) -> int:
        return self.published or sum(map(math.prod, param_shapes(self.config).values()))

    def bytes_per_token(self, size: int = 2) -> int:
        """What one token adds to the cache, all layers, at `size` bytes a number."""
        if self.latent:
            return self.config.n_layer * self.latent * size
        return kv_bytes(self.config, 1, size)

    def bytes_if_mha(self, size: int = 2) -> int:
        """The same if every query head had a key and a value head of its own."""
        return 2 * self.config.n_layer * self.config.n_head * self.config.head_dim * size

    def rows(self, tokens: int) -> int:
        """Rows that are kept for a text of so many tokens."""
        return min(tokens, self.window) if self.window else tokens

    def cache_bytes(self, tokens: int, batch: int = 1, size: int = 2) -> int:
        return self.bytes_per_token(size) * self.rows(tokens) * batch

    def weight_bytes(self, size: int = 2) -> int:
        return self.n_params * size

    def crossing(self, batch: int = 1) -> int:
        """From how many tokens a sequence on a decode step reads more cache than weights (a batch reads these once)."""
        return math.ceil(self.n_params * 2 / (self.bytes_per_token() * batch))

    def sequences(self, memory: int, tokens: int, size: int = 2) -> int:
        """How many sequences of `tokens` fit into `memory` bytes, beside the weights."""
        return max(0, memory - self.weight_bytes(size)) // self.cache_bytes(tokens, size=size)


def llama(
    n_layer: int, n_embd: int, n_head: int, n_kv_head: int, head_dim: int, n_mlp: int, vocab_size: int, n_ctx: int,
    tied: bool = False, bias: bool = False,
) -> Config:  # fmt: skip
    """The Llama family's Config: rotary positions, RMSNorm, SwiGLU."""
    return Config(
        n_layer, n_embd, n_head, n_kv_head, head_dim, n_mlp, n_ctx, vocab_size,
        position="rope", norm="rms", embd_norm=False, final_norm=True, mlp="swiglu", tied=tied, bias=bias,
    )  # fmt: skip


def gpt2(n_layer: int, n_embd: int, n_head: int, n_mlp: int, vocab_size: int, n_ctx: int) -> Config:
    """GPT-2's Config: learned positions, LayerNorm, GELU, biases, a tied head."""
    return Config(
        n_layer, n_embd, n_head, n_head, n_embd // n_head, n_mlp, n_ctx, vocab_size,
        norm="layer", embd_norm=False, final_norm=True, mlp="gelu", bias=True, tied=True,
    )  # fmt: skip


HUB = "config.json at huggingface.co/"
PRESETS = {
    model.name: model
    for model in (
        Architecture("GPT-2 124M", HUB + "openai-community/gpt2", gpt2(12, 768, 12, 3072, 50257, 1024)),
        Architecture(
            "SmolLM2-135M",
            HUB + "HuggingFaceTB/SmolLM2-135M",
            llama(30, 576, 9, 3, 64, 1536, 49152, 8192, tied=True),
        ),
        Architecture("Llama-2-7B", HUB + "meta-llama/Llama-2-7b-hf", llama(32, 4096, 32, 32, 128, 11008, 32000, 4096)),
        Architecture(
            "Llama-3-8B", HUB + "meta-llama/Meta-Llama-3-8B", llama(32, 4096, 32, 8, 128, 14336, 128256, 8192)
        ),
        Architecture(
            "Llama-3-70B", HUB + "meta-llama/Meta-Llama-3-70B", llama(80, 8192, 64, 8, 128, 28672, 128256, 8192)
        ),
        Architecture(
            "Mistral-7B",
            HUB + "mistralai/Mistral-7B-v0.1",
            llama(32, 4096, 32, 8, 128, 14336, 32000, 32768),
            window=4096,
        ),
        Architecture(  # one shared norm a layer, which Config cannot say: its total is as published
            "Falcon-7B",
            HUB + "tiiuae/falcon-7b",
            Config(32, 4544, 71, 1, 64, 18176, 2048, 65024, position="rope", norm="layer", mlp="gelu"),
            published=7_217_189_760,
        ),
        Architecture(  # experts and latent attention, which Config cannot say: its total is as published
            "DeepSeek-V3",
            HUB + "deepseek-ai/DeepSeek-V3",
            llama(61, 7168, 128, 128, 128, 18432, 129280, 163840),
            latent=512 + 64,
            published=671_000_000_000,
        ),
    )
}


# ---- config.json ----------------------------------------------------------------------------------


def from_config_json(text: str) -> Architecture:
    """The architecture that a Hugging Face config.json describes: GPT-2, Llama-type, or DeepSeek's latent attention.

    Raises UserError, naming the field, for what is missing, no whole number, or out of range.
    """
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UserError(N_("This is not JSON (%(why)s). Paste the whole config.json."), why=error) from None
    if not isinstance(fields, dict):
        raise UserError(N_("A config.json is an object in braces; this is something else."))
    name = str(fields.get("_name_or_path") or fields.get("model_type") or "config.json")[:60]
    if "n_embd" in fields:
        n_embd, n_head = whole(fields, "n_embd"), whole(fields, "n_head")
        divisible(n_embd, n_head, "n_embd", "n_head")
        n_mlp = whole(fields, "n_inner", 4 * n_embd)
        config = gpt2(
            whole(fields, "n_layer"), n_embd, n_head, n_mlp, whole(fields, "vocab_size"), whole(fields, "n_positions")
        )
        return Architecture(name, "config.json", config)
    n_embd, n_head = whole(fields, "hidden_size"), whole(fields, "num_attention_heads")
    n_kv_head = whole(fields, "num_key_value_heads", n_head)
    divisible(n_head, n_kv_head, "num_attention_heads", "num_key_value_heads")
    if not fields.get("head_dim"):
        divisible(n_embd, n_head, "hidden_size", "num_attention_heads")
    config = llama(
        whole(fields, "num_hidden_layers"), n_embd, n_head, n_kv_head, whole(fields, "head_dim", n_embd // n_head),
        whole(fields, "intermediate_size"), whole(fields, "vocab_size"), whole(fields, "max_position_embeddings"),
        tied=bool(fields.get("tie_word_embeddings", False)),
    )  # fmt: skip
    latent = 0
    if "kv_lora_rank" in fields:
        latent = whole(fields, "kv_lora_rank") + whole(fields, "qk_rope_head_dim")
    window = whole(fields, "sliding_window", 0) if fields.get("use_sliding_window", True) else 0
    return Architecture(name, "config.json", config, latent, window)


def whole(fields: Mapping[str, Any], name: str, default: int | None = None) -> int:
    """A positive whole number of the config, or the default where it is absent or null."""
    value = fields.get(name)
    if value is None and default is not None:
        return default
    if value is None:
        raise UserError(N_("The config has no “%(name)s”. Add it, or paste the whole config.json."), name=name)
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= LARGEST:
        raise UserError(
            N_("“%(name)s” is %(value)s; it must be a whole number from 1 to %(largest)s."),
            name=name, value=str(value)[:40], largest=LARGEST,
        )  # fmt: skip
    return value


def divisible(a: int, b: int, name: str, other: str) -> None:
    if a % b:
        raise UserError(
            N_("“%(name)s” is %(a)s and “%(other)s” %(b)s; the first must be a multiple of the second."),
            name=name, a=a, other=other, b=b,
        )  # fmt: skip
