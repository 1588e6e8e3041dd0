"""The stages of one step, and the line of model.py that runs in each, read from the real source (source.py).

Knows the names of events; knows no trace.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

from microgpt.errors import N_
from microgpt.viz.settings import radio

FORWARD_FILE = Path(__file__).with_name("forward.json")  # in the browser, in place of the source of `forward`


class Phase(NamedTuple):
    """A stage within a step: what it is called, which reports of forward belong to it, how long it takes when it plays,
    against the others, and what happens."""

    name: str
    events: tuple[str, ...]
    beats: float
    sentence: str


PARTS = (N_("a quarter"), N_("a half"), N_("three quarters"))  # of a stage, where the machine can be stopped

PHASES = (
    Phase(N_("project"), ("q", "k", "v"), 1.6,
          N_("The token’s vector x is multiplied by three weight matrices. Out come its query q, key k and value v.")),
    Phase(N_("append"), ("cache_append",), 1.0,
          N_("k and v become one new row of the cache. The rows above are left as they are. q gets no row.")),
    Phase(N_("compare"), ("attn_scores",), 1.9,
          N_("q goes down the K column and meets every key once. Each meeting gives one score.")),
    Phase(N_("weigh"), ("attn_weights",), 0.9,
          N_("Softmax turns the scores into weights. None is below zero, and together they are one.")),
    Phase(N_("mix"), ("head_out",), 1.3,
          N_("Each V row is taken by its weight, and the rows are added. This sum is all that attention hands on.")),
    Phase(N_("drop q"), ("attn_out",), 1.1,
          N_("Nothing after this line reads q, and no later step will. So it is not kept.")),
    Phase(N_("choose"), ("logits",), 1.4,
          N_("The MLP and the output head turn the result into one logit for each token of the vocabulary. One "
             "token is chosen.")),
)  # fmt: skip


@cache
def code(phase: int) -> tuple[str, ...]:
    """The lines of `forward` whose results the phase's events report: those directly above each report."""
    above = of_forward()
    missing = [event for event in PHASES[phase].events if event not in above]
    if missing:
        raise LookupError(
            f"forward reports no {', '.join(missing)}: below the maths, hook((name, array, start, layer))"
        )
    return tuple(above[event] for event in PHASES[phase].events)


@cache
def of_forward() -> dict[str, str]:
    """Event -> the statement of `forward` above its report."""
    if FORWARD_FILE.exists():
        found: dict[str, str] = json.loads(FORWARD_FILE.read_text("utf-8"))
        return found
    from inspect import getsource

    from microgpt.model import forward
    from microgpt.viz.drawing.source import statements_by_event

    return statements_by_event(getsource(forward))


def stage(fields: Mapping[str, str]) -> int:
    """The stage of a step that is on show. Where the step is still to come, the last: what Python is asked for is shown
    as a whole."""
    return radio(fields, "phase", 0, len(PHASES)) or len(PHASES)
