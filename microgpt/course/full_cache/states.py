"""What states.css is written with: how many policies there are."""

from __future__ import annotations

from typing import Any

POLICIES = 6


def states(big: bool) -> dict[str, Any]:
    """The numbers that states.css is written with."""
    return {"policies": POLICIES}
