"""What states.css is written with: what can be asked where it comes from."""

from __future__ import annotations

from typing import Any

from microgpt.course.memory.lesson import FACTOR_NAMES


def states(big: bool) -> dict[str, Any]:
    return {"asked": FACTOR_NAMES}
