"""What states.css is written with: the letters of what can be asked where it comes from."""

from __future__ import annotations

from typing import Any

from microgpt.course.latent_row.lines import CALCULATIONS


def states(big: bool) -> dict[str, Any]:
    """The letters."""
    return {"kinds": CALCULATIONS}
