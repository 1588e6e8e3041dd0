"""Tensor inventories: what each tensor is for, what others call it, how much each part holds. Knows no HTML."""

from __future__ import annotations

from typing import NamedTuple

from microgpt.architectures import inventory
from microgpt.architectures.inventory import Tensor
from microgpt.architectures.roles import ROLES
from microgpt.config import Config
from microgpt.errors import N_

PART_NAMES = {
    "embedding": N_("embedding"),
    "attention": N_("attention"),
    "mlp": N_("MLP"),
    "norms": N_("norms"),
    "head": N_("output head"),
}


class InventoryRow(NamedTuple):
    """A tensor, bias and all."""

    name: str
    known_as: str  # in the published file; "" where it is the same
    role: str
    shapes: tuple[tuple[int, ...], ...]
    each: int  # parameters
    all: int  # in all layers


class Share(NamedTuple):
    """One part of a model's parameters."""

    name: str
    total: int
    share: float


class Inventory(NamedTuple):
    """A model's tensors: those outside the layers before and behind, and those of each layer."""

    name: str
    n_layer: int
    groups: list[tuple[str, list[InventoryRow]]]  # "before", "layer" or "after"
    total: int  # parameters
    shares: list[Share]
    rope: bool
    tied: bool
    nbytes: int  # in 16-bit numbers
    layer_total: int  # parameters of one layer


def inventory_of(name: str, config: Config, known_as: dict[str, str] | None = None) -> Inventory:
    """All tensors of `config`, by formula."""
    found = inventory.tensors(config)
    total = sum(t.size * t.times for t in found)
    inside = [t for t in found if is_in_layer(t)]
    before = [t for t in found if t.name in ("wte", "wpe", "embd_norm")]
    after = [t for t in found if t.name in ("final_norm", "lm_head")]
    groups = [("before", before), ("layer", inside), ("after", after)]
    return Inventory(
        name=name,
        n_layer=config.n_layer,
        groups=[(where, [row(t, known_as or {}) for t in some]) for where, some in groups if some],
        total=total,
        shares=[Share(PART_NAMES[part], size, size / total) for part, size in inventory.totals(config).items()],
        rope=config.position == "rope",
        tied=config.tied,
        nbytes=2 * total,
        layer_total=sum(t.size for t in inside),
    )


def is_in_layer(tensor: Tensor) -> bool:
    return tensor.name not in ("wte", "wpe", "embd_norm", "final_norm", "lm_head")


def row(t: Tensor, known_as: dict[str, str]) -> InventoryRow:
    other = known_as.get(t.name, "")
    return InventoryRow(
        name=t.name,
        known_as="" if other == t.name else other,
        role=ROLES[t.name].sentence,
        shapes=t.shapes,
        each=t.size,
        all=t.size * t.times,
    )
