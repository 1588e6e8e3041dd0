"""Pages of a trained model, drawn from traces and records that lie in the repository: no weights travel.

`talks` and `answers` are the stepper on a text and on a turn of a chat; `refers` lets several words ask the same rows;
`repeats` follows a text that goes in circles. `python -m tools.trained` makes what they are drawn from.
"""

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
