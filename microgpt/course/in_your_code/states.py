"""What states.css is written with: the lines of code that can be asked what they make."""

from __future__ import annotations

from typing import Any

from microgpt.course.in_your_code.lines import LINES


def states(big: bool) -> dict[str, Any]:
    return {"asked": LINES}
