"""Known models by their shapes: what they have in parameters, what they keep for each token, and what fits.

Nothing here has weights. Everything follows from a handful of numbers that each model publishes in its config.json,
by the formulas that hold for our own models too. Two things are more than a Config can say: multi-head latent
attention (`Latent`) and a mixture of experts (`Experts`).

Knows shapes and arithmetic; knows no page, no file, and not what a model computes.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass

from microgpt.config import Config, param_shapes, window_of
from microgpt.cost import lookup_tables


@dataclass(frozen=True, slots=True)
class Latent:
    """Multi-head latent attention: one short row a token is kept, and the K and V of all heads are computed from it."""

    d_c: int  # width of that row
    d_rope: int  # width of the rotated key beside it, one for all heads
    d_nope: int  # width of the part of each head's key that is not rotated
    d_v: int  # width of each head's value
    d_q: int = 0  # queries come from a short row of this width too; 0: they do not


@dataclass(frozen=True, slots=True)
class Experts:
    """A mixture of experts: many MLPs a layer, of which each token runs a few."""

    n: int
    active: int  # how many a token runs
    n_mlp: int  # width inside one of them
    shared: int = 0  # experts that every token runs besides
    dense_layers: int = 0  # so many first layers have one plain MLP instead
    bias: bool = False  # the router has a bias
    own_bias: bool = False  # and so have the matrices of the experts
    plain: tuple[int, ...] = ()  # further layers that have one plain MLP instead

    def layers(self, n_layer: int) -> list[int]:
        """Those that have experts."""
        return [layer for layer in range(self.dense_layers, n_layer) if layer not in self.plain]


@dataclass(frozen=True, slots=True)
class Architecture:
    """A model's shape. `source` is where its figures are published; `size` is bytes a number, everywhere."""

    name: str
    source: str
    config: Config
    latent: Latent | None = None
    experts: Experts | None = None
    layer_windows: tuple[int, ...] = ()  # where a Config cannot say it: `windows` of each layer
    norms_behind: bool = False  # Gemma 2 and 3: a norm behind attention and one behind the MLP, too
    sinks: bool = False  # gpt-oss: a number for each head, which takes a part of the weight

    @property
    def windows(self) -> tuple[int, ...]:
        """Sliding windows: how many rows a layer keeps at most; 0 is all of them."""
        return self.layer_windows or tuple(window_of(self.config, layer) for layer in range(self.config.n_layer))

    @property
    def window(self) -> int:
        """The most rows that a layer with a window keeps; 0 where no layer has one."""
        return max(self.windows)

    @property
    def sharing(self) -> str:
        """How the query heads come by their keys and values."""
        if self.latent:
            return "MLA"
        if self.config.n_kv_head == self.config.n_head:
            return "MHA"
        return "MQA" if self.config.n_kv_head == 1 else "GQA"

    @property
    def group(self) -> int:
        """Query heads that share a key head and a value head."""
        return self.config.n_head // self.config.n_kv_head

    @property
    def row(self) -> int:
        """Numbers that one token adds to the cache of one layer."""
        if self.latent:
            return self.latent.d_c + self.latent.d_rope
        return 2 * self.config.n_kv_head * self.config.head_dim

    @property
    def row_if_mha(self) -> int:
        """The same if every query head had a key and a value of its own."""
        if self.latent:
            return self.config.n_head * (self.latent.d_nope + self.latent.d_rope + self.latent.d_v)
        return 2 * self.config.n_head * self.config.head_dim

    @property
    def n_params(self) -> int:
        return sum(map(math.prod, parameters(self).values()))

    @property
    def n_idle(self) -> int:
        """Parameters of the experts that one token does not run."""
        if not self.experts:
            return 0
        m, d = self.experts.n_mlp, self.config.n_embd
        idle = len(self.experts.layers(self.config.n_layer)) * (self.experts.n - self.experts.active)
        return idle * (3 * m * d + self.experts.own_bias * (2 * m + d))

    def bytes_per_token(self, size: float = 2) -> int:
        """What one token adds to the cache, all layers."""
        return math.ceil(self.config.n_layer * self.row * size)

    def bytes_if_mha(self, size: float = 2) -> int:
        return math.ceil(self.config.n_layer * self.row_if_mha * size)

    def rows(self, tokens: int) -> int:
        """Rows that are kept of a text of so many tokens, all layers together."""
        return sum(min(tokens, window or tokens) for window in self.windows)

    def cache_bytes(self, tokens: int, batch: int = 1, size: float = 2) -> int:
        return math.ceil(self.rows(tokens) * self.row * size) * batch

    def weight_bytes(self, size: float = 2) -> int:
        """All weights: what they take in memory."""
        return math.ceil(self.n_params * size)

    def weight_bytes_read(self, size: float = 2, batch: int = 1) -> int:
        """What a decode step reads of them, once for the whole batch: of a table that is only looked up a row per
        text, and of the experts at most those that its tokens can ask for."""
        shapes = [shape for name, shape in param_shapes(self.config).items() if name in lookup_tables(self.config)]
        unread: float = sum(max(0, rows - batch) * width for rows, width in shapes)
        if self.experts:
            idle = max(0, self.experts.n - batch * self.experts.active) / (self.experts.n - self.experts.active or 1)
            unread += idle * self.n_idle
        return math.ceil((self.n_params - unread) * size)

    def crossing(self, batch: int = 1, size: float = 2, weight_size: float = 2) -> int | None:
        """From how many tokens a sequence on a step reads at least as much cache as weights; None where a window
        keeps it from ever doing so."""
        read, full = self.weight_bytes_read(weight_size, batch), self.windows.count(0)
        most = math.ceil(read / (full * self.row * size * batch)) if full else self.window
        if self.cache_bytes(most, batch, size) < read:
            return None
        return bisect_left(range(most), read, key=lambda tokens: self.cache_bytes(tokens, batch, size))

    def sequences(self, memory: int, tokens: int, size: float = 2, weight_size: float = 2) -> int:
        """How many sequences of `tokens` fit into `memory` bytes, beside the weights."""
        return max(0, memory - self.weight_bytes(weight_size)) // self.cache_bytes(tokens, 1, size)


