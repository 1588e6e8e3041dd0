"""What states.css is written with: how many steps, layers, heads and stages there are, and when pieces move."""

from __future__ import annotations

from itertools import accumulate
from typing import Any, NamedTuple

from microgpt.viz.drawing.counters import N_GUESSES
from microgpt.viz.drawing.lens import MOST_CELLS
from microgpt.viz.drawing.phases import PARTS, PHASES
from microgpt.viz.drawing.picture import MOST_TOKENS, TEMPERATURES, lens_names
from microgpt.viz.rendering.style import MOST_OPEN
from microgpt.weights import SHIPPED, shipped

PAUSE = 1.0  # beats after the last stage of a step that plays
# The pieces of the machine by their class, and the stages from and to which they change; before and after these a piece
# looks the same, so that nothing is to be done for it. In a step of many tokens this is what makes it play smoothly.
SPANS = {
    "enter": (0, 1), "vector": (0, 1), "dial": (0, 1), "c-k": (0, 2), "c-v": (0, 2), "c-pos": (1, 2), "c-q": (2, 3),
    "knob": (0, len(PHASES)), "ask-q": (0, 6),
    "meets": (2, 5), "mix": (4, 5), "door": (5, 6), "lift": (6, 7), "guesses": (6, 7), "fly": (6, 7),
    **{f"P{p}": (p - 1, min(p + 1, len(PHASES))) for p in range(1, len(PHASES) + 1)},
}  # fmt: skip


def states(big: bool) -> dict[str, Any]:
    """The numbers that states.css is written with: more steps, and chosen heads, for a `big` model."""
    configs = [shipped(name).config for name in SHIPPED]
    rows = MOST_TOKENS if big else max(config.n_ctx for config in configs)
    return {
        "steps": rows,
        "layers": max(config.n_layer for config in configs),
        "heads": max(config.n_head for config in configs),
        "phases": len(PHASES),
        "spans": spans(),
        "ticks": ticks(),
        "played": round(pace()[-1], 4),
        "opened": MOST_OPEN if big else 0,
        "degrees": 0 if big else len(TEMPERATURES) + 1,
        "cells": MOST_CELLS,
        "guesses": N_GUESSES,
        "numbers": lens_names(rows, MOST_CELLS),
    }


def states_of_page(rows: int, opened: int) -> dict[str, Any]:
    """What is otherwise where it is known how many rows and open heads of a large model a page has."""
    return {"steps": rows, "layers": 0, "heads": 0, "opened": opened, "cells": 0, "numbers": lens_names(rows, 0)}


class Span(NamedTuple):
    """Stages in which some pieces of the machine move, with `start` and `share` of the time that a step takes."""

    pieces: tuple[str, ...]  # classes
    first: int  # the stage that is over when they start; 0 is none
    last: int
    start: float
    share: float
    between: list[tuple[float, int]]  # percent of the span's own time -> the stage that is over then


def ticks() -> dict[str, float]:
    """The places on the rail that can be pressed, as their classes end, in stages: the start, then all quarters."""
    n = len(PARTS) + 1
    return {"0": 0, **{f"{k + 1}-{part}": k + part / n for k in range(len(PHASES)) for part in range(1, n + 1)}}


def pace() -> list[float]:
    """When each stage of a step that plays is over, from 0 before the first, as a share of the time of the step."""
    ends = list(accumulate((phase.beats for phase in PHASES), initial=0.0))
    return [end / (ends[-1] + PAUSE) for end in ends]


def spans() -> list[Span]:
    """The pieces that move in the same stages, together."""
    found, over = [], pace()
    for first, last in sorted(set(SPANS.values())):
        start, share = over[first], over[last] - over[first]
        between = [(round(100 * (over[k] - start) / share, 2), k) for k in range(first + 1, last)]
        pieces = tuple(piece for piece, span in SPANS.items() if span == (first, last))
        found.append(Span(pieces, first, last, round(start, 4), round(share, 4), between))
    return found
