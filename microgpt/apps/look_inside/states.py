"""What states.css is written with: what can be asked where its bytes come from."""

from __future__ import annotations

from typing import Any

from microgpt.apps.look_inside.app import ASKED


def states(big: bool) -> dict[str, Any]:
    return {"asked": ASKED}
