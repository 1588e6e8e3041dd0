"""What states.css is written with: heights of the columns, windows, models."""

from __future__ import annotations

from typing import Any

from microgpt.course.long_texts.shapes import LONGEST_TEXT, TEXT_LENGTHS, shapes


def states(big: bool) -> dict[str, Any]:
    known = shapes()
    windows = sorted({window for one in known for window in one.windows if window})
    return {
        "heights": [tokens / LONGEST_TEXT for tokens in TEXT_LENGTHS],
        "windows": [(window, window / LONGEST_TEXT) for window in windows],
        "models": len(known),
    }
