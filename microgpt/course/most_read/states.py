"""What states.css is written with: the rows that can be asked what they have received."""

from __future__ import annotations

from typing import Any

from microgpt.course.most_read.lesson import row_names
from microgpt.viz.drawing.picture import MOST_TOKENS


def states(big: bool) -> dict[str, Any]:
    """As many as a page steps through."""
    return {"asked": row_names(MOST_TOKENS)}
