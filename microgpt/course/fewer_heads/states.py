"""What states.css is written with: the query heads that can be asked what they read."""

from __future__ import annotations

from typing import Any

from microgpt.course.fewer_heads.readers import readers
from microgpt.weights import SHIPPED, shipped


def states(big: bool) -> dict[str, Any]:
    """The names of all that any of our models has here."""
    return {"asked": sorted({one.name for name in SHIPPED for one in readers(shipped(name).config)})}