def parameters(architecture: Architecture) -> dict[str, tuple[int, ...]]:
    """Name and shape of every tensor. The experts of a layer stand in one tensor, [n, out, in]."""
    a, c = architecture, architecture.config
    shapes = param_shapes(c)
    for layer in range(c.n_layer):
        here = f"layer{layer}."
        if a.latent:
            for name in ("wq", "wk", "wv", "wo"):
                del shapes[here + name]
            shapes |= {here + name: shape for name, shape in latent_shapes(c, a.latent).items()}
        if a.norms_behind:
            shapes |= {here + "attn_norm_behind": (c.n_embd,), here + "mlp_norm_behind": (c.n_embd,)}
        if a.sinks:
            shapes[here + "sinks"] = (c.n_head,)
        if a.experts and layer in a.experts.layers(c.n_layer):
            for name in ("fc1", "fc2", "gate"):
                del shapes[here + name]
            shapes |= {here + name: shape for name, shape in expert_shapes(c, a.experts).items()}
    return shapes


def latent_shapes(c: Config, latent: Latent) -> dict[str, tuple[int, ...]]:
    """The attention of one layer: down to the short row, and up again to the heads."""
    width = c.n_head * (latent.d_nope + latent.d_rope)
    queries: dict[str, tuple[int, ...]] = {"wq": (width, c.n_embd)}
    if latent.d_q:
        queries = {"wq_down": (latent.d_q, c.n_embd), "q_norm": (latent.d_q,), "wq_up": (width, latent.d_q)}
    return queries | {
        "wkv_down": (latent.d_c + latent.d_rope, c.n_embd),
        "kv_norm": (latent.d_c,),
        "wkv_up": (c.n_head * (latent.d_nope + latent.d_v), latent.d_c),
        "wo": (c.n_embd, c.n_head * latent.d_v),
    }


def expert_shapes(c: Config, experts: Experts) -> dict[str, tuple[int, ...]]:
    """The MLPs of one layer, and the router that chooses among them."""
    n, m, shared = experts.n, experts.n_mlp, experts.shared * experts.n_mlp
    shapes: dict[str, tuple[int, ...]] = {
        "router": (n, c.n_embd),
        "experts.fc1": (n, m, c.n_embd),
        "experts.gate": (n, m, c.n_embd),
        "experts.fc2": (n, c.n_embd, m),
    }
    if experts.bias:
        shapes["router.bias"] = (n,)
    if experts.own_bias:
        shapes |= {"experts.fc1.bias": (n, m), "experts.gate.bias": (n, m), "experts.fc2.bias": (n, c.n_embd)}
    if shared:
        shapes |= {
            "shared.fc1": (shared, c.n_embd),
            "shared.gate": (shared, c.n_embd),
            "shared.fc2": (c.n_embd, shared),
        }
    return shapes
