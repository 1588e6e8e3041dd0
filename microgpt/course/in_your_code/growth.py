"""A cache that is concatenated and one whose rows are reserved, live: the same rows, by the clock of this machine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from microgpt.architectures.known import PRESETS
from microgpt.config import Array
from microgpt.errors import N_
from microgpt.viz.drawing import timing
from microgpt.viz.drawing.timing import final_lanes, medians
from microgpt.viz.patches import Patch, State, again, patch
from microgpt.viz.rendering import render

LARGE_MODEL = "Llama-3-8B"
N_LONG = 1000  # tokens, of a text that is large enough for what is moved to matter
LAPS = 3
SLICE = 0.05  # seconds that a quick way goes on for, text by text, so that a coarse clock can tell


def concatenate(row: Array, n: int) -> Array:
    """The row n times, [n_kv_head, n, head_dim]; at every step a new array, into which all old rows are copied."""
    grown = row[:, :0]
    for _ in range(n):
        grown = np.concatenate([grown, row], axis=1)
    return grown


def fill_reserved(row: Array, n: int) -> Array:
    """The same, written into an array that has had its full size from the start."""
    n_kv_head, _, head_dim = row.shape
    kept = np.empty((n_kv_head, n, head_dim), row.dtype)
    for at in range(n):
        kept[:, at : at + 1] = row
    return kept


def row_of(numbers: bool = True) -> Array:
    """The key of one token in one layer of the large model, in 16-bit numbers; or a row of a single number."""
    config = PRESETS[LARGE_MODEL].config
    return np.ones((config.n_kv_head, 1, config.head_dim) if numbers else (1, 1, 1), np.float16)


class TimedLoop(NamedTuple):
    """One of those that are timed."""

    name: str
    kind: str
    run: Callable[[], Array]


TIMED_LOOPS = (
    TimedLoop(N_("concatenated"), "again", partial(concatenate, row_of(), N_LONG)),
    TimedLoop(N_("reserved"), "with", partial(fill_reserved, row_of(), N_LONG)),
    TimedLoop(N_("reserved, one number per row"), "needed", partial(fill_reserved, row_of(numbers=False), N_LONG)),
)


def seconds(way: TimedLoop) -> float:
    """What a text takes, over as many texts as the slice has room for."""
    texts, began = 0, timing.clock()
    while True:
        way.run()
        texts, now = texts + 1, timing.clock()
        if now - began >= SLICE:
            return (now - began) / texts


def grow(state: State | None, fields: Mapping[str, str]) -> tuple[State, list[Patch]]:
    """A lap of all ways; asks to be asked again until the last one is over. What has been measured begins anew."""
    laps = [*(state or {}).get("grown", [])]
    laps = [*(laps if len(laps) < LAPS else []), [seconds(way) for way in TIMED_LOOPS]]
    lanes = final_lanes([way.name for way in TIMED_LOOPS], [way.kind for way in TIMED_LOOPS], N_LONG, laps)
    result = None
    if len(laps) == LAPS:
        copied, kept, calls = medians(laps)
        result = {
            "ratio": copied / kept,  # how many times as long it takes to concatenate,
            "by_bytes": (N_LONG + 1) / 2,  # and by bytes
            "calls": calls / kept,  # the time with rows of a single number, of that with whole rows
            "browser": fields.get("browser", ""),
        }
    html = render.render(
        "course/in_your_code/_grown.html", lanes=lanes, lap=len(laps), laps=LAPS, n=N_LONG, result=result
    )
    return {**(state or {}), "grown": laps}, [patch("#grown", html), *([] if result else [again("grow")])]


HOOKS: dict[str, Any] = {"grow": grow}
