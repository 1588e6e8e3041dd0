"""Tensor inventories: what each tensor is for, what others call it, how much each part holds. Knows no HTML."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from microgpt.architectures import inventory
from microgpt.architectures.inventory import Tensor
from microgpt.config import Config
from microgpt.errors import N_

PART_NAMES = {
    "embedding": N_("embedding"),
    "attention": N_("attention"),
    "mlp": N_("MLP"),
    "norms": N_("norms"),
    "head": N_("output head"),
}


PLACES = {
    **dict.fromkeys(("wte", "wpe", "embd_norm"), "before"),
    **dict.fromkeys(("final_norm", "lm_head"), "after"),
}  # of tensors outside the layers


class Inventory(NamedTuple):
    """A model's tensors: those outside the layers before and behind, and those of each layer."""

    name: str
    config: Config
    known_as: Mapping[str, str]  # in the published file, by our name, where that is another
    groups: list[tuple[str, list[Tensor]]]  # "before", "layer" or "after"
    shares: list[tuple[str, int, float]]  # the parts, their parameters, and how much of all these are
    total: int  # parameters
    layer_total: int  # of one layer
    nbytes: int  # of all in 16-bit numbers


def inventory_of(name: str, config: Config, known_as: Mapping[str, str] = {}) -> Inventory:
    """All tensors of `config`, by formula."""
    groups: dict[str, list[Tensor]] = {"before": [], "layer": [], "after": []}
    for tensor in inventory.tensors(config):
        groups[PLACES.get(tensor.name, "layer")].append(tensor)
    total = sum(tensor.total for some in groups.values() for tensor in some)
    return Inventory(
        name=name,
        config=config,
        known_as={ours: theirs for ours, theirs in known_as.items() if ours != theirs},
        groups=[(where, some) for where, some in groups.items() if some],
        shares=[(PART_NAMES[part], size, size / total) for part, size in inventory.totals(config).items()],
        total=total,
        layer_total=sum(tensor.size for tensor in groups["layer"]),
        nbytes=2 * total,
    )
