"""LoRA adapters, and which cached rows each of them voids.

An adapter adds a product of two thin matrices, (alpha / r) B A, to some of the weights (arXiv 2106.09685). An engine
can keep one set of weights and run the thin product beside them, for many adapters at once; or the product is merged
into the weights, which gives the same up to the last bits.

Rows of K and V belong to the weights that made them. An adapter of wk or wv in some layer changes K or V there, and all
rows of the layers above, since what leaves the layer is another; one of wq, wo or the MLP changes only the rows above.
So a prefix may be shared among the texts of one adapter and no others: its name belongs into the key of the blocks
(`salt` in `microgpt.caches.prefix`), unless no row depends on it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from microgpt.cache import KVCache
from microgpt.config import Array, Config, Params, param_shapes
from microgpt.decode import prefill
from microgpt.errors import UserError

MATRICES = ("wq", "wk", "wv", "wo", "fc1", "fc2", "gate")


class Adapter(NamedTuple):
    """For each adapted matrix, by its name in the parameters, A [r, in] and B [out, r]; alpha / r scales them."""

    matrices: Mapping[str, tuple[Array, Array]]
    alpha: float = 1.0

    def delta(self, name: str) -> Array:
        """What is added to that matrix [out, in]."""
        a, b = self.matrices[name]
        delta: Array = (self.alpha / len(a)) * (b @ a)
        return delta


def draw_adapter(config: Config, names: Sequence[str], r: int, seed: int = 0, scale: float = 0.1) -> Adapter:
    """An adapter with random numbers for the matrices named so: "wk" in all layers, "layer0.wk" in one. A trained one
    begins with B = 0, and so with no change at all; `scale` 0 is that. Raises UserError for what is no matrix."""
    shapes = param_shapes(config)
    known = {name: name.rpartition(".")[2] for name in matrices(shapes)}  # layer0.wk -> wk
    unknown = [name for name in names if name not in known and name not in known.values()]
    if unknown or not names or r < 1:
        raise UserError(
            "An adapter of rank %(r)s for “%(names)s” fits nothing here; "
            "choose a rank of 1 or more and some of %(known)s.",
            r=r,
            names=", ".join(unknown or names)[:80],
            known=", ".join(sorted({*known.values()})),
        )
    found = [name for name, kind in known.items() if name in names or kind in names]
    rng = np.random.default_rng(seed)
    pairs = {}
    for name in found:
        out, into = shapes[name]
        pairs[name] = rng.normal(0, 1, (r, into)), scale * rng.normal(0, 1, (out, r))
    return Adapter(pairs)


def matrices(shapes: Mapping[str, tuple[int, ...]]) -> list[str]:
    """The weights that an adapter can change."""
    return [name for name in shapes if name.rpartition(".")[2] in MATRICES]


def merge(params: Params, adapter: Adapter) -> Params:
    """The parameters with the adapter added; those of the base are not written to."""
    return params | {name: params[name] + adapter.delta(name) for name in adapter.matrices}


def void(params: Params, config: Config, adapter: Adapter, token_ids: Sequence[int]) -> Array:
    """How far the adapter moves the rows of this text: the largest difference in K and in V, [n_layer, 2]."""
    base, ours = KVCache(config), KVCache(config)
    prefill(params, config, token_ids, base)
    prefill(merge(params, adapter), config, token_ids, ours)
    return np.array(
        [
            [np.abs(one.keys - other.keys).max(), np.abs(one.values - other.values).max()]
            for one, other in zip(base.layers, ours.layers, strict=True)
        ]
    )
