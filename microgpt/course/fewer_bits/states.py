"""What states.css is written with: the numbers of a row that can be asked how they become their codes."""

from __future__ import annotations

from typing import Any

MOST_COLUMNS = 16  # of a longer row the first


def states(big: bool) -> dict[str, Any]:
    return {"asked": number_names(MOST_COLUMNS)}


def number_names(n: int) -> list[str]:
    """Of the numbers of a row of n: ["c0", "c1"]."""
    return [f"c{at}" for at in range(min(n, MOST_COLUMNS))]
