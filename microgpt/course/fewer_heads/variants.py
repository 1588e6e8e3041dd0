"""The ways in which query heads come by keys and values, tried on one model and one text, ready to be placed.

Each way is a real model: its weights are changed, the same text is run, the same prompt is written on. All rows that
are drawn are those of layer 0. Knows no HTML.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from microgpt.config import Array, Config, Params
from microgpt.errors import N_
from microgpt.experiments.shared_heads import (
    change,
    continue_text,
    latent,
    off,
    record_pass,
    with_kv_heads,
    with_latent,
)
from microgpt.trace import Trace
from microgpt.viz.drawing.heat import Strip, scale_for
from microgpt.viz.text.formats import show
from microgpt.weights import Model

DECIMALS_FROM = 4  # a head with more numbers than this is drawn with one decimal
EXACT = 1e-9  # a smaller difference is rounding
ORIGINS = {
    "own": N_("as it was trained"),
    "repeated": N_("each head repeated"),
    "averaged": N_("by averaging neighbours"),
    "short": N_("one short row"),
}


class Group(NamedTuple):
    """Query heads, and what they share: for each kind (k, v, or c, the short row), its rows, oldest first."""

    at: int
    queries: list[tuple[int, Strip, float]]  # head, its row at the last token, share of attention that went elsewhere
    held: list[tuple[str, list[Strip]]]


class Variant(NamedTuple):
    """One way, and what it makes of the model. Nothing was trained again."""

    kind: str
    n: int  # key and value heads; 0: one short row
    origin: str
    row: int  # numbers that a token adds to a layer
    groups: list[Group]
    rebuilt: Sequence[tuple[str, list[Strip]]] = ()  # keys and values of the last token that are computed, not kept
    off: float = 0.0  # share by which a short row leaves the rows of layer 0 off
    share: float = 0.0  # of the longest row of any way
    same: int = 0  # steps with the same likeliest token
    logits: float = 0.0  # the largest difference
    text: Sequence[str] = ()  # what it writes, token by token,
    sentence: str = ""  # and as it is written

    @property
    def exact(self) -> bool:
        """The difference is rounding."""
        return self.logits < EXACT

    @property
    def moves(self) -> bool:
        """Whether attention goes elsewhere, as far as it is written."""
        return any(round(moved, 2) for group in self.groups for _, _, moved in group.queries)

    @property
    def size(self) -> int:
        """Query heads that share."""
        return len(self.groups[0].queries)


class Trial:
    """A model and a text: `share` and `short` give the ways."""

    def __init__(self, model: Model, token_ids: Sequence[int], n_prompt: int) -> None:
        self.model, self.ids, self.prompt = model, token_ids, token_ids[:n_prompt]
        self.config: Config = model.config
        self.before = record_pass(model.params, self.config, token_ids)
        self.digits = 2 if self.config.head_dim <= DECIMALS_FROM else 1
        # one scale for each of q, k and v, as each has a hue of its own
        self.scales = {name: scale_for(self.before[name, 0, 0], digits=self.digits) for name in "qkv"}

    def strips(self, name: str, rows: Array) -> list[Strip]:
        """One strip a row of [n, numbers] of q, k or v."""
        return [self.scales[name].strip(row) for row in rows]

    def share(self, n: int) -> Variant:
        """n key heads and n value heads."""
        own = self.config.n_kv_head
        params, config = with_kv_heads(self.model.params, self.config, n)
        after = record_pass(params, config, self.ids)
        queries, size = self.queries(after), self.config.n_head // n
        groups = [
            Group(
                i,
                queries[i * size : (i + 1) * size],
                [(name, self.strips(name, after[name, 0, 0][:, i])) for name in ("k", "v")],
            )
            for i in range(n)
        ]
        origin = "own" if n == own else "averaged" if n < own else "repeated"
        kind = "MHA" if n == config.n_head else "MQA" if n == 1 else "GQA"
        return self.judge(Variant(kind, n, origin, 2 * n * config.head_dim, groups), params, config, after)

    def short(self, d_c: int) -> Variant:
        """K and V of all heads from one row of d_c numbers a token."""
        params = with_latent(self.model.params, self.config, d_c)
        after = record_pass(params, self.config, self.ids)
        down, _ = latent(self.model.params, 0, d_c)
        kept = after["attn_norm", 0, 0] @ down.T  # [n, d_c]: all that has to stay
        scale = scale_for(kept, digits=self.digits)
        group = Group(0, self.queries(after), [("c", [scale.strip(row) for row in kept])])
        rebuilt = [(name, self.strips(name, after[name, 0, 0][-1])) for name in ("k", "v")]
        way = Variant("MLA", 0, "short", d_c, [group], rebuilt, off(self.before, after))
        return self.judge(way, params, self.config, after)

    def queries(self, after: Trace) -> list[tuple[int, Strip, float]]:
        moved = change(self.before, after, self.config).moved.tolist()
        return list(zip(range(len(moved)), self.strips("q", after["q", 0, 0][-1]), moved, strict=True))

    def judge(self, way: Variant, params: Params, config: Config, after: Trace) -> Variant:
        """The way with what it costs and what it does to the model."""
        found = change(self.before, after, self.config)
        # the prompt without the start token, and what the model adds to it
        ids = [*self.prompt[1:], *continue_text(params, config, self.prompt, self.model.tokenizer.start)]
        return way._replace(
            share=way.row / (2 * self.config.n_head * self.config.head_dim),
            same=found.same,
            logits=found.logits,
            text=[show(self.model.tokenizer.vocabulary[i]) for i in ids],
            sentence=self.model.tokenizer.decode(ids),
        )
