"""The shape of any model of transformers, and its multiply-adds a step, read from its own configuration and matrices.

For the families that our own code computes, `facts_of` says more. Of others this is what a page needs: how many layers,
heads and numbers there are, and what a token costs. A token is multiplied once with every matrix of a layer; of those
of experts, with the few that its router chooses. (PyTorch has a counter of its own, which a recording asks at one step
and the tests at others: at each, it would take twice the time and more.) Needs no torch of its own; knows no page.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from microgpt import cost
from microgpt.architectures.facts import Facts, facts_of
from microgpt.config import Array, Config
from microgpt.errors import N_, UserError
from microgpt.huggingface.watch import attention_of, layers_of, module_part

OUT = ("o_proj", "out_proj", "c_proj", "dense", "wo")  # what the attention of a layer ends in
EXPERTS, CHOSEN = ("num_local_experts", "num_experts", "n_routed_experts"), ("num_experts_per_tok", "moe_topk", "top_k")
UP = "kv_b_proj"  # what makes the rows of all heads of a latent
CHUNKED = "chunked_attention"  # of the types of layers: a query sees the rows of its own chunk
SHAPE = ("n_layer", "n_embd", "n_head", "n_kv_head", "head_dim", "n_mlp", "n_ctx", "vocab_size", "position")


@dataclass(frozen=True)
class Shape:
    """What is known of a model before it runs. `ours`: our own code computes as it does, and counts what it is told."""

    facts: Facts
    ours: bool
    v_dim: int  # numbers of a row of V in each head; those of K and of q are config.head_dim
    latent: int = 0  # numbers of which the rows of all heads are made, if they are: MLA

    @property
    def config(self) -> Config:
        return self.facts.config


def shape_of(model: Any) -> Shape:
    """Of any model. Raises UserError for one whose configuration does not say how many heads it has."""
    fields = json.loads(model.config.to_json_string(use_diff=False))
    fields.pop("quantization_config", None)  # of the weights; the shape is the same
    try:
        facts = facts_of(json.dumps(fields))
        return Shape(facts, ours=True, v_dim=facts.config.head_dim)
    except UserError:
        text, config = model.config.get_text_config(), config_of(model)
        latent = getattr(text, "kv_lora_rank", None) or 0
        v_dim = text.v_head_dim if latent else config.head_dim
        return Shape(Facts(str(model.config.model_type), config, -1, frozenset()), False, v_dim, latent)


def config_of(model: Any) -> Config:
    """The shapes alone; what its arithmetic is stays open."""
    text = model.config.get_text_config()

    def field(name: str, otherwise: int) -> int:
        found = getattr(text, name, None)
        return found if isinstance(found, int) else otherwise

    sizes = {name: field(name, 0) for name in ("num_hidden_layers", "hidden_size", "num_attention_heads", "vocab_size")}
    missing = [name for name, size in sizes.items() if size <= 0]
    if missing:
        sentence = N_("The configuration of this model (%(kind)s) does not say %(fields)s, so it cannot be drawn.")
        raise UserError(sentence, kind=model.config.model_type, fields=", ".join(missing))
    layers, width, heads, words = sizes.values()
    turned = any("Rotary" in type(module).__name__ for module in model.modules())
    of_head = field("qk_head_dim", field("head_dim", width // heads))  # the former where some of it turns, MLA
    return Config(
        layers,
        width,
        heads,
        field("num_key_value_heads", heads),
        of_head,
        n_mlp=field("intermediate_size", 0),
        n_ctx=field("max_position_embeddings", 2**20),
        vocab_size=words,
        position="rope" if turned else "learned",
    )


def config_fields(shape: Shape) -> dict[str, Any]:
    """What a trace says of the model's config: all of it, or what is known of another family."""
    return {name: getattr(shape.config, name) for name in (Config.__slots__ if shape.ours else SHAPE)}


# (n, t[, pairs]) -> the multiply-adds over cost.PARTS of a pass over the last n of t tokens, whose last row alone gets
# logits; `pairs` are the scores that were told, all heads and layers, else those that the masks leave
Macs: TypeAlias = Callable[..., Array]


def counter(model: Any, shape: Shape, kept: list[int], windows: list[int], latents: bool) -> Macs:
    """A formula for the families that we know; for others by the matrices that they have.

    `kept` layers have rows, of which a query sees `windows` at most. With `latents` the cache keeps those, and every
    pass makes the rows of all tokens of them again.
    """
    config = shape.config
    if shape.ours:
        return lambda n, t, pairs=None: cost.formula_macs(config, n, t, range(config.n_layer), 1)
    token, head = by_matrices(model), matrices(model.get_output_embeddings())
    chunks = chunk_layers(model)
    up = sum(matrices(module) for name, module in model.named_modules() if latents and name.endswith(UP))

    def of_pass(n: int, t: int, pairs: int | None = None) -> Array:
        found: Array = n * token
        found[cost.PARTS.index("qkv")] += (t - n) * up
        if pairs is None:
            sees = [in_chunks if layer in chunks else cost.count_pairs for layer in kept]
            pairs = config.n_head * sum(see(n, t, windows[layer]) for see, layer in zip(sees, kept, strict=True))
        for name, width in (("scores", config.head_dim), ("mixing", shape.v_dim)):
            found[cost.PARTS.index(name)] = pairs * width
        found[cost.PARTS.index("head")] = head
        return found

    return of_pass


def chunk_layers(model: Any) -> list[int]:
    """The layers whose queries see the rows of their own chunk alone."""
    types = getattr(model.config.get_text_config(), "layer_types", None) or []
    return [layer for layer, kind in enumerate(types) if kind == CHUNKED]


def in_chunks(n: int, t: int, size: int) -> int:
    """Pairs (query, key) a head, when the last n of t tokens each look back in their own chunk of `size`."""
    return sum(at % size + 1 for at in range(t - n, t))


def by_matrices(model: Any) -> Array:
    """Over cost.PARTS, what one token takes in all layers, but for scores, mixing and the output head."""
    text, found = model.config.get_text_config(), dict.fromkeys(cost.PARTS, 0.0)
    experts, chosen = (
        next((n for name in names if isinstance(n := getattr(text, name, None), int)), 1) for names in (EXPERTS, CHOSEN)
    )
    for layer in layers_of(model):
        attention = attention_of(layer)
        last = None if attention is None else module_part(attention, OUT)
        inside = set() if attention is None else set(attention.modules())
        for name, module in layer.named_modules():
            kind = "out" if module is last else "qkv" if module in inside else "mlp"
            one_of_many = ".experts." in f".{name}." and kind == "mlp"
            found[kind] += matrices(module) * (chosen / experts if one_of_many else 1)
    return np.array([round(found[name]) for name in cost.PARTS], np.int64)


def matrices(module: Any) -> int:
    """The numbers of the matrices that are this module's own; of one that is packed, as it stands for."""
    if getattr(module, "groups", 1) > 1:
        return 0  # a convolution over time, each channel by itself: work on a state
    if hasattr(module, "in_features"):
        return int(module.in_features * module.out_features)
    found = module.named_parameters(recurse=False)
    return sum(math.prod(one.shape) for name, one in found if len(one.shape) > 1 and not name.endswith("bias"))
