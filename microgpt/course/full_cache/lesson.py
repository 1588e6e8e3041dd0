"""When the room is full: the rows that each step may read under each policy, and what that changes. Knows no HTML."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from math import ceil
from typing import NamedTuple

import numpy as np

from microgpt.cache import KVCache
from microgpt.config import Array
from microgpt.course.full_cache import sink
from microgpt.course.full_cache.policies import Outcome, after_shift, compare, text_of
from microgpt.course.full_cache.questions import asks
from microgpt.course.full_cache.tray import Measure, tray
from microgpt.experiments.dropping.results import load_results
from microgpt.model import forward
from microgpt.viz.controls import Choice
from microgpt.viz.drawing.heat import round_up
from microgpt.viz.settings import Settings
from microgpt.viz.text.formats import show
from microgpt.weights import Model, shipped

MIDDLE = 0.5  # of a line, which is one high, and of a column, which is one wide
ROOM_SHARE, LEAST = 3, 4  # the room is so small a part of what the model can see, and so many rows at least
SHIFTED, ROWS_KEPT = "stories", 1  # the model whose cache is shifted for the table, and the rows that stay at its start
NO_SINKS, SINKS, N_SINKS, PUBLISHED_ROOM = 5158.07, 5.40, 4, 1024  # perplexities of Llama-2-13B: StreamingLLM's paper
SHARE_PLANTED, HELD = 0.95, 32  # of the weight that a planted first row gets; rows that may stay
WINDOWED = ("Mistral-7B", 4096, 32)  # was trained with a window of so many rows, in so many layers
ENGINE_FACTS = "2026", "2025", "length"  # as of; llama.cpp's shift is off since; what servers say


class Dropped(NamedTuple):
    """What a trained model writes when one row of the prompt is dropped; `token` is "" where all rows stay."""

    token: str
    text: str
    moved: float


class View:
    """One text under every policy."""

    def __init__(self, settings: Settings) -> None:
        recording = settings.recording()
        recording.run_prompt()
        model = recording.model
        ids, n_prompt = text_of(model, settings.prompt)
        room = max(LEAST, model.config.n_ctx // ROOM_SHARE)
        found = {one.policy: one for one in compare(model, ids, n_prompt, room)}
        window, ring = found["window"], found.pop("ring")
        words, cases = [show(model.tokenizer.vocabulary[i]) for i in ids], list(found.values())
        story, shown = text_of(shipped(SHIFTED), "The next day is bright")[0], shipped(SHIFTED).config.n_ctx
        self.room, self.cases = room, cases
        self.trace = recording.trace
        # at first the step before which the window gives up its first row
        self.choices = (
            Choice("policy", range(len(cases)), 1),
            Choice("step", range(len(ids)), min(room, len(ids) - 1), in_figure=False),
        )
        self.model = model.name
        self.n = len(ids)
        self.words = words
        keys, values = rows_of(model, ids)
        self.tray = tray(words, cases, keys, values)
        self.scale = Measure(0, round_up(max(x for case in cases for x in case.variation) or 1), 2)
        self.stairs = [(lives(one.reads == 1), lives((one.reads > 0) & (one.reads < 1))) for one in cases]
        self.own = [(i, len(ids) - i - MIDDLE, 1) for i in range(len(ids))]
        self.moved = [columns(case.variation, self.scale.high) for case in cases]
        # the largest difference between ring and window
        self.ring = float(np.abs(np.array(window.off) - np.array(ring.off)).max())
        self.shifted = after_shift(shipped(SHIFTED), story[:shown], ROWS_KEPT)  # by layer: K and V
        self.shifted_text = shown
        self.dropped = (shown - ROWS_KEPT) // 2
        self.learned = shipped("names").config.n_ctx  # positions that microgpt has
        self.planted = sink.plant(SHARE_PLANTED, HELD)
        self.trained = load_results()  # data/trained.json
        self.runs = runs_without_rows()
        _, window_of, layers_of = WINDOWED
        self.reach = layers_of * (window_of - 1)  # tokens back that a change can be noticed, over all its layers
        self.asks = asks()

    def of(self, policy: str) -> Outcome | None:
        return next((case for case in self.cases if case.policy == policy), None)


view = View


def rows_of(model: Model, ids: Sequence[int]) -> tuple[Array, Array]:
    """K and V of the first head of the first layer, as they come: [n, head_dim] each."""
    cache = KVCache(model.config)
    forward(model.params, model.config, ids, cache)
    return cache.layers[0].keys[0], cache.layers[0].values[0]


def runs_without_rows() -> list[Dropped]:
    """With all rows, then without each."""
    told = load_results()["dropped"]
    return [
        Dropped(
            show(told["prompt"][run["row"]]) if run["row"] >= 0 else "", "".join(run["written"]).strip(), run["moved"]
        )
        for run in told["runs"]
    ]


def lives(held: Array) -> list[tuple[int, float, int]]:
    """Each row from the first step to the last at which it is `held`, [n, n], step by row: step, height from the newest
    on top, and how many steps. The step that brings a row is not among its own."""
    found = list[tuple[int, float, int]]()
    for row in range(len(held)):
        steps = [step for step in range(row + 1, len(held)) if held[step, row]]
        for _, numbered in groupby(enumerate(steps), lambda one: one[1] - one[0]):  # those that follow each other
            run = [step for _, step in numbered]
            found.append((run[0], len(held) - row - MIDDLE, len(run)))
    return found


def columns(off: Sequence[float], whole: float) -> list[tuple[float, float, int]]:
    """A line upwards for each step that is off at all, in hundredths of the `whole`: where it begins, how high."""
    return [(i + MIDDLE, 100 - high, high) for i, x in enumerate(off) if (high := ceil(100 * x / whole))]
