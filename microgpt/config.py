"""What a model is before it computes: its architecture in a few numbers, and the shapes of its parameters.

Everything below stands on this: the model, its rotation and its cache are given a `Config`, and none of them asks
another what it means. Knows shapes; computes nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]
DType: TypeAlias = np.dtype[Any] | type
Params: TypeAlias = dict[str, Array]  # "wte", "layer0.wq", ...: names and shapes are in param_shapes
Report: TypeAlias = tuple[str, Any, int, int]  # name, value, position of its first row, layer (-1: outside of them)
Hook: TypeAlias = Callable[[Report], object]  # a list's append is one; it looks, and writes into nothing


@dataclass(frozen=True, slots=True)
class Config:
    """The architecture. The defaults are microgpt exactly."""

    n_layer: int = 1
    n_embd: int = 16  # width of the residual stream
    n_head: int = 4  # query heads
    n_kv_head: int = 4  # key/value heads; fewer than n_head is grouped-query attention
    head_dim: int = 4  # a field of its own: not every model has n_embd / n_head
    n_mlp: int = 64  # width inside the MLP
    n_ctx: int = 16  # the most positions the model can see
    vocab_size: int = 27
    position: Literal["learned", "rope"] = "learned"
    rope_theta: float = 10_000.0
    rope_scaling: Literal["none", "linear", "llama3"] = "none"  # how a longer context than the trained one is reached
    rope_factor: float = 1.0  # how many times longer
    rope_low_freq: float = 1.0  # these three are llama3's: see llama3_scaling
    rope_high_freq: float = 4.0
    rope_old_ctx: int = 8192
    attn_scale: float = 0.0  # what q . k is multiplied by; 0 is 1 / sqrt(head_dim)
    window: int = 0  # a token sees so many rows, its own included; 0: all
    window_from: int = 0  # the first layer with that window; the layers before see all
    mask_block: int = 1  # a token sees its own block of so many tokens whole; 1 is the causal mask, n_ctx no mask
    kv_lora_rank: int = 0  # MLA: a token's row is one latent of so many numbers for all heads, and one short key
    q_lora_rank: int = 0  # MLA: the queries come out of so many numbers; 0: of the residual stream, as ever
    rope_dim: int = 0  # MLA: so many of head_dim turn with the position, the last ones; 0: all
    absorbed: bool = False  # MLA: attention reads the latents themselves, in place of keys and values made of them
    cross: bool = False  # each layer also reads the rows of an encoder
    qk_norm: bool = False  # Qwen 3: the heads of q and k are normalised, with a gain
    norm: Literal["rms_plain", "rms", "layer"] = "rms_plain"  # rms_plain has no gain
    norm_eps: float = 1e-5
    embd_norm: bool = True  # microgpt normalises the embedding before the first layer
    final_norm: bool = False
    mlp: Literal["relu", "gelu", "gelu_exact", "swiglu"] = "relu"
    bias: bool = False  # on every matrix but the output head
    qkv_bias: bool = False  # where not all have one: on wq, wk and wv (Qwen 2),
    wo_bias: bool = False  # on wo,
    mlp_bias: bool = False  # on fc1, fc2 and gate
    tied: bool = False  # the output head is wte


def row_dims(config: Config) -> tuple[int, int]:
    """How many numbers a head's row of K and of V has in the cache: head_dim each, or the short key and the latent."""
    return (config.rope_dim, config.kv_lora_rank) if config.kv_lora_rank else (config.head_dim, config.head_dim)


def v_dim(config: Config) -> int:
    """How many numbers a head mixes: with MLA as many as its keys have beside the turned ones (DeepSeek: 128)."""
    return config.head_dim - config.rope_dim if config.kv_lora_rank else config.head_dim


def window_of(config: Config, layer: int) -> int:
    """How many rows a token sees in this layer; 0 is all."""
    return config.window if layer >= config.window_from else 0


def param_shapes(config: Config) -> dict[str, tuple[int, ...]]:
    """Name and shape of every parameter, in the order in which microgpt draws them."""
    c, d = config, config.n_embd
    shapes: dict[str, tuple[int, ...]] = {"wte": (c.vocab_size, d)}
    if c.position == "learned":
        shapes["wpe"] = (c.n_ctx, d)
    if not c.tied:
        shapes["lm_head"] = (c.vocab_size, d)
    for layer in range(c.n_layer):
        matrices = {
            "wq": (c.n_head * c.head_dim, c.q_lora_rank or d),
            "wk": (c.n_kv_head * row_dims(c)[0], d),
            "wv": (c.n_kv_head * row_dims(c)[1], d),
            "wo": (d, c.n_head * v_dim(c)),
            "fc1": (c.n_mlp, d),
            "fc2": (d, c.n_mlp),
        }
        if c.mlp == "swiglu":
            matrices["gate"] = (c.n_mlp, d)
        if c.cross:
            heads, kv_heads = c.n_head * c.head_dim, c.n_kv_head * c.head_dim
            matrices |= {"cross_wq": (heads, d), "cross_wk": (kv_heads, d), "cross_wv": (kv_heads, d)}
            matrices["cross_wo"] = (d, heads)
        shapes |= {f"layer{layer}.{name}": shape for name, shape in matrices.items()}
        shapes |= {f"layer{layer}.{name}": shape for name, shape in latent_shapes(c).items()}
        own = {"wq": c.qkv_bias, "wk": c.qkv_bias, "wv": c.qkv_bias, "wo": c.wo_bias}
        biased = [name for name in matrices if c.bias or own.get(name, c.mlp_bias)]
        shapes |= {f"layer{layer}.{name}.bias": matrices[name][:1] for name in biased}
        shapes |= {f"layer{layer}.{name}.norm": (c.head_dim,) for name in ("wq", "wk") if c.qk_norm}
    own_norms = ("attn_norm", "mlp_norm", *["cross_norm"] * c.cross)
    norms = [f"layer{layer}.{name}" for layer in range(c.n_layer) for name in own_norms]
    norms += ["embd_norm"] * c.embd_norm + ["final_norm"] * c.final_norm
    if c.norm != "rms_plain":
        shapes |= {name: (d,) for name in norms}
    if c.norm == "layer":
        shapes |= {name + ".bias": (d,) for name in norms}
    return shapes


def latent_shapes(config: Config) -> dict[str, tuple[int, ...]]:
    """What MLA has beside the matrices of every attention: up from the latent, per head, and down to the query's."""
    c, shapes = config, dict[str, tuple[int, ...]]()
    if c.kv_lora_rank:
        shapes |= {name: (c.n_head * v_dim(c), c.kv_lora_rank) for name in ("wk_up", "wv_up")}
        shapes["wv.norm"] = (c.kv_lora_rank,)
    if c.q_lora_rank:
        shapes |= {"wq.down": (c.q_lora_rank, c.n_embd), "wq.down.norm": (c.q_lora_rank,)}
    return shapes


def n_params(config: Config) -> int:
    """How many numbers the model has."""
    return sum(map(math.prod, param_shapes(config).values()))


def split(vector: Array, config: Config) -> Params:
    """Cut one flat vector into the parameters of `config`, without copying."""
    params, at = {}, 0
    for name, shape in param_shapes(config).items():
        params[name] = vector[at : at + math.prod(shape)].reshape(shape)
        at += math.prod(shape)
    return params
