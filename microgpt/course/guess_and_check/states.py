"""What states.css is written with: the guesses of a round, which can be asked why they are kept."""

from __future__ import annotations

from typing import Any

GAMMA = 4  # guesses per round
CAN_BE_ASKED = tuple(f"g{order}" for order in range(GAMMA))


def states(big: bool) -> dict[str, Any]:
    return {"asked": CAN_BE_ASKED}
