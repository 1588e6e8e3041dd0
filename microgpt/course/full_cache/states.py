"""What states.css is written with: how many policies, steps and places below the floor there are."""

from __future__ import annotations

from typing import Any

POLICIES, MOST_STEPS, DEPTHS = 6, 24, 12  # at most


def states(big: bool) -> dict[str, Any]:
    """The numbers that states.css is written with."""
    return {"policies": POLICIES, "steps": MOST_STEPS, "depths": DEPTHS}
