"""What the pages of a trained model are drawn from: traces and records that `python -m tools.trained` makes."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from microgpt.viz.text.place import ROOT

TRACES = ROOT / "site" / "traces"


@cache
def record(file: str) -> dict[str, Any]:
    """What an experiment has measured, as its file beside the traces has it."""
    found: dict[str, Any] = json.loads((TRACES / file).read_text("utf-8"))
    return found
