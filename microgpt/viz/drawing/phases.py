"""The stages of one step, and the line of model.py that runs in each, read from the real source.

Knows the names of events and the source text; knows no trace.
"""

from __future__ import annotations

import inspect
from functools import cache
from typing import NamedTuple

from microgpt import model
from microgpt.errors import N_


class Phase(NamedTuple):
    """A stage within a step: what it is called, what happens, which reports of forward belong to it."""

    name: str
    sentence: str
    events: tuple[str, ...]


PHASES = (
    Phase(
        N_("project"),
        N_("The token’s vector x is multiplied by three weight matrices. Out come its query q, key k and value v."),
        ("q", "k", "v"),
    ),
    Phase(
        N_("append"),
        N_("k and v become one new row of the cache. The rows above are left as they are. q gets no row."),
        ("cache_append",),
    ),
    Phase(
        N_("compare"),
        N_("q goes down the K column and meets every key once. Each meeting gives one score."),
        ("attn_scores",),
    ),
    Phase(
        N_("weigh"),
        N_("Softmax turns the scores into weights: none below zero, together one."),
        ("attn_weights",),
    ),
    Phase(
        N_("mix"),
        N_("Each V row is taken by its weight, and the rows are added. This sum is all that attention hands on."),
        ("head_out",),
    ),
    Phase(
        N_("drop q"),
        N_("Nothing after this line reads q, and no later step will. So it is not kept."),
        ("attn_out",),
    ),
    Phase(
        N_("choose"),
        N_("The MLP and the output head turn the result into one score per token. One token is chosen."),
        ("logits",),
    ),
)


@cache
def code(phase: int) -> tuple[str, ...]:
    """The lines of `forward` whose results the phase's events report: those directly above each report."""
    lines = inspect.getsource(model.forward).splitlines()
    found = []
    for event in PHASES[phase].events:
        report = next(i for i, line in enumerate(lines) if f'hook(("{event}"' in line)
        found.append(lines[report - 1].strip())
    return tuple(found)
