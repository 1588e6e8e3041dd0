"""What states.css is written with: what can be asked where it comes from."""

from __future__ import annotations

from typing import Any

from microgpt.course.attention.lesson import N_KEYS, lens_names
from microgpt.weights import SHIPPED, shipped


def states(big: bool) -> dict[str, Any]:
    """The names of all that any of our models has here."""
    return {"asked": lens_names(N_KEYS, max(shipped(name).config.head_dim for name in SHIPPED))}
