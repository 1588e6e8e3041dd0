"""What states.css is written with: what can be asked where it comes from."""

from __future__ import annotations

from typing import Any

CAN_BE_ASKED = ("ran", "logit")  # the tokens that have run, and the likeliest one's logit


def states(big: bool) -> dict[str, Any]:
    return {"asked": CAN_BE_ASKED}
