"""The tensors of a model, by formula: globals, one layer of many, exact totals, and which part holds how much.

Knows shapes; knows no page, and not what the numbers are.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from microgpt.architectures.roles import ROLES, Role
from microgpt.config import Config, param_shapes

PARTS = ("embedding", "attention", "mlp", "norms", "head")


class Tensor(NamedTuple):
    """A tensor, its bias and norm with it. `times` is how often it is there: once, or once a layer."""

    name: str
    shapes: tuple[tuple[int, ...], ...]
    times: int
    role: Role

    @property
    def size(self) -> int:
        """Parameters of one of them."""
        return sum(map(math.prod, self.shapes))

    @property
    def total(self) -> int:
        """Parameters of all of them."""
        return self.size * self.times


def tensors(config: Config) -> list[Tensor]:
    """In the order in which a token meets them; the layers, all alike, are listed once."""
    shapes = param_shapes(config)
    found = []
    for name, role in ROLES.items():
        for full, times in ((name, 1), (f"layer0.{name}", config.n_layer)):
            mine = tuple(shapes[key] for key in (full, full + ".bias", full + ".norm") if key in shapes)
            if mine:
                found.append(Tensor(name, mine, times, role))
    return found


def totals(config: Config) -> dict[str, int]:
    """Parameters by part."""
    found = dict.fromkeys(PARTS, 0)
    for tensor in tensors(config):
        found[tensor.role.part] += tensor.total
    return found
