"""What states.css is written with: how many tokens can be followed, how many swapped, and how high a bar can be."""

from __future__ import annotations

from typing import Any

from microgpt.course.inside.path import MOST_SWAPS
from microgpt.viz.drawing.heat import LEVELS
from microgpt.weights import SHIPPED, shipped


def states(big: bool) -> dict[str, Any]:
    """The numbers that states.css is written with."""
    tokens = max(shipped(name).config.n_ctx for name in SHIPPED)
    return {"tokens": tokens, "swaps": MOST_SWAPS, "levels": LEVELS}
