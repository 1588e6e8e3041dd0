"""Attention by hand: one query and its first few keys, every number on the way to the answer; then the triangle of QKᵀ.

What is shown is rounded, so who works it out from the page may be off in the last digit: `slack` says by how much.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from microgpt.architectures.known import PRESETS
from microgpt.config import Array
from microgpt.course.attention.questions import asks
from microgpt.model import softmax
from microgpt.viz.controls import Choice
from microgpt.viz.drawing.heat import Strip, scale_for
from microgpt.viz.drawing.lens import Told, as_printed, fewest, near, of_head
from microgpt.viz.drawing.picture import Picture
from microgpt.viz.settings import Settings
from microgpt.viz.text.formats import show
from microgpt.weights import SHIPPED, shipped

N_KEYS = 3  # as many as one works out on paper
PAGE_DIGITS = 2  # of every number on the page,
FINE = 2 * PAGE_DIGITS  # and of weights that are next to one, or to zero
NAMED_FROM = 10  # percent of the bar of all weights
FACTORS = ("fq", "fk", "fd", "fs", "fv")  # of the formula: q, K, the root of d, softmax, V
LARGE_MODELS = ("GPT-2 124M", "Llama-3-8B")


class MetKey(NamedTuple):
    """A key that the query meets, and its part of the answer."""

    i: int
    token: str
    k: Strip
    v: Strip
    pairs: list[tuple[float, float]]  # of q and k, number by number
    products: Strip
    total: float  # of the products: the dot product
    score: float
    raised: float  # e to the score
    weight: float
    thick: int  # percent of the answer; with those of the other keys, 100
    slices: Strip  # the weight times v


class TriangleRow(NamedTuple):
    """A row of the triangle: one step, its query and all keys; those that are later are masked."""

    scores: list[float]
    weights: list[float]  # 0 where masked
    earlier: int  # scores of the steps before


class Asked(NamedTuple):
    """One query and the rows that it may see, in one head, as the model computed them."""

    q: Array  # [head_dim]
    k: Array  # [n, head_dim]
    v: Array
    scores: Array  # [n]
    weights: Array
    answer: Array  # [head_dim]

    @property
    def products(self) -> Array:
        """[n, head_dim]: q and each key, number by number."""
        return self.k * self.q

    @property
    def slices(self) -> Array:
        """[n, head_dim]: what is taken of each value."""
        return self.v * self.weights[:, None]


class View:
    """One text: the arithmetic of one step, and the triangle of all."""

    def __init__(self, settings: Settings) -> None:
        trace = settings.trace()
        picture = Picture(trace)
        (layer, head), size = picture.clearest, picture.config.head_dim
        step, root = min(N_KEYS, picture.n) - 1, math.sqrt(size)
        made = query_of(picture, step)
        keys, rows, most = keys_of(picture, made), triangle(picture), int(made.weights.argmax())
        self.trace, self.layer, self.head, self.keys, self.root, self.rows = trace, layer, head, keys, root, rows
        self.choices = (
            Choice("part", range(step + 3), most),
            Choice("row", range(len(rows)), len(rows) - 1, in_figure=False),
        )
        told = Told(made.scores.tolist(), made.weights.tolist(), made.answer.tolist())
        self.fields = (Choice("lens", ("", *lens_names(len(keys), size)), "", in_figure=False),)
        self.lines = of_head("", range(len(keys)), made.q, made.k, made.v, told, picture.scale.digits)
        self.by_cells = "".join(f" by-o{at}" for at, _ in self.lines.cells)  # classes of what the whole sum needs
        self.token = keys[step].token  # that asks
        self.q = picture.scale.strip(made.q)
        self.last_key = step  # the case of the last key; those of softmax and of the sum come after it
        self.softmax_at = step + 1
        self.sum_at = step + 2
        self.head_dim = size
        raised = [one.raised for one in keys]
        self.raised = sum(raised)  # of all e to the score
        # decimals of each, so that they add up as printed
        self.fine = fewest(lambda digits: near(sum(as_printed(x, digits) for x in raised), sum(raised), PAGE_DIGITS))
        self.whole = sum(one.weight for one in keys)  # the sum of all weights
        self.answer = picture.scale.strip(made.answer)
        self.slack = slack(made)
        self.most = keys[most]
        # the largest weight, without the division by the root
        self.undivided = float(softmax(made.scores * root).max())
        sizes = {settings.model: size} | {name: PRESETS[name].config.head_dim for name in LARGE_MODELS}
        # how far scores spread that are sums of so many products, and the weight of the larger of two so far apart
        self.spreads = [(name, d, math.sqrt(d), larger(math.sqrt(d))) for name, d in sizes.items()]
        self.even = larger(1)  # the weight of the larger of two scores, with the division
        self.labels = [show(token) for token in picture.tokens]
        self.total = sum(len(row.scores) for row in rows)  # scores in the triangle
        self.masked = picture.n**2 - self.total
        self.asks = asks(made.scores, made.weights, late_mask_sum(picture))


view = View


def lens_names(keys: int, cells: int) -> list[str]:
    """What can be asked where it comes from: the score and the weight of each key, the numbers of the answer,
    and the factors of the formula."""
    return [*(f"{kind}{i}" for i in range(keys) for kind in "sw"), *(f"o{at}" for at in range(cells)), *FACTORS]


def can_be_asked() -> list[str]:
    """Of all that any of our models has here."""
    return lens_names(N_KEYS, max(shipped(name).config.head_dim for name in SHIPPED))


def row(picture: Picture, name: str, i: int, at: int = -1) -> Array:
    """[head_dim]: a row of the head whose weights differ most; with `at`, of k and v, as that step reads it."""
    (layer, head), config = picture.clearest, picture.config
    rows = picture.value(name, i, layer, at).reshape(-1, config.head_dim)
    return np.asarray(rows[head * len(rows) // config.n_head])


def query_of(picture: Picture, step: int) -> Asked:
    layer, head = picture.clearest
    k, v = (np.stack([row(picture, name, i, step) for i in range(step + 1)]) for name in "kv")
    scores, weights = (picture.trace[f"attn_{name}", step, layer][head, 0] for name in ("scores", "weights"))
    return Asked(row(picture, "q", step), k, v, scores, weights, row(picture, "head_out", step))


def keys_of(picture: Picture, made: Asked) -> list[MetKey]:
    heat, raised = scale_for(made.products), np.exp(made.scores)
    ends = [0, *np.rint(100 * np.cumsum(made.weights)).astype(int).tolist()]
    return [
        MetKey(
            i,
            show(picture.tokens[i]),
            picture.scale.strip(made.k[i]),
            picture.scale.strip(made.v[i]),
            list(zip(made.q.tolist(), made.k[i].tolist(), strict=True)),
            heat.strip(made.products[i]),
            float(made.products[i].sum()),
            float(made.scores[i]),
            float(raised[i]),
            float(made.weights[i]),
            ends[i + 1] - ends[i],
            picture.scale.strip(made.slices[i]),
        )
        for i in range(len(made.k))
    ]


def triangle(picture: Picture) -> list[TriangleRow]:
    """A row a step, of the head whose weights differ most."""
    (layer, head), found, earlier = picture.clearest, list[TriangleRow](), 0
    for i in range(picture.n):
        scores, weights = (picture.trace[f"attn_{name}", i, layer][head, 0].tolist() for name in ("scores", "weights"))
        found.append(TriangleRow(scores, weights + [0.0] * (picture.n - len(weights)), earlier))
        earlier += len(scores)
    return found


def late_mask_sum(picture: Picture) -> Array:
    """[n]: the scores of the first query and all keys, without the mask."""
    k = np.stack([row(picture, "k", i) for i in range(picture.n)])
    return np.asarray(k @ row(picture, "q", 0) / math.sqrt(picture.config.head_dim))


def larger(apart: float) -> float:
    """The weight of the larger of two scores that are so far apart."""
    return float(softmax(np.array([apart, 0.0]))[0])


def slack(made: Asked) -> float:
    """How far what follows from the printed numbers is from what is printed, at most."""
    printed = np.vectorize(partial(as_printed, digits=PAGE_DIGITS))
    total, raised = made.products.sum(axis=-1), np.exp(made.scores)
    pairs: Sequence[tuple[Array, Array]] = (
        (printed(made.k) * printed(made.q), made.products),
        (printed(made.products).sum(axis=-1), total),
        (printed(total) / math.sqrt(len(made.q)), made.scores),
        (np.exp(printed(made.scores)), raised),
        (printed(raised).sum(), raised.sum()),
        (printed(raised) / printed(raised.sum()), made.weights),
        (printed(made.v) * printed(made.weights)[:, None], made.slices),
        (printed(made.slices).sum(axis=0), made.answer),
    )
    return float(max(np.abs(printed(one) - printed(other)).max() for one, other in pairs))
