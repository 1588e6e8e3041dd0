"""The tensors of a model, by formula: globals, one layer of many, exact totals, and which part holds how much.

Knows shapes; knows no page, and not what the numbers are.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from microgpt.model import Config, param_shapes

PARTS = ("embedding", "attention", "mlp", "norms", "head")
PART_OF = {
    "wte": "embedding", "wpe": "embedding", "lm_head": "head",
    "wq": "attention", "wk": "attention", "wv": "attention", "wo": "attention",
    "fc1": "mlp", "gate": "mlp", "fc2": "mlp",
}  # fmt: skip
ORDER = (
    "wte", "wpe", "embd_norm", "attn_norm", "wq", "wk", "wv", "wo",
    "mlp_norm", "fc1", "gate", "fc2", "final_norm", "lm_head",
)  # fmt: skip


class Tensor(NamedTuple):
    """A tensor, its bias and norm with it. `times` is how often it is there: once, or once a layer."""

    name: str
    shapes: tuple[tuple[int, ...], ...]
    times: int
    part: str

    @property
    def size(self) -> int:
        """Parameters of one of them."""
        return sum(map(math.prod, self.shapes))


def tensors(config: Config) -> list[Tensor]:
    """In the order in which a token meets them; the layers, all alike, are listed once."""
    shapes = param_shapes(config)
    found = []
    for name in ORDER:
        for full, times in ((name, 1), (f"layer0.{name}", config.n_layer)):
            mine = tuple(shapes[key] for key in (full, full + ".bias", full + ".norm") if key in shapes)
            if mine:
                found.append(Tensor(name, mine, times, PART_OF.get(name, "norms")))
    return found


def totals(config: Config) -> dict[str, int]:
    """Parameters by part."""
    found = dict.fromkeys(PARTS, 0)
    for tensor in tensors(config):
        found[tensor.part] += tensor.size * tensor.times
    return found
