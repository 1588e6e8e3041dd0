"""What states.css is written with: how many tokens can be followed, how many swapped, and how high a bar can be."""

from __future__ import annotations

from typing import Any

from microgpt.course.inside.lesson import STAGE_OF, STAGES
from microgpt.course.inside.lines import MOST_ASKED
from microgpt.course.inside.path import MOST_SWAPS
from microgpt.viz.drawing.heat import LEVELS
from microgpt.weights import SHIPPED, shipped


def states(big: bool) -> dict[str, Any]:
    """The numbers that states.css is written with."""
    configs = [shipped(name).config for name in SHIPPED]
    tokens, heads, layers = (
        max(sizes) for sizes in zip(*((c.n_ctx, c.n_head, c.n_layer) for c in configs), strict=True)
    )
    counts = {"tokens": tokens, "heads": heads, "layers": layers, "swaps": MOST_SWAPS, "lanes": MOST_ASKED}
    return {**counts, "levels": LEVELS, "stages": len(STAGES), "asked": [*STAGE_OF, "guess"]}
