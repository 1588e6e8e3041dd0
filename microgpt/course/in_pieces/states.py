"""What states.css is written with: the keys that can be asked what they count, and the factor."""

from __future__ import annotations

from typing import Any

from microgpt.viz.drawing.picture import MOST_TOKENS


def states(big: bool) -> dict[str, Any]:
    """As many as a page steps through."""
    return {"asked": ask_names(MOST_TOKENS)}


def ask_names(n: int) -> list[str]:
    """What can be asked of n keys: ["f", "k0", "k1"]."""
    return ["f", *(f"k{at}" for at in range(n))]
